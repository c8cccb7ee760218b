// Calibration: solve a specification with one unknown number for a target (ε, δ).
//
// What       Any one number of a specification (noise multiplier, sigma, scale, epsilon, rho,
//            count, rate, size, …) such that the accountant's ε is at most the target and as close
//            to it as the parameter allows.
// Guarantee  The returned value is on the safe side: its ε was computed and is at most the target.
//            A value 1e-6 (relative) beyond it is not (whole numbers: the next one is not).
// Method     The direction is found, not assumed: the unknown is scanned outwards until the target
//            is crossed, with the cheapest accountant that applies; then a few secant steps in
//            logarithms with the wanted one, and a last check of both sides.
// Numerics   No more accuracy is claimed than the accountant has; ε of the result is an upper
//            bound.
// Reference  docs/math/calibration.md; [BW18] for the Gaussian in gaussian_dp.hpp.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sotto/accounting/bound.hpp"
#include "sotto/accounting/composition/basic.hpp"
#include "sotto/core/spec.hpp"
#include "sotto/core/values.hpp"

namespace sotto {

struct Calibration {
  std::string unknown;  // the name of the parameter
  double value = 0;
  Bound epsilon;        // at the value; upper ≤ target
  int evaluations = 0;  // how often an accountant was asked
};

// A number and the specification that it completes. `at` may refuse a value by InvalidArgument or
// DataError: it is then not tried again.
struct Unknown {
  std::string name;    // how messages call it; "rate", "delta" and "omega" say where to begin
  bool whole = false;  // a count
  std::function<Spec(double value)> at;
};

// Throws AccountingError when no value of the unknown meets the target, or when every value does.
Calibration calibrate(const Unknown& unknown, Epsilon target, Delta delta,
                      const AccountOptions& options = {});
// The same for a document with one "?".
Calibration calibrate(const SpecTemplate& spec, Epsilon target, Delta delta,
                      const AccountOptions& options = {});

// Near a guess that is known to be good: the guess itself when its ε is at most the target, else
// the first of growing moves to the safer side, and back by halvings to within 0.5 % of a value
// that was refused. A few questions instead of many; the value is safe, but not as sharp. Throws
// AccountingError when nothing near the guess meets the target.
enum class Safer { smaller, larger };
Calibration confirm(const Unknown& unknown, double guess, Safer safer, Epsilon target, Delta delta,
                    const AccountOptions& options = {});

// Shares of a budget in proportion to the weights; their sum never exceeds the total.
std::vector<ApproximateDp> split_budget(std::span<const double> weights, Epsilon epsilon,
                                        double delta);
std::vector<double> split_rho(std::span<const double> weights, Rho rho);
// Noise multipliers of Gaussian mechanisms that together are exactly (ε, δ): μ_i² in proportion to
// the weights.
std::vector<double> split_gaussian(std::span<const double> weights, Epsilon epsilon, Delta delta);

}  // namespace sotto
