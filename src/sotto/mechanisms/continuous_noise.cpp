#include "sotto/mechanisms/continuous_noise.hpp"

#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/noise/discrete_gaussian.hpp"
#include "sotto/noise/geometric.hpp"
#include "sotto/noise/grid.hpp"

namespace sotto {
namespace {

constexpr double kDirectionSigma = 0x1p50;     // steps
constexpr double kSmallestDirection = 0x1p44;  // of the norm, times √d
constexpr std::uint64_t kExponentialSteps = 1ull << 50;
constexpr double kLargestExponential = 512;  // geometric_exp draws again beyond
constexpr double kTruncation = 64;           // of a discrete Gaussian, in σ
constexpr int kFinerBits = 9;                // beyond the safe grid: 2^48 … 2^49 steps in σ

double root(std::size_t dimension) { return std::sqrt(static_cast<double>(dimension)); }

void check(std::size_t dimension) {
  if (dimension == 0) throw InvalidArgument("the noise has no coordinates; it needs at least one");
}

// |ln(density of lattice point plus uniform cell ÷ Gaussian density)| for s steps in σ: the
// exponents differ by (‖z‖√d/2 + d/8)/s² with
// ‖z‖ ≤ 64 s√d, and the constants in front by no more than that.
double cell_log_ratio(std::size_t dimension, double steps) {
  return (kTruncation + 1) * static_cast<double>(dimension) / steps;
}

}  // namespace

SphericalLaplace::SphericalLaplace(std::size_t dimension, double scale)
    : dimension_(dimension), scale_(scale) {
  check(dimension);
  if (!(scale > 0 && std::isfinite(scale))) invariant_broken("a scale that is not positive");
}

std::vector<double> SphericalLaplace::sample(Rng& rng) const {
  long double radius = 0;
  for (std::size_t i = 0; i < dimension_; ++i)
    radius += static_cast<long double>(geometric_exp(rng, kExponentialSteps));
  radius = radius / static_cast<long double>(kExponentialSteps) * scale_;

  const DiscreteGaussian gaussian(kDirectionSigma);
  std::vector<std::int64_t> direction(dimension_);
  long double square = 0;
  const long double smallest = kSmallestDirection * root(dimension_);
  while (square < smallest * smallest) {
    gaussian.fill(rng, direction);
    square = 0;
    for (std::int64_t v : direction)
      square += static_cast<long double>(v) * static_cast<long double>(v);
  }
  const long double factor = radius / std::sqrt(square);
  std::vector<double> result;
  result.reserve(dimension_);
  for (std::int64_t v : direction)
    result.push_back(static_cast<double>(static_cast<long double>(v) * factor));
  return result;
}

double SphericalLaplace::error() const {
  const auto d = static_cast<double>(dimension_);
  const double radius = kLargestExponential * d * scale_;
  // A cell seen from the origin: √d/2 ÷ norm, twice because the vector is scaled to length one.
  // Rounding: to double, and sums.
  const double relative = 1 / kSmallestDirection + 0x1p-52 + (d + 16) * 0x1p-60;
  return 1.01 * (radius * relative + d * scale_ / static_cast<double>(kExponentialSteps));
}

double SphericalLaplace::log_ratio() const {
  // The second term: the set of cells that are kept is a ball's complement only up to half a cell.
  return 2 * cell_log_ratio(dimension_, kDirectionSigma) + 4 * root(dimension_) / kDirectionSigma;
}

SphericalGaussian::SphericalGaussian(std::size_t dimension, double sigma)
    : dimension_(dimension),
      sigma_(sigma),
      granularity_(std::ldexp(granularity_for(sigma), -kFinerBits)) {
  check(dimension);
}

std::vector<double> SphericalGaussian::sample(Rng& rng) const {
  std::vector<std::int64_t> steps(dimension_);
  DiscreteGaussian(sigma_ / granularity_).fill(rng, steps);  // exact: a power of two
  std::vector<double> result;
  result.reserve(dimension_);
  for (std::int64_t z : steps) result.push_back(static_cast<double>(z) * granularity_);
  return result;
}

double SphericalGaussian::error() const {
  return 1.01 * root(dimension_) * (granularity_ / 2 + kTruncation * sigma_ * 0x1p-53);
}

double SphericalGaussian::log_ratio() const {
  return cell_log_ratio(dimension_, sigma_ / granularity_);
}

}  // namespace sotto
