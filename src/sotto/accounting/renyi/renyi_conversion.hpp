// From Rényi divergences to (ε, δ): the tight conversion by default, Mironov's by name, and the
// search over orders.
//
// What       A bound r(α) on the Rényi divergence of order α gives, for every δ, an ε; the best
//            order is searched over a continuum.
// Guarantee  Every order gives an upper bound, so whatever the search finds is one; at_limit says
//            that a better order may exist beyond the last one that could be tried.
// Method     [CKS20, Prop. 12]: ε = r + ln(1 − 1/α) − ln(δα)/(α − 1). [Mir17, Prop. 3]: ε = r − ln
//            δ/(α − 1). ε = 0 also when δ ≥ √(1 − e^(−r)) (Bretagnolle–Huber on total variation).
//            A scan in ln(α − 1), widened until the smallest value is inside, then golden section.
// Numerics   Widened by the roundings of the terms.
// Reference  [CKS20], [Mir17], docs/math/renyi.md.
#pragma once

#include <functional>

#include "sotto/core/values.hpp"

namespace sotto {

double renyi_epsilon(double order, double divergence, Delta delta);  // tight, at one order
double renyi_epsilon_mironov(double order, double divergence,
                             Delta delta);                            // classical, at one order
double renyi_delta(double order, double divergence, double epsilon);  // tight, at one order

struct OrderChoice {
  double value = 0;  // the smallest ε (or δ)
  double order = 0;
  bool at_limit = false;
};

using RenyiBound = std::function<double(double order)>;

inline constexpr double kLargestOrder = 1e15;

OrderChoice best_epsilon(const RenyiBound& divergence, Delta delta,
                         double largest_order = kLargestOrder);
OrderChoice best_epsilon_mironov(const RenyiBound& divergence, Delta delta,
                                 double largest_order = kLargestOrder);
OrderChoice best_delta(const RenyiBound& divergence, double epsilon,
                       double largest_order = kLargestOrder);

// Minimises f over orders in (1, largest_order).
OrderChoice best_order(const std::function<double(double order)>& f, double largest_order);

}  // namespace sotto
