// Every conversion between notions of privacy in one table, the lossy ones marked.
//
// What       One function per arrow, and the list of arrows for documentation and certificates.
// Guarantee  Each result is implied by its argument; lossy means that the way back is not possible.
// Method     The closed forms of the headers below, gathered.
// Numerics   Rounded up.
// Reference  [BS16], [DRS22], [CKS20], [Mir17], [DDR20]; docs/math/composition.md.
#pragma once

#include <span>
#include <string_view>

#include "sotto/accounting/renyi/renyi_mechanisms.hpp"
#include "sotto/accounting/renyi/zcdp.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"

namespace sotto {

struct ConversionInfo {
  std::string_view from, to, formula;
  bool lossy;
};
std::span<const ConversionInfo> conversions();

double pure_to_zcdp(double epsilon);           // ε²/2
double bounded_range_to_zcdp(double epsilon);  // ε²/8
double gdp_to_zcdp(double mu);                 // μ²/2
inline double pure_to_renyi(double epsilon, double order) { return renyi_pure(epsilon, order); }
inline double pure_to_gdp(double epsilon) { return pure_to_mu(epsilon); }
inline double gdp_to_approximate(double mu, Delta delta) {
  return gaussian_epsilon_upper(mu, delta);
}
inline double zcdp_to_approximate(double rho, Delta delta) {
  return zcdp_epsilon_tight(rho, delta).value;
}
inline double zcdp_to_approximate_basic(double rho, Delta delta) {
  return zcdp_epsilon_basic(rho, delta);
}
inline double renyi_to_approximate(double order, double divergence, Delta delta) {
  return renyi_epsilon(order, divergence, delta);
}

}  // namespace sotto
