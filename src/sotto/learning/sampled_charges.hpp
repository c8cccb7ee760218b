// What a step on a Poisson sample costs a record, by the threshold of its gradient: the charges of
// an individual filter for stochastic gradient descent.
//
// What       SampledCharges(rate, noise_multiplier): charge(level) of a step in which the record's
//            contribution, if it is drawn, has norm at most level/kLevels of the largest, C.
//            epsilon(full_steps, δ): what a run costs in which nobody is charged for more.
// Guarantee  Let each step add Gaussian noise of deviation noise_multiplier·C to a sum over a
//            Poisson sample, the threshold of a record being a function of that record and of past
//            results. If the charges of every record add up to at most full_steps·kFullStep, the
//            run is (epsilon(full_steps, δ), δ)-DP under add_remove and zero_out.
// Method     A record at level l has, for every order α of a fixed list, divergence r_l(α), that of
//            a sampled Gaussian of multiplier noise_multiplier·kLevels/l; its charge is
//            max_α r_l(α)/r_full(α). So at every order the divergences add up to at most
//            full_steps·r_full(α), and a Rényi filter of each order bounds the whole [FZ21]. The
//            best order is chosen from these bounds, before the run.
// Numerics   Charges round up. A level stands for a norm of (l/kLevels + 1 %)/(1 + 1 %) of C: a
//            hundredth of C is what rounding may add to a sum in 32 bits, whatever the level.
// Reference  [FZ21], [MTZ19]; docs/math/individual-accounting.md, section "Samples".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sotto/core/values.hpp"
#include "sotto/learning/individual_filter.hpp"

namespace sotto {

class SampledCharges {
 public:
  static constexpr std::size_t kLevels = 16;

  SampledCharges(double rate, double noise_multiplier);

  // level 0: nothing is contributed, nothing is charged.
  std::uint64_t charge(std::size_t level) const { return charges_[level]; }
  // The smallest level with this share of C.
  static std::size_t level_of(double share);
  double epsilon(double full_steps, Delta delta) const;

 private:
  double rate_, noise_multiplier_;
  std::array<std::uint64_t, kLevels + 1> charges_{};
};

}  // namespace sotto
