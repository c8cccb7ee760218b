// The best of a random number of runs, by the privacy profile of one run.
//
// What       SelectionProfile bounds δ(ε) of private selection from δ₁(ε) of one run.
// Guarantee  An upper bound for runs whose profile is at most the given one in both directions,
//            whatever the runs are ordered by.
// Method     Let s be the probability that a run is better than y, f(s) the largest it may be on a
//            neighbour. The best has ψ(s) times the density of one run, and at least ψ(f(s)) times
//            on the neighbour, ψ falling. So what δ(ε) integrates is at most
//            H(v) = max_s ψ(s)·(1 − e^(ε−c(s))·v)₊ at v, the neighbour's density over the run's,
//            e^c = ψ(s)/ψ(f(s)). H is convex and falls to 0, and lies below its chords, which are a
//            sum of terms a·(1 − e^(ε−d)·v)₊; each of these integrates to a·δ₁(ε − d).
// Numerics   s runs over cells, each with its largest ψ and c; f, weights and shifts round up.
//            Where a c is beyond 40 or runs are beyond number it says nothing: δ ≤ 1.
// Reference  docs/math/tuning.md, "By the privacy profile".
#pragma once

#include <functional>
#include <vector>

#include "sotto/core/event.hpp"

namespace sotto {

class SelectionProfile {
 public:
  // profile: δ₁ at ε ≥ 0.
  SelectionProfile(const PrivateSelectionEvent& selection, std::function<double(double)> profile);

  double delta(double epsilon) const;
  double epsilon(double delta) const;  // +∞: no ε has so small a δ

 private:
  struct Term {
    double weight, shift;
  };
  double of_one(double epsilon) const;  // δ₁, of any ε

  std::function<double(double)> profile_;
  std::vector<Term> terms_;
  bool known_ = false;
};

}  // namespace sotto
