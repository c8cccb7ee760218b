// Sums over records from which a model can be made without the records: moments and target sums,
// added up part by part.
//
// What       Σ x xᵀ and Σ t ⊗ x over the rows of an ExactRows, and their number; add() joins the
//            sums of two parts.
// Guarantee  Exact integers: the sums of all records are the same however they were cut into parts
//            and whichever part came first.
// Method     Each part is summed by ExactRows; memory is that of the sums, whatever the number of
//            records.
// Numerics   128 bits hold 2^64 records and more.
// Reference  docs/math/linear-models.md, section "Exact sums".
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sotto/core/rng.hpp"

namespace sotto {

struct RecordSums {
  std::vector<int128> second;  // upper triangle, row by row
  std::vector<int128> cross;   // one block of coordinates per output
  std::uint64_t records = 0;

  void add(const RecordSums& part) {
    for (std::size_t i = 0; i < second.size(); ++i) second[i] += part.second[i];
    for (std::size_t i = 0; i < cross.size(); ++i) cross[i] += part.cross[i];
    records += part.records;
  }
};

}  // namespace sotto
