// Linkage: who can be found in a table without names by what others know of them.
//
// What       anonymity: how small the groups of records with equal quasi-identifiers are, and how
//            alike the secrets inside of them. link: which records of a released table have one
//            candidate in a table with names.
// Guarantee  None: figures of an attack, as private as the records. k-anonymity is no guarantee
//            either: it says nothing of what other tables tell.
// Method     Records with equal keys are a class. k is the size of the smallest class, l the
//            smallest number of different secrets in a class.
// Numerics   Whole numbers.
// Reference  [Swe02], [MKGV07]; docs/math/audit.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sotto::audit {

struct Anonymity {
  std::uint64_t records = 0, classes = 0;
  std::uint64_t k = 0;                            // the smallest class
  std::uint64_t unique = 0;                       // records that are alone in their class
  std::uint64_t below_5 = 0;                      // records in classes of fewer than five
  std::optional<std::uint64_t> l = {};            // of the secrets, where there are any
  std::optional<std::uint64_t> same_secret = {};  // records whose whole class has one secret
};

// One key for each record; secrets: one for each record, or none at all.
Anonymity anonymity(const std::vector<std::string>& keys, const std::vector<std::string>& secrets);

struct Linkage {
  std::uint64_t records = 0;    // of the released table
  std::uint64_t found = 0;      // with exactly one candidate, who has no other record to be
  std::uint64_t ambiguous = 0;  // with several candidates, or one who fits several records
  std::uint64_t unknown = 0;    // with none
  std::uint64_t disclosed = 0;  // named people whose records all have one secret
  std::optional<std::uint64_t> right = {};  // of the found, where names are known on both sides
};

// secrets: of the released table, or none. names: of both tables, or none in the released one.
Linkage link(const std::vector<std::string>& released, const std::vector<std::string>& named,
             const std::vector<std::string>& secrets,
             const std::vector<std::string>& released_names, const std::vector<std::string>& names);

}  // namespace sotto::audit
