// The score of a trial on private rows: part of what a trial costs.
//
// What       For classes the number of rows that a model is right about; for a number the sum of
//            1 − e², e the error in half widths of the target's bounds, cut at 1. Larger is better.
// Guarantee  Costs at most the budget for neighbours under the relation, for any model that says
//            of a row what it says whatever the other rows are.
// Method     A row adds between 0 and 1, a null record nothing. Hence one row more or less, one
//            row nulled and one row replaced all move the sum by at most 1; a unit of k rows moves
//            it by at most k. Exact noise on integers.
// Numerics   Contributions are rounded to a grid with 0 and 1 on it before they are added.
// Reference  docs/math/tuning.md.
#pragma once

#include "sotto/learning/model.hpp"
#include "sotto/learning/source.hpp"
#include "sotto/mechanisms/lattice_noise.hpp"

namespace sotto {

class TrialScore {
 public:
  // Throws Unsupported without a target.
  TrialScore(const Facts& facts, const Budget& budget);

  Event event() const { return noise_.event(); }
  std::string describe() const;

  // The noisy sum, divided by the declared number of rows where there is one.
  double run(const Model& model, Source& source, Rng& rng) const;

 private:
  std::size_t classes_;
  std::optional<Bounds> target_;
  double rows_;
  LatticeNoise noise_;
};

}  // namespace sotto
