// Votes: how many teachers chose which class, query by query.
//
// What       Counts, queries × classes, and the number of teachers.
// Guarantee  None: as private as the records the teachers learned from. One record belongs to one
//            teacher's part, so between neighbours one vote of every query moves at most.
// Method     Counted by count_votes(), or read from an array that another program wrote.
// Numerics   Whole numbers up to 10⁹.
// Reference  [PAEGT17]; docs/math/pate.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sotto/data/npy.hpp"

namespace sotto::pate {

struct Votes {
  std::size_t classes = 0;
  std::uint64_t teachers = 0;
  std::vector<std::int64_t> counts = {};  // queries × classes

  std::size_t queries() const { return classes == 0 ? 0 : counts.size() / classes; }
  std::span<const std::int64_t> row(std::size_t query) const {
    return {counts.data() + query * classes, classes};
  }
};

// Rows are queries, columns classes. Without a declared number of teachers every row must have the
// same sum, which is that number; with one, a row may have fewer votes (a teacher may abstain).
// Throws DataError without quoting a count.
Votes votes_of(const NpyArray& array, std::optional<std::uint64_t> teachers);

}  // namespace sotto::pate
