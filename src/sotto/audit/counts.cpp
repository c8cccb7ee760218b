#include "sotto/audit/counts.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/audit/proportion.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"
#include "sotto/core/numeric/mills.hpp"

namespace sotto::audit {
namespace {

// The x with P[Z > x] = p.
double upper_point(double p) {
  if (p <= 0.5) return normal_quantile_upper(std::log(p));
  return -normal_quantile_upper(std::log1p(-p));
}

}  // namespace

ErrorRates error_rates(const AttackCounts& c, double alpha) {
  if (c.members() == 0 || c.nonmembers() == 0)
    throw InvalidArgument("there are no trials on one side",
                          "count how the test decided on members and on non-members");
  return {clopper_pearson_upper(c.false_negatives, c.members(), alpha / 2),
          clopper_pearson_upper(c.false_positives, c.nonmembers(), alpha / 2)};
}

double epsilon_of(const ErrorRates& rates, double delta) {
  const auto bound = [&](double missed, double wrong) {
    const double right = 1 - delta - missed;
    return right > wrong ? std::log(right / wrong) : 0;
  };
  return std::max(bound(rates.false_negative, rates.false_positive),
                  bound(rates.false_positive, rates.false_negative));
}

double mu_of(const ErrorRates& rates) {
  if (rates.false_positive >= 1 || rates.false_negative >= 1) return 0;
  return std::max(0.0, upper_point(rates.false_positive) + upper_point(rates.false_negative));
}

double clopper_pearson_epsilon(const AttackCounts& counts, double delta, double alpha) {
  return epsilon_of(error_rates(counts, alpha), delta);
}

double clopper_pearson_ceiling(std::uint64_t members, std::uint64_t nonmembers, double delta,
                               double alpha) {
  return clopper_pearson_epsilon({members, 0, 0, nonmembers}, delta, alpha);
}

GaussianEstimate gaussian_estimate(const ErrorRates& rates, double delta) {
  const double mu = mu_of(rates);
  if (mu == 0) return {0, 0};
  if (delta == 0) return {mu, HUGE_VAL};
  return {mu, gaussian_epsilon_lower(mu, Delta(delta))};
}

}  // namespace sotto::audit
