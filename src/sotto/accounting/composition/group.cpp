#include "sotto/accounting/composition/group.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/numeric/outward.hpp"

namespace sotto {

double group_pure(double epsilon, std::uint64_t size) {
  return size == 1 ? epsilon : multiply_up(epsilon, static_cast<double>(size));
}

ApproximateDp group_approximate(const ApproximateDp& one, std::uint64_t size) {
  const auto k = static_cast<double>(size);
  const double epsilon = group_pure(one.epsilon, size);
  if (one.delta == 0 || size == 1) return {epsilon, one.delta, 1};
  // Σ_{i<k} e^(iε)
  const double factor =
      one.epsilon == 0
          ? k
          : (epsilon > 700 ? kInfinity : std::expm1(k * one.epsilon) / std::expm1(one.epsilon));
  return {epsilon, std::min(1.0, widen_up(one.delta * factor, 16 * kUlp + 4 * kUlp * epsilon)), 1};
}

double group_zcdp(double rho, std::uint64_t size) {
  const auto k = static_cast<double>(size);
  return size == 1 ? rho : widen_up(rho * k * k, 4 * kUlp);
}

double group_delta_at(const ApproximateDp& one, std::uint64_t size, double epsilon) {
  const ApproximateDp all = group_approximate(one, size);
  if (epsilon >= all.epsilon) return all.delta;
  // An (E, d) pair at a smaller ε: the profile of randomized response with odds e^E plus d.
  const double e = all.epsilon;
  const double excess = e > 700 ? 1.0 : (std::exp(e) - std::exp(epsilon)) / (1 + std::exp(e));
  return std::min(1.0, widen_up(all.delta + (1 - all.delta) * excess, 1e-12));
}

double group_renyi(const RenyiBound& one, unsigned doublings, double order) {
  const double wide = std::ldexp(order, static_cast<int>(doublings));
  if (order < 2)
    throw InvalidArgument("group privacy of a Rényi curve needs an order of 2 or more");
  double value = one(wide);
  for (unsigned i = 0; i < doublings; ++i) value = multiply_up(value, 3);
  return value;
}

}  // namespace sotto
