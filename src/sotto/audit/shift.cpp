#include "sotto/audit/shift.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/numeric/gaussian_dp.hpp"
#include "sotto/core/numeric/mills.hpp"

namespace sotto::audit {
namespace {

constexpr std::size_t kFewestScores = 11;
constexpr double kMost = 100;  // of μ

struct ScoreMoments {
  double mean = 0, squares = 0;
};
ScoreMoments moments(std::span<const double> values) {
  ScoreMoments m;
  for (const double v : values) m.mean += v / static_cast<double>(values.size());
  for (const double v : values) m.squares += (v - m.mean) * (v - m.mean);
  return m;
}

}  // namespace

GaussianEstimate shift_estimate(std::span<const double> members, std::span<const double> nonmembers,
                                double delta, double alpha) {
  if (std::min(members.size(), nonmembers.size()) < kFewestScores) return {0, 0};
  const ScoreMoments in = moments(members), out = moments(nonmembers);
  const auto a = static_cast<double>(members.size()), b = static_cast<double>(nonmembers.size());
  const double freedom = a + b - 2, error = std::sqrt(1 / a + 1 / b),
               spread = std::sqrt((in.squares + out.squares) / freedom);
  if (!(in.mean > out.mean)) return {0, 0};
  double mu = kMost;
  if (spread > 0) {
    const double t = (in.mean - out.mean) / (spread * error),
                 z = normal_quantile_upper(std::log(alpha));
    const double centre = t * (1 - 1 / (4 * freedom)) - z * std::sqrt(1 + t * t / (2 * freedom));
    mu = std::min(kMost, centre * error);
  }
  if (!(mu > 0)) return {0, 0};
  return {mu, delta == 0 ? HUGE_VAL : gaussian_epsilon_lower(mu, Delta(delta))};
}

}  // namespace sotto::audit
