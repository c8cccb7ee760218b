// The last, small noise that covers everything an ideal proof leaves out.
//
// What       A proof is about an ideal vector θ* (an exact minimiser, real-valued noise). The
//            program has θ with ‖θ − θ*‖₂ ≤ distance. It releases θ, rounded to a lattice, plus
//            exact lattice noise calibrated to 2·distance plus the rounding.
// Guarantee  Releasing this after θ* itself costs at most the budget: given θ* the values of
//            neighbouring data sets are at most 2·distance apart. So the whole costs at most the
//            ideal release composed with event().
// Method     Approximate-minima perturbation. The values added up (θ, or θ and real-valued noise)
//            are put on the lattice one by one and summed as integers; each rounding counts √d
//            steps. The noise is announced as noise on a zero query: between neighbours on one tape
//            of randomness θ itself moves, as θ* does; only the conditional statement is small.
// Numerics   Exact integers after rounding.
// Reference  [INSTTW19]; docs/math/objective-perturbation.md, "Approximate minima".
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "sotto/mechanisms/lattice_noise.hpp"

namespace sotto {

class CoveringNoise {
 public:
  // addends: how many vectors release() will add up.
  CoveringNoise(Relation relation, const Budget& budget, double distance, std::size_t dimension,
                std::size_t addends = 1);

  Event event() const { return noise_.event(); }
  double scale() const { return noise_.scale(); }
  double granularity() const { return noise_.granularity(); }
  // The noise first, so that a caller can then announce what it covers and hand the result on as
  // one query; in lattice steps.
  std::vector<int128> draw(Rng& rng) const;
  std::vector<double> release(std::initializer_list<std::span<const double>> vectors,
                              std::vector<int128> noise) const;

 private:
  LatticeNoise noise_;
};

}  // namespace sotto
