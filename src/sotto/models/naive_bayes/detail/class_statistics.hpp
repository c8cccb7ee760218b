// What naive Bayes needs to know of records: sums per class, on an integer grid.
//
// What       For each class: the number of its records; for each categorical value their number;
//            for each number x ∈ [−1, 1] the sums of x and x² − ½; for each boolean b the sum of
//            b − ½. Numbers are centred on the middle of their declared bounds.
// Guarantee  One record of class c adds to the block of c alone, whatever its cells are. distance()
//            is the largest distance of the sums of neighbours, in both norms, in steps.
// Method     m categorical, b boolean, g numeric columns. A record has
//              ℓ1 ≤ 1 + m + b/2 + 3g/2          ℓ2² ≤ 1 + m + b/4 + 5g/4 .
//            add_remove, zero_out: these. replace_one: a record leaves and one comes. In two
//            classes: ℓ1 twice, ℓ2² twice. In one class the counts of the class cancel, and
//              ℓ2² ≤ 2m + b + 4g,  since (x − y)²(1 + (x + y)²) ≤ 4 on [−1, 1]²;
//            its ℓ1 is never more than that of two classes. The larger of the two counts. A unit of
//            privacy with k records moves the sums k times as far.
//            −½ halves what x² adds to the sensitivity and is undone with the noisy count.
// Numerics   Steps of 2^−20; x² is rounded down to a step, which the bound for one class pays for.
//            A contribution is at most 2^20 steps, so 2^64 records stay below 2^85.
// Reference  docs/math/naive-bayes.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sotto/core/relation.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/data/table.hpp"
#include "sotto/mechanisms/lattice_noise.hpp"

namespace sotto {

class ClassStatistics {
 public:
  static constexpr double kGranularity = 0x1p-20;

  // The encoder must have the basis `linear` and a target with classes; it must outlive this.
  ClassStatistics(const Encoder& encoder, std::size_t classes);

  std::size_t classes() const { return classes_; }
  // Positions in the sums: a block for each class, with its count first.
  std::size_t size() const { return classes_ * block_; }
  std::size_t count(std::size_t c) const { return c * block_; }
  // Of a coordinate of the encoded row: the count of a category, Σx, or Σ(b − ½).
  std::size_t first(std::size_t c, std::size_t coordinate) const {
    return c * block_ + 1 + coordinate;
  }
  // Σ(x² − ½) of the g-th numeric column.
  std::size_t second(std::size_t c, std::size_t numeric) const {
    return c * block_ + 1 + width_ + numeric;
  }

  // Of neighbours, in steps.
  Distance distance(Relation relation, std::uint64_t contributions) const;

  // Adds the contributions of a block of records. Null records, and those whose class is
  // none of the declared, count nowhere.
  void add(const Table& table, std::span<int128> sums) const;

 private:
  struct Dense {
    std::size_t coordinate;
    std::size_t numeric;  // its number among the numeric columns, or kBoolean
  };
  static constexpr std::size_t kBoolean = static_cast<std::size_t>(-1);

  std::size_t classes_, width_, block_;
  std::size_t hot_ = 0, booleans_ = 0, numeric_ = 0;
  bool unit_scaling_;
  std::vector<Dense> dense_;
};

}  // namespace sotto
