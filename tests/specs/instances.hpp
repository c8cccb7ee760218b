// Mechanisms that events describe, small enough to be written out from the definition: what each
// output's probability is on two neighbouring data sets.
//
// Nothing here comes from the accountants: samples are enumerated, noise is added to the sum of a
// sample, the best of K runs is taken. The hockey-stick divergence of such a pair is a lower bound
// of every true δ(ε) and hence of every claim; where the pair is the worst one that the event
// allows it bounds lower bounds from above as well.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sotto/core/spec.hpp"

namespace sotto::specs {

using Law = std::vector<double>;  // probability of each output

struct Pair {
  Law p, q;
};

// ∫ (P − e^ε Q)₊, the worse direction.
double hockey_stick(const Pair& pair, double epsilon);
Pair product(const Pair& a, const Pair& b);

struct Instance {
  std::string name;
  Spec spec;
  std::vector<Pair> pairs;  // neighbours under the relation of the specification
  bool worst = false;       // no mechanism of this description loses more
};

std::vector<Instance> instances();

}  // namespace sotto::specs
