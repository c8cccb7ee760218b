// The records of a run as families of trees and kernels keep them: two bytes a cell and a target.
//
// What       One pass over the source bins every record; later passes read the bins. Null records
//            are left out: they contribute nothing to anything.
// Guarantee  None of its own: it is as private as the records.
// Method     sum(): Σ over the records of integers that each contributes, on all threads. Integers
//            commute, so that the cut into parts changes no bit.
// Numerics   Partial sums of 64 bits: contributions times records stay below 2^63 where they are
//            used, 2^20 steps a record and up to 2^40 records. Targets in single precision.
// Reference  docs/math/kernel.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sotto/core/parallel.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/learning/source.hpp"
#include "sotto/models/kernel/detail/binned_columns.hpp"

namespace sotto {

class BinnedRows {
 public:
  static constexpr std::size_t kPart = 4096;  // records that a thread takes at once

  BinnedRows(Source& source, const BinnedColumns& columns);

  std::size_t size() const { return targets_.size(); }
  float target(std::size_t row) const { return targets_[row]; }
  std::span<const float> targets(std::size_t first, std::size_t count) const {
    return std::span(targets_).subspan(first, count);
  }
  void read(std::size_t row, std::span<BinnedColumns::Cell> cells) const {
    const std::size_t d = columns_->columns();
    for (std::size_t j = 0; j < d; ++j) cells[j] = columns_->cell(j, codes_[row * d + j]);
  }

  // f(first, end, thread) for every part, on all threads.
  template <class F>
  void for_parts(const F& f) const {
    parallel_blocks((size() + kPart - 1) / kPart, 0, [&](std::size_t part, unsigned thread) {
      f(part * kPart, std::min(size(), (part + 1) * kPart), thread);
    });
  }
  // add(row, cells, sums) for every record.
  template <class Add>
  std::vector<int128> sum(std::size_t size_of_sum, const Add& add) const {
    std::vector<std::vector<std::int64_t>> partial(thread_count(0));
    for_parts([&](std::size_t first, std::size_t end, unsigned thread) {
      partial[thread].resize(size_of_sum);
      std::vector<BinnedColumns::Cell> cells(columns_->columns());
      for (std::size_t row = first; row < end; ++row) {
        read(row, cells);
        add(row, std::span<const BinnedColumns::Cell>(cells),
            std::span<std::int64_t>(partial[thread]));
      }
    });
    std::vector<int128> total(size_of_sum);
    for (const std::vector<std::int64_t>& part : partial)
      for (std::size_t i = 0; i < part.size(); ++i) total[i] += part[i];
    return total;
  }

 private:
  const BinnedColumns* columns_;
  std::vector<BinnedColumns::Code> codes_;
  std::vector<float> targets_;
};

}  // namespace sotto
