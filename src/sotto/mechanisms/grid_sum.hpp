// GridSum: a vector of sums on an integer grid, the same whatever the order, the number of threads
// or the number of machines.
//
// What       Adds vectors of lattice steps exactly and counts records; partial sums merge.
// Guarantee  Integer addition is associative and exact: the sensitivity of the sum is the largest
//            contribution, in the program and not only on paper, and partial sums of any split of
//            the records merge to the same bits.
// Method     128-bit integers. Reductions over threads or ranks exchange totals() and records() and
//            merge.
// Numerics   Contributions are at most 2^62 steps; fewer than 2^64 records sum to less than 2^126.
// Reference  docs/math/statistics.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sotto/core/rng.hpp"

namespace sotto {

class GridSum {
 public:
  explicit GridSum(std::size_t dimension) : totals_(dimension) {}
  // Restores a partial sum, e.g. one received from another process.
  GridSum(std::vector<int128> totals, std::uint64_t records)
      : totals_(std::move(totals)), records_(records) {}

  // steps.size() is the dimension; each |step| ≤ 2^62.
  void add(std::span<const int128> steps) {
    for (std::size_t i = 0; i < totals_.size(); ++i) totals_[i] += steps[i];
    ++records_;
  }
  void merge(const GridSum& other);  // throws InvalidArgument when the dimensions differ

  const std::vector<int128>& totals() const { return totals_; }  // PRIVATE until noised
  std::uint64_t records() const { return records_; }             // PRIVATE under add_remove

  friend bool operator==(const GridSum&, const GridSum&) = default;

 private:
  std::vector<int128> totals_;
  std::uint64_t records_ = 0;
};

}  // namespace sotto
