#include "sotto/mechanisms/budget.hpp"

#include <fmt/format.h>

#include "sotto/core/event.hpp"
#include "sotto/mechanisms/detail/rounding.hpp"

namespace sotto {
namespace {

using detail::multiply_down;
using detail::sqrt_down;

// The largest ε whose ε²/divisor, evaluated upwards, stays within ρ.
double epsilon_for_rho(double rho, double divisor) {
  double epsilon = sqrt_down(multiply_down(divisor, rho));
  while (detail::divide_up(detail::multiply_up(epsilon, epsilon), divisor) > rho)
    epsilon = detail::down(epsilon);
  return epsilon;
}

// f·v, which is v itself for f = 1.
double fraction_of(double value, double fraction) {
  return fraction == 1 ? value : multiply_down(value, fraction);
}

}  // namespace

Budget Budget::approximate(double epsilon, double delta, GaussianCalibration calibration) {
  if (calibration == GaussianCalibration::classic && !(epsilon < 1)) {
    throw InvalidArgument(
        fmt::format(
            "epsilon is {}; the classic Gaussian calibration is proven for epsilon < 1 only",
            epsilon),
        "use the analytic calibration, which is tighter and has no such limit");
  }
  return Budget(ApproximateBudget{Epsilon(epsilon), Delta(delta), calibration});
}

Budget Budget::part(double fraction) const {
  if (!(fraction > 0 && fraction <= 1)) {
    throw InvalidArgument(
        fmt::format("a part of a budget is {}; it must be above 0 and at most 1", fraction));
  }
  return std::visit(
      overloaded{
          [&](const PureBudget& b) { return pure(fraction_of(b.epsilon.value(), fraction)); },
          [&](const ApproximateBudget& b) {
            return approximate(fraction_of(b.epsilon.value(), fraction),
                               fraction_of(b.delta.value(), fraction), b.calibration);
          },
          [&](const ZcdpBudget& b) { return zcdp(fraction_of(b.rho.value(), fraction)); }},
      kind_);
}

double Budget::pure_epsilon() const {
  return std::visit(
      overloaded{[](const PureBudget& b) { return b.epsilon.value(); },
                 [](const ApproximateBudget& b) { return b.epsilon.value(); },
                 [](const ZcdpBudget& b) { return epsilon_for_rho(b.rho.value(), 2); }},
      kind_);
}

double Budget::bounded_range_epsilon() const {
  return std::visit(
      overloaded{[](const PureBudget& b) { return b.epsilon.value(); },
                 [](const ApproximateBudget& b) { return b.epsilon.value(); },
                 [](const ZcdpBudget& b) { return epsilon_for_rho(b.rho.value(), 8); }},
      kind_);
}

std::string Budget::describe() const {
  return std::visit(
      overloaded{[](const PureBudget& b) { return fmt::format("epsilon {}", b.epsilon.value()); },
                 [](const ApproximateBudget& b) {
                   return fmt::format("epsilon {}, delta {}{}", b.epsilon.value(), b.delta.value(),
                                      b.calibration == GaussianCalibration::classic
                                          ? " (classic calibration)"
                                          : "");
                 },
                 [](const ZcdpBudget& b) { return fmt::format("rho {}", b.rho.value()); }},
      kind_);
}

}  // namespace sotto
