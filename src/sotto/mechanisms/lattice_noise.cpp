#include "sotto/mechanisms/lattice_noise.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sotto/mechanisms/gaussian_calibration.hpp"
#include "sotto/mechanisms/rounding.hpp"
#include "sotto/noise/discrete_gaussian.hpp"
#include "sotto/noise/discrete_laplace.hpp"
#include "sotto/noise/grid.hpp"
#include "sotto/noise/reference_samplers.hpp"

namespace sotto {
namespace {

using namespace detail;

constexpr double kMaxSteps =
    0x1p62;  // one record's contribution: 2^62 of them still add up in 128 bits
constexpr double kMinContinuousSigma =
    0x1p20;  // steps; from here on the comparison with the continuous law is sharp

// The smallest double whose sensitivity/scale, evaluated upwards, is within ε.
double laplace_scale(double sensitivity, double epsilon) {
  double scale = divide_up(sensitivity, epsilon);
  while (divide_up(sensitivity, scale) > epsilon) scale = up(scale);
  return scale;
}

// The smallest double whose Δ²/(2σ²), evaluated upwards, is within ρ.
double zcdp_sigma(double sensitivity, double rho) {
  auto cost = [&](double sigma) {
    const double ratio = divide_up(sensitivity, sigma);
    return multiply_up(ratio, ratio) / 2;
  };
  double sigma = divide_up(sensitivity, sqrt_down(multiply_down(2, rho)));
  while (cost(sigma) > rho) sigma = up(sigma);
  return sigma;
}

// How much ε the lattice costs over the continuous Gaussian, for σ ≥ 2^20 steps (docs/math/additive-mechanisms.md, "From the
// continuous to the discrete Gaussian"): d/(24σ²) for the numerator, (k + m)²/(24σ²) for the denominator, where all but
// δ·2^-41 of the mass lies within kσ and m = Δ/σ.
double lattice_epsilon(double sigma, double ratio, double delta, double dimension) {
  const double t = std::log(2 / delta) + 41 * std::log(2.0);
  const double k = std::sqrt(dimension + 2 * std::sqrt(dimension * t) + 2 * t) + 1;
  return (dimension + (k + ratio) * (k + ratio)) / (24 * sigma * sigma) * 1.001;
}

double approximate_ratio(const ApproximateBudget& budget, double slack) {
  const double epsilon = budget.epsilon.value() - slack;
  if (!(epsilon > 0)) {
    throw InvalidArgument(fmt::format("epsilon is {}; it is too small for a vector of this length",
                                      budget.epsilon.value()),
                          "raise epsilon or release fewer numbers at once");
  }
  if (budget.calibration == Calibration::classic)
    return classic_gaussian_sigma(Epsilon(down(epsilon)), budget.delta);
  return analytic_gaussian_sigma(Epsilon(down(epsilon)),
                                 Delta(budget.delta.value() * (1 - 0x1p-40)));
}

// σ in steps for a query at distance `sensitivity` steps.
double approximate_sigma(const ApproximateBudget& budget, double sensitivity,
                         std::size_t dimension) {
  const double delta = budget.delta.value();
  const auto d = static_cast<double>(dimension);
  // A first σ gives the slack; a larger σ only needs less.
  const double first_ratio = approximate_ratio(budget, 0);
  const double first = first_ratio * sensitivity;
  if (first < kMinContinuousSigma) {
    throw InvalidArgument(fmt::format("the Gaussian for epsilon {} and delta {} has sigma of {} "
                                      "lattice steps; it needs at least 2^20",
                                      budget.epsilon.value(), delta, first),
                          "use a finer granularity");
  }
  const double slack = lattice_epsilon(first, 1 / first_ratio, delta, d);
  return multiply_up(approximate_ratio(budget, slack), sensitivity);
}

void check_steps(double steps) {
  if (!(steps > 0 && steps <= kMaxSteps)) {
    throw InvalidArgument(
        fmt::format("the sensitivity is {} lattice steps; it must be above 0 and at most 2^62",
                    steps),
        "epsilon (or rho) is too large for this sensitivity: such noise would protect nothing");
  }
}

}  // namespace

double LatticeNoise::granularity_for_budget(const Budget& budget, Distance natural, std::size_t) {
  const double scale = std::visit(
      overloaded{[&](const PureBudget& b) { return natural.l1 / b.epsilon.value(); },
                 [&](const ZcdpBudget& b) { return natural.l2 / std::sqrt(2 * b.rho.value()); },
                 [&](const ApproximateBudget& b) { return natural.l2 * approximate_ratio(b, 0); }},
      budget.kind());
  return granularity_for(scale);
}

LatticeNoise::LatticeNoise(Relation relation, const Budget& budget, double granularity,
                           Distance steps, std::size_t dimension)
    : relation_(relation),
      budget_(budget.describe()),
      granularity_(granularity),
      gaussian_(!budget.is_pure()),
      sensitivity_(gaussian_ ? steps.l2 : steps.l1),
      dimension_(dimension) {
  if (dimension == 0) throw InvalidArgument("the query has no coordinates; it needs at least one");
  int exponent = 0;
  if (!(granularity > 0 && std::isfinite(granularity)) ||
      std::frexp(granularity, &exponent) != 0.5) {
    throw InvalidArgument(fmt::format("granularity is {}; it must be a power of two", granularity));
  }
  check_steps(sensitivity_);
  scale_ = std::visit(
      overloaded{
          [&](const PureBudget& b) { return laplace_scale(sensitivity_, b.epsilon.value()); },
          [&](const ZcdpBudget& b) { return zcdp_sigma(sensitivity_, b.rho.value()); },
          [&](const ApproximateBudget& b) {
            return approximate_sigma(b, sensitivity_, dimension);
          }},
      budget.kind());
  check_noise_scale(gaussian_ ? "sigma (in lattice steps)" : "scale (in lattice steps)", scale_);
}

Event LatticeNoise::event() const {
  // Powers of two: these products are exact.
  const double scale = scale_ * granularity_, sensitivity = sensitivity_ * granularity_;
  if (gaussian_) return DiscreteGaussianEvent{scale, sensitivity, granularity_, dimension_};
  return DiscreteLaplaceEvent{scale, sensitivity, granularity_, dimension_};
}

std::string LatticeNoise::describe() const {
  return fmt::format(
      "{} noise of {} {:.6g} on {} coordinate{}, lattice step {:.6g}, for {} under {}",
      gaussian_ ? "discrete Gaussian" : "discrete Laplace", gaussian_ ? "sigma" : "scale", scale(),
      dimension_, dimension_ == 1 ? "" : "s", granularity_, budget_, name(relation_));
}

NoiseInfo LatticeNoise::info_times(double factor) const {
  const double unit = granularity_ * std::fabs(factor);
  NoiseInfo info{.distribution = gaussian_ ? "discrete_gaussian" : "discrete_laplace",
                 .scale = scale_ * unit};
  if (gaussian_) {
    info.standard_deviation = scale_ * unit;  // the discrete Gaussian's is at most σ [CKS20]
    // P(|Z| > t) for the discrete law is within one step of the continuous one.
    info.half_width_95 = (1.959963984540054 * scale_ + 1) * unit;
  } else {
    const double q = std::exp(-1 / scale_);
    info.standard_deviation = std::sqrt(2 * q) / -std::expm1(-1 / scale_) * unit;
    // P(|Z| > t) = 2q^{t+1}/(1+q) for whole t.
    info.half_width_95 =
        std::max(0.0, std::ceil(-scale_ * std::log(0.05 * (1 + q) / 2)) - 1) * unit;
  }
  return info;
}

std::vector<int128> LatticeNoise::add(std::span<const int128> query, Rng& rng) const {
  if (query.size() != dimension_) {
    throw InvalidArgument(
        fmt::format("the query has {} coordinates; this mechanism was planned for {}", query.size(),
                    dimension_));
  }
  auto scope = rng.query({.mechanism = gaussian_ ? "discrete_gaussian" : "discrete_laplace",
                          .values = query,
                          .sensitivity = sensitivity_,
                          .norm = gaussian_ ? Norm::l2 : Norm::l1,
                          .scale = scale_});
  std::vector<std::int64_t> noise(dimension_);
  if (gaussian_) {
    DiscreteGaussian(scale_).fill(rng, noise);
  } else {
    DiscreteLaplace(scale_).fill(rng, noise);
  }
  std::vector<int128> result(query.begin(), query.end());
  for (std::size_t i = 0; i < dimension_; ++i) result[i] += noise[i];
  scope.publish(std::span<int128>(result));
  return result;
}

}  // namespace sotto
