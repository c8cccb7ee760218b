// Which teacher learns from which record.
//
// What       A keyed hash sends every record, or every user with all records, to one of the parts.
// Guarantee  One unit of privacy is in one part, and where a record goes depends on nothing but
//            that record: neighbours differ in one part only. add_remove: the hash is of what the
//            record says (or of the user's name), so that the others stay where they are.
//            replace_one and zero_out: of its place in the file, which is public; a record that is
//            replaced stays in its part. A user that is replaced would leave one part and enter
//            another: refused.
// Method     The first eight bytes of SHA-256(key, identity) modulo the number of parts. The key is
//            drawn at random and kept with the teachers, so that nobody can choose records that
//            meet in one part.
// Numerics   The remainder favours no part by more than parts/2^64.
// Reference  [PAEGT17]; docs/math/pate.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sotto/core/rng.hpp"
#include "sotto/data/table.hpp"
#include "sotto/learning/facts.hpp"

namespace sotto::pate {

std::string fresh_key(Rng& rng);  // 32 bytes in hexadecimal

// Throws Unsupported for users under replace_one.
void check_partition(const Facts& facts);

// parts[i]: the rows of part i, in the order of the table. ids: of the users, where they are the
// unit. Null records are in no part.
std::vector<std::vector<std::size_t>> partition(const Table& records, const Facts& facts,
                                                std::uint64_t parts, const std::string& key);

// The rows as a table of their own.
Table rows_of(const Table& table, std::span<const std::size_t> rows);

}  // namespace sotto::pate
