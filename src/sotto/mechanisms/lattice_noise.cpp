#include "sotto/mechanisms/lattice_noise.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sotto/core/numeric/gaussian_dp.hpp"
#include "sotto/mechanisms/detail/rounding.hpp"
#include "sotto/mechanisms/gaussian_calibration.hpp"
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

// What the lattice costs over the continuous Gaussian (docs/math/additive-mechanisms.md, "From the
// continuous to the discrete Gaussian"), for σ ≥ 2^20 steps: ε falls by d/(24σ²) for the numerator
// and (k + m)²/(24σ²) for the denominator, where all but δ·2^-41 of the mass lies within kσ and m =
// Δ/σ; δ by that mass and by the factor e^{d/(24σ²)}.
struct LatticeCost {
  double epsilon = 0, delta_share = 0;
};

LatticeCost lattice_cost(double sigma, double ratio, double delta, double dimension) {
  const double t = std::log(2 / delta) + 41 * std::log(2.0);
  const double k = std::sqrt(dimension + 2 * std::sqrt(dimension * t) + 2 * t) + 1;
  const double unit = 1.001 / (24 * sigma * sigma);
  return {(dimension + (k + ratio) * (k + ratio)) * unit, 0x1p-40 + 2 * dimension * unit};
}

// σ/Δ of the continuous Gaussian for the budget less the cost.
double approximate_ratio(const ApproximateBudget& budget, const LatticeCost& cost) {
  const double epsilon = down(budget.epsilon.value() - cost.epsilon);
  const double delta = budget.delta.value() * (1 - cost.delta_share);
  if (!(epsilon > 0 && delta > 0)) {
    throw InvalidArgument(fmt::format("epsilon is {}; it is too small for a vector of this length",
                                      budget.epsilon.value()),
                          "raise epsilon or release fewer numbers at once");
  }
  return budget.calibration == GaussianCalibration::classic
             ? classic_gaussian_sigma(Epsilon(epsilon), Delta(delta))
             : gaussian_sigma(Epsilon(epsilon), Delta(delta));
}

// σ in steps for a query at distance `sensitivity` steps.
double approximate_sigma(const ApproximateBudget& budget, double sensitivity,
                         std::size_t dimension) {
  const double delta = budget.delta.value();
  // A first σ gives the cost; the larger one that follows only needs less.
  const double first_ratio = approximate_ratio(budget, {});
  const double first = first_ratio * sensitivity;
  if (first < kMinContinuousSigma) {
    throw InvalidArgument(fmt::format("the Gaussian for epsilon {} and delta {} has sigma of {} "
                                      "lattice steps; it needs at least 2^20",
                                      budget.epsilon.value(), delta, first),
                          "use a finer granularity");
  }
  const LatticeCost cost =
      lattice_cost(first, 1 / first_ratio, delta, static_cast<double>(dimension));
  return multiply_up(approximate_ratio(budget, cost), sensitivity);
}

void check_lattice(double granularity, double steps, std::size_t dimension) {
  if (dimension == 0) throw InvalidArgument("the query has no coordinates; it needs at least one");
  int exponent = 0;
  if (!(granularity > 0 && std::isfinite(granularity)) ||
      std::frexp(granularity, &exponent) != 0.5) {
    throw InvalidArgument(fmt::format("granularity is {}; it must be a power of two", granularity));
  }
  if (!(steps > 0 && steps <= kMaxSteps)) {
    throw InvalidArgument(
        fmt::format("the sensitivity is {} lattice steps; it must be above 0 and at most 2^62",
                    steps),
        "epsilon (or rho) is too large for this sensitivity: such noise would protect nothing");
  }
}

double calibrated_scale(const Budget& budget, double granularity, double sensitivity,
                        std::size_t dimension) {
  check_lattice(granularity, sensitivity, dimension);
  return std::visit(
      overloaded{
          [&](const PureBudget& b) { return laplace_scale(sensitivity, b.epsilon.value()); },
          [&](const ZcdpBudget& b) { return zcdp_sigma(sensitivity, b.rho.value()); },
          [&](const ApproximateBudget& b) { return approximate_sigma(b, sensitivity, dimension); }},
      budget.kind());
}

std::variant<DiscreteLaplace, DiscreteGaussian> make_sampler(bool gaussian, double scale,
                                                             const std::string& budget) {
  if (scale < kMinNoiseScale) {
    throw InvalidArgument(
        fmt::format("the budget ({}) asks for noise of {:.3g} of the distance between two values; "
                    "it must be at least 1/1024 of it",
                    budget, scale),
        "epsilon (or rho) is too large: such noise would protect nothing");
  }
  check_noise_scale(gaussian ? "sigma (in lattice steps)" : "scale (in lattice steps)", scale);
  if (gaussian) return DiscreteGaussian(scale);
  return DiscreteLaplace(scale);
}

}  // namespace

double LatticeNoise::granularity_for_budget(const Budget& budget, Distance natural, std::size_t) {
  const double scale = std::visit(
      overloaded{[&](const PureBudget& b) { return natural.l1 / b.epsilon.value(); },
                 [&](const ZcdpBudget& b) { return natural.l2 / std::sqrt(2 * b.rho.value()); },
                 [&](const ApproximateBudget& b) { return natural.l2 * approximate_ratio(b, {}); }},
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
      dimension_(dimension),
      scale_(calibrated_scale(budget, granularity, sensitivity_, dimension)),
      sampler_(make_sampler(gaussian_, scale_, budget_)) {}

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
  std::visit([&](const auto& sampler) { sampler.fill(rng, noise); }, sampler_);
  std::vector<int128> result(query.begin(), query.end());
  for (std::size_t i = 0; i < dimension_; ++i) result[i] += noise[i];
  scope.publish(std::span<int128>(result));
  return result;
}

}  // namespace sotto
