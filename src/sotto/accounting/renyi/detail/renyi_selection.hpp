// Private selection: run a mechanism a random number of times, release only the best run.
//
// What       The Rényi divergence of the released run, for a number of runs K that is truncated
//            negative binomial or Poisson.
// Guarantee  Upper bound at every order, for a base mechanism of known Rényi curve without a
//            failure probability.
// Method     Truncated negative binomial (shape η, γ from the mean m): r(α) + (1+η) min_β[(1 − 1/β)
//            r(β) + ln(1/γ)/β] + ln m/(α−1).
//            Poisson (mean m): ln(e^−m + m·e^((α−1)(r(α) + m·δ̂)))/(α−1), δ̂ = δ of one run at ε̂ =
//            ln(1 + 1/(α−1)); e^−m is the case of no run. Never above m(e^((α−1)r) − 1)/(α−1), the
//            cost of releasing every run.
// Numerics   γ is rounded down and the minimum over β is a minimum of upper bounds.
// Reference  [PS22, Thm. 2 and 6], docs/math/renyi.md.
#pragma once

#include <functional>

#include "sotto/accounting/renyi/renyi_conversion.hpp"

namespace sotto {

double truncated_negative_binomial_mean(double shape, double gamma);
double truncated_negative_binomial_cost(double shape, double mean);   // −ln γ, rounded up
double truncated_negative_binomial_gamma(double shape, double mean);  // rounded down; mean > 1

RenyiBound renyi_selection_negative_binomial(RenyiBound base, double shape, double mean,
                                             double largest_order);
// delta_of(ε) bounds δ of one run.
RenyiBound renyi_selection_poisson(RenyiBound base, std::function<double(double)> delta_of,
                                   double mean);

}  // namespace sotto
