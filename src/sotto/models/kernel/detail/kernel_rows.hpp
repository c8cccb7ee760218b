// The records of a descent: feature rows one behind the other, and exact sums of slope × row.
//
// What       weighted_sum(): Σ_i s_i ⊗ x_i over all records, s_i the slopes of record i and x_i its
//            row.
// Guarantee  ‖x_i‖ ≤ 1 and ‖s_i‖ ≤ 1, hence adding or removing a record moves the sum by at most 1
//            in ℓ2, that is 2^36 steps, as integers and not only on paper.
// Method     A slope is truncated to steps of 2^−20. Each part of a row is multiplied by it as an
//            integer: one-hot parts through OneHotBlock, waves as products of multiples of 2^−20
//            and 2^−16, whose sums over 4096 records are exact in double precision. Margins are
//            computed in floating point from one record at a time: a slope depends on its own
//            record only, rounding included.
// Numerics   Steps of 2^−36; sums of 2^27 records fit 64 bits and are added as 128-bit integers.
// Reference  docs/math/kernel.md.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "sotto/models/kernel/detail/feature_map.hpp"

namespace sotto {

class KernelRows {
 public:
  static constexpr double kUnit = 0x1p-36;

  explicit KernelRows(const FeatureMap& map) : map_(&map) {}

  void add(std::span<const BinnedColumns::Cell> cells, float target);
  void append(KernelRows&& other);
  void reserve(std::size_t rows);
  std::size_t size() const { return targets_.size(); }

  // slopes(margins, target, out): of one record, one for each output; clipped to norm 1 afterwards.
  using Slopes =
      std::function<void(std::span<const double> margins, float target, std::span<double> out)>;
  // map().dimension() numbers for each output.
  std::vector<int128> weighted_sum(const std::vector<std::vector<double>>& parameters,
                                   const Slopes& slopes, unsigned threads) const;
  // Σ f(margins, target) with 0 ≤ f ≤ 1, in steps of 2^−20, each rounded down.
  using Figure = std::function<double(std::span<const double> margins, float target)>;
  int128 sum_of(const std::vector<std::vector<double>>& parameters, const Figure& figure,
                unsigned threads) const;

 private:
  struct Prepared;
  void margins(const Prepared& prepared, std::size_t row, std::span<double> out) const;

  const FeatureMap* map_;
  std::vector<std::uint16_t> main_, leaves_;
  std::vector<float> main_factors_, leaf_factors_, fourier_, targets_;
  FeatureRow scratch_;
};

}  // namespace sotto
