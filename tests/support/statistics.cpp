#include "support/statistics.hpp"

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>

namespace sotto::test {

double chi_square_p(std::span<const std::uint64_t> counts, std::span<const double> probabilities,
                    std::uint64_t total) {
  const auto n = static_cast<double>(total);
  double statistic = 0, rest_probability = 1, rest_count = n;
  int cells = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = n * probabilities[i];
    if (expected < 5) continue;
    const double d = static_cast<double>(counts[i]) - expected;
    statistic += d * d / expected;
    rest_probability -= probabilities[i];
    rest_count -= static_cast<double>(counts[i]);
    ++cells;
  }
  const double rest_expected = n * rest_probability;
  if (rest_expected >= 5) {
    const double d = rest_count - rest_expected;
    statistic += d * d / rest_expected;
    ++cells;
  } else if (rest_count > 5 + 50 + 2 * std::max(0.0, rest_expected)) {
    return 0;  // mass where there should be next to none
  }
  if (cells < 2) return rest_count <= 50 ? 1 : 0;
  return boost::math::cdf(boost::math::complement(boost::math::chi_squared(cells - 1), statistic));
}

double ks_p(std::vector<double> sample, const std::function<double(double)>& cdf) {
  std::sort(sample.begin(), sample.end());
  const auto n = static_cast<double>(sample.size());
  double d = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double f = cdf(sample[i]);
    d = std::max({d, f - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - f});
  }
  // Asymptotic law with Stephens' correction; exact enough for n ≥ 1000.
  const double x = d * (std::sqrt(n) + 0.12 + 0.11 / std::sqrt(n));
  double p = 0;
  for (int k = 1; k <= 100; ++k) p += (k % 2 == 1 ? 2 : -2) * std::exp(-2.0 * k * k * x * x);
  return std::clamp(p, 0.0, 1.0);
}

double binomial_p(std::uint64_t successes, std::uint64_t trials, double probability) {
  const boost::math::binomial law(static_cast<double>(trials), probability);
  const double below = boost::math::cdf(law, static_cast<double>(successes));
  const double above =
      successes == 0
          ? 1
          : boost::math::cdf(boost::math::complement(law, static_cast<double>(successes) - 1));
  return std::min(1.0, 2 * std::min(below, above));
}

double clopper_pearson_upper(std::uint64_t successes, std::uint64_t trials, double alpha) {
  if (successes >= trials) return 1;
  const boost::math::beta_distribution<> law(static_cast<double>(successes) + 1,
                                             static_cast<double>(trials - successes));
  return boost::math::quantile(boost::math::complement(law, alpha));
}

double clopper_pearson_lower(std::uint64_t successes, std::uint64_t trials, double alpha) {
  if (successes == 0) return 0;
  const boost::math::beta_distribution<> law(static_cast<double>(successes),
                                             static_cast<double>(trials - successes) + 1);
  return boost::math::quantile(law, alpha);
}

}  // namespace sotto::test
