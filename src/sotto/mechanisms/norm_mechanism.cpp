#include "sotto/mechanisms/norm_mechanism.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sotto/mechanisms/detail/rounding.hpp"
#include "sotto/noise/bernoulli.hpp"
#include "sotto/noise/geometric.hpp"
#include "sotto/noise/grid.hpp"
#include "sotto/noise/uniform.hpp"

namespace sotto {
namespace {

using namespace detail;

constexpr double kCoveringShare = 0x1p-10;  // of ε, in ℓ2

}  // namespace

NormMechanism::NormMechanism(Relation relation, const Sensitivity& sensitivity, Epsilon epsilon,
                             std::size_t dimension)
    : relation_(relation), norm_(sensitivity.norm()), dimension_(dimension) {
  if (dimension == 0 || dimension > (1u << 20)) {
    throw InvalidArgument(
        fmt::format("the query has {} coordinates; it must have between 1 and 2^20", dimension));
  }
  if (norm_ == Norm::l2 && dimension > 1) {
    const double covering = epsilon.value() * kCoveringShare;
    // The ideal law may be off by a factor e^{±log_ratio} on each side; both are of this ε.
    const double off = 2 * SphericalLaplace(dimension, 1).log_ratio();
    const double ideal = (epsilon.value() - covering - off) * (1 - 0x1p-50);
    if (!(ideal > 0)) {
      throw InvalidArgument(fmt::format("epsilon is {} for {} coordinates; it must be above {:.3g}",
                                        epsilon.value(), dimension, off * (1 + 2 * kCoveringShare)),
                            "raise epsilon, or state the sensitivity in l1");
    }
    sensitivity_ = sensitivity.value();
    sphere_.emplace(dimension, divide_up(sensitivity_, ideal));
    cover_.emplace(relation, Budget::pure(covering), sphere_->error(), dimension, 2);
    ideal_ = (ideal + off) * (1 + 0x1p-50);
    epsilon_ = epsilon.value();
    return;
  }
  // In one dimension the norms are the same, and ℓ1 is exact.
  if (norm_ == Norm::l2) norm_ = Norm::l1;
  granularity_ = granularity_for(sensitivity.value() / epsilon.value());
  sensitivity_ = grid_sensitivity(sensitivity.value(), granularity_, norm_, dimension);
  const double scale = std::ceil(sensitivity_ / epsilon.value());
  if (!(scale < 0x1p45)) {
    throw InvalidArgument(
        fmt::format("the noise is {} lattice steps; it must be below 2^45", scale),
        "raise epsilon");
  }
  scale_ = static_cast<std::uint64_t>(scale);
  auto cost = [&] { return divide_up(sensitivity_, static_cast<double>(scale_)); };
  while (cost() > epsilon.value()) ++scale_;
  epsilon_ = cost();
  if (norm_ == Norm::l1) laplace_.emplace(static_cast<double>(scale_));
}

double NormMechanism::granularity() const { return cover_ ? cover_->granularity() : granularity_; }

Event NormMechanism::event() const {
  if (cover_) return compose({PureEvent{ideal_}, cover_->event()});
  if (norm_ != Norm::l1) return PureEvent{epsilon_};
  return DiscreteLaplaceEvent{static_cast<double>(scale_) * granularity_,
                              sensitivity_ * granularity_, granularity_, dimension_};
}

std::string NormMechanism::describe() const {
  return fmt::format("{} norm mechanism on {} coordinates, scale {:.6g}: epsilon {:.6g} under {}",
                     name(norm_), dimension_,
                     sphere_ ? sphere_->scale() : static_cast<double>(scale_) * granularity_,
                     epsilon(), name(relation_));
}

std::vector<int128> NormMechanism::noise_l1(Rng& rng) const {
  std::vector<std::int64_t> draws(dimension_);
  laplace_->fill(rng, draws);
  return {draws.begin(), draws.end()};
}

std::vector<int128> NormMechanism::noise_linf(Rng& rng) const {
  uint128 radius = 0;
  for (bool kept = false; !kept;) {
    radius = 0;
    for (std::size_t i = 0; i <= dimension_; ++i) radius += geometric_exp(rng, scale_);
    kept = true;
    for (std::size_t i = 1; i <= dimension_ && kept; ++i)
      kept = bernoulli_128(rng, 2 * radius + 1, 2 * radius + 2 * i);
  }
  std::vector<int128> result(dimension_);
  for (int128& z : result)
    z = static_cast<int128>(uniform_below_128(rng, 2 * radius + 1)) - static_cast<int128>(radius);
  return result;
}

std::vector<double> NormMechanism::run_l2(std::span<const double> query, Rng& rng) const {
  const double g = cover_->granularity();
  std::vector<int128> covering = cover_->draw(rng);
  std::vector<int128> steps;
  steps.reserve(query.size());
  for (double q : query) steps.push_back(to_grid(q, g));
  const double root = std::sqrt(static_cast<double>(dimension_));
  const auto scope = rng.query({.mechanism = "norm",
                                .values = std::span<const int128>(steps),
                                .sensitivity = (sensitivity_ / g + root) * (1 + 0x1p-50),
                                .norm = norm_,
                                .scale = sphere_->scale() / g});
  return cover_->release({query, sphere_->sample(rng)}, std::move(covering));
}

Release<std::vector<double>> NormMechanism::run(std::span<const double> query, Rng& rng) const {
  if (query.size() != dimension_) {
    throw InvalidArgument(
        fmt::format("the query has {} coordinates; this mechanism was planned for {}", query.size(),
                    dimension_));
  }
  for (double q : query)
    if (!std::isfinite(q))
      throw InvalidArgument("a query value is not a finite number",
                            "clamp the data to declared bounds first");
  if (cover_) return {run_l2(query, rng), *this};
  std::vector<int128> steps;
  steps.reserve(query.size());
  for (double q : query) steps.push_back(to_grid(q, granularity_));
  const auto scope = rng.query({.mechanism = "norm",
                                .values = std::span<const int128>(steps),
                                .sensitivity = sensitivity_,
                                .norm = norm_,
                                .scale = static_cast<double>(scale_)});
  const std::vector<int128> noise = norm_ == Norm::l1 ? noise_l1(rng) : noise_linf(rng);
  std::vector<double> result;
  result.reserve(query.size());
  for (std::size_t i = 0; i < dimension_; ++i)
    result.push_back(from_grid(steps[i] + noise[i], granularity_));
  return {std::move(result), *this};
}

}  // namespace sotto
