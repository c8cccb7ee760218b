// Detail: a tree that cuts a few columns into intervals; every combination of intervals is a leaf.
//
// Columns stand on scales of 256 places (ColumnScale, released before). A cut is the first place of
// the next interval. A leaf is found by one table for each column, so that a record costs as many
// additions as the tree has columns.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sotto/models/kernel/detail/noisy_marginals.hpp"

namespace sotto {

inline constexpr std::size_t kPlaces = 256;

// Where a record stands on each column's scale.
std::uint8_t place_of(const ColumnScale& scale, const BinnedColumns::Cell& cell);

struct GridTree {
  std::vector<std::uint32_t> columns = {};            // distinct
  std::vector<std::vector<std::uint32_t>> cuts = {};  // of each column, ascending, 1 … 255
  std::vector<double> values = {};                    // leaf by leaf, one for each margin

  std::vector<std::size_t> shape() const;  // intervals of each column
  std::size_t leaves() const;

  // For each column, by place: what it adds to the number of the leaf.
  using Table = std::array<std::uint8_t, kPlaces>;
  std::vector<Table> tables() const;
};

}  // namespace sotto
