// Sum, mean and variance of a bounded column.
//
// What       plan_sum, plan_mean, plan_variance make a MomentPlan; start() gives an accumulator
//            that streams records, finish() the release.
// Guarantee  Costs at most the budget for neighbours under the relation. Under add_remove the
//            number of records is private and is part of the noised vector; under replace_one and
//            zero_out it is public. zero_out: a null record contributes nothing to the (centred)
//            sums, i.e. it counts as the middle of the bounds for mean and variance and as 0 for a
//            sum. A value that is not finite is a null record there, whatever the policy.
// Method     Each record becomes a short vector of whole numbers of steps; its sensitivity is
//            computed from integers. With y ∈ [−H, H] the distance from the middle, q = ⌊y²/H⌋, r =
//            ⌊y²/(2H)⌋, [L, U] the bounds on the grid:
//              sum       x                 add_remove, zero_out: max(|L|,|U|)   replace_one: U − L
//              mean      y                 replace_one: U − L                   zero_out: H
//                        (H−y, H+y)        add_remove, Laplace: ℓ1 = 2H (n is their sum over 2H)
//                        (y, W), W=⌈H/2⌉   add_remove, Gaussian: ℓ2 = √(H²+W²)
//              variance  (y, r)            Laplace: replace_one ℓ1 = 2H+1       zero_out: H + ⌊H/2⌋
//                        (y, q)            Gaussian: replace_one ℓ2 = 2H+1      zero_out: √2·H
//                        Bernstein (a,b,c) add_remove, Laplace: a=⌊(H−y)²/4H⌋, c=⌊(H+y)²/4H⌋,
//                        b=H−a−c: ℓ1 = H
//                        (y, q−⌊H/2⌋, W)   add_remove, Gaussian: ℓ2 = √(H² + ⌈H/2⌉² + W²)
//            Ratios, clamping to the feasible range and the noise description are post-processing
//            of the noisy vector.
// Numerics   Sums are exact 128-bit integers (grid_sum.hpp); g is 2^-40 of the noise. The variance
//            is the population variance (÷ n).
// Reference  docs/math/statistics.md.
#pragma once

#include <array>
#include <span>
#include <string>

#include "sotto/core/release.hpp"
#include "sotto/mechanisms/grid_column.hpp"
#include "sotto/mechanisms/grid_sum.hpp"
#include "sotto/mechanisms/lattice_noise.hpp"

namespace sotto {

enum class Moment { sum, mean, variance };

struct MomentOptions {
  Relation relation;
  Bounds bounds;
  Budget budget;
  NonFinite non_finite = NonFinite::refuse;
  std::uint64_t contributions = 1;  // records of one unit: the sensitivities below times this
};

class MomentAccumulator;

class MomentPlan {
 public:
  MomentPlan(Moment moment, const MomentOptions& options);

  Event event() const { return noise_.event(); }
  Relation relation() const { return noise_.relation(); }
  std::string describe() const;
  Moment moment() const { return moment_; }
  const LatticeNoise& noise() const { return noise_; }

  MomentAccumulator start() const;
  Release<Statistic> run(std::span<const double> records, Rng& rng) const;

 private:
  friend class MomentAccumulator;
  // How a record becomes a vector; chosen by moment, relation and kind of noise.
  enum class Code {
    value,
    centred,
    ends,
    weighted,
    square_laplace,
    square_gaussian,
    bernstein,
    weighted_square
  };
  static Code choose_code(Moment moment, Relation relation, bool laplace);
  static std::size_t dimension(Code code);
  static Distance distance(Code code, const GridColumn& column, Relation relation);
  static GridColumn make_column(Code code, const MomentOptions& options);

  std::array<int128, 3> encode(double x, std::uint64_t record) const;
  Release<Statistic> finish(const GridSum& sum, Rng& rng) const;
  Statistic decode(std::span<const int128> noisy, double records) const;

  Moment moment_;
  Code code_;
  GridColumn column_;
  LatticeNoise noise_;
};

// Streams records into exact sums. Accumulators of the same plan merge; one of them is finished,
// once.
class MomentAccumulator {
 public:
  void add(double x);
  // zero_out only: a record that contributes nothing but is counted in the public number of
  // records.
  void add_null();
  void merge(const MomentAccumulator& other) { sum_.merge(other.sum_); }
  const GridSum& sum() const { return sum_; }
  Release<Statistic> finish(Rng& rng) &&;

 private:
  friend class MomentPlan;
  explicit MomentAccumulator(const MomentPlan& plan)
      : plan_(plan), sum_(plan.noise().dimension()) {}
  MomentPlan plan_;
  GridSum sum_;
};

inline MomentPlan plan_sum(const MomentOptions& options) {
  return MomentPlan(Moment::sum, options);
}
inline MomentPlan plan_mean(const MomentOptions& options) {
  return MomentPlan(Moment::mean, options);
}
inline MomentPlan plan_variance(const MomentOptions& options) {
  return MomentPlan(Moment::variance, options);
}

}  // namespace sotto
