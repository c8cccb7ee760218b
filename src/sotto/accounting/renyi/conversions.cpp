#include "sotto/accounting/renyi/conversions.hpp"

#include "sotto/core/numeric/outward.hpp"

namespace sotto {

std::span<const ConversionInfo> conversions() {
  static constexpr ConversionInfo kTable[] = {
      {"pure", "approximate", "(epsilon, 0)", false},
      {"pure", "renyi", "curve of randomized response with odds e^epsilon", false},
      {"pure", "zcdp", "epsilon^2 / 2", true},
      {"pure", "gdp", "2 Phi^-1(e^epsilon / (1 + e^epsilon))", true},
      {"bounded range", "zcdp", "epsilon^2 / 8", true},
      {"gdp", "approximate", "exact profile of the Gaussian", false},
      {"gdp", "zcdp", "mu^2 / 2", true},
      {"zcdp", "renyi", "rho alpha at every order", false},
      {"truncated zcdp", "renyi", "rho alpha at orders below omega", false},
      {"zcdp", "approximate",
       "best Renyi order, tight conversion; rho + 2 sqrt(rho ln(1/delta)) as the basic form", true},
      {"renyi", "approximate",
       "r + ln(1 - 1/alpha) - ln(delta alpha)/(alpha - 1); Mironov: r - ln(delta)/(alpha - 1)",
       true},
      {"approximate", "approximate zcdp", "epsilon^2 / 2 outside an event of probability delta",
       true},
      {"privacy loss distribution", "approximate",
       "exact profile of the pair, up to the stated interval", false},
  };
  return kTable;
}

double pure_to_zcdp(double epsilon) { return widen_up(epsilon * epsilon / 2, kUlp); }
double bounded_range_to_zcdp(double epsilon) { return widen_up(epsilon * epsilon / 8, kUlp); }
double gdp_to_zcdp(double mu) { return widen_up(mu * mu / 2, kUlp); }

}  // namespace sotto
