#include "sotto/audit/selection_law.hpp"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <vector>

namespace sotto::audit {
namespace {

constexpr int kPanels = 24;       // the last one is [0, 2^−24]
constexpr double kFaint = 1e-17;  // a factor 1 − t·q that is 1

}  // namespace

double log_exponential_law(std::span<const double> scores, std::size_t chosen) {
  const double best = *std::ranges::max_element(scores);
  double sum = 0;
  for (const double s : scores) sum += std::exp(s - best);
  return scores[chosen] - best - std::log(sum);
}

double log_permute_and_flip_law(std::span<const double> scores, std::size_t chosen) {
  const double best = *std::ranges::max_element(scores);
  std::vector<double> others;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    const double q = std::exp(scores[j] - best);
    if (j != chosen && q > kFaint) others.push_back(q);
  }
  const auto product = [&](double t) {
    double sum = 0;
    for (const double q : others) sum += std::log1p(-t * q);
    return std::exp(sum);
  };
  double integral = 0;
  for (int p = 0; p <= kPanels; ++p) {
    const double high = std::ldexp(1.0, -p), low = p == kPanels ? 0 : high / 2;
    integral += boost::math::quadrature::gauss<double, 10>::integrate(product, low, high);
  }
  return scores[chosen] - best + std::log(integral);
}

}  // namespace sotto::audit
