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

constexpr int kFinerBits = 20;  // ℓ2: how much finer the radius is drawn than it is released

}  // namespace

NormMechanism::NormMechanism(Relation relation, const Sensitivity& sensitivity, Epsilon epsilon,
                             std::size_t dimension)
    : relation_(relation), norm_(sensitivity.norm()), dimension_(dimension) {
  if (dimension == 0 || dimension > (1u << 20)) {
    throw InvalidArgument(
        fmt::format("the query has {} coordinates; it must have between 1 and 2^20", dimension));
  }
  granularity_ = granularity_for(sensitivity.value() / epsilon.value());
  if (norm_ == Norm::l2) granularity_ = std::ldexp(granularity_, kFinerBits);
  sensitivity_ = grid_sensitivity(sensitivity.value(), granularity_, norm_, dimension);
  const double scale = std::ceil(sensitivity_ / epsilon.value());
  const int limit = norm_ == Norm::l2 ? 53 - kFinerBits : 45;  // of the sampler
  if (!(scale < std::ldexp(1.0, limit))) {
    throw InvalidArgument(
        fmt::format("the noise is {} lattice steps; it must be below 2^{}", scale, limit),
        "raise epsilon");
  }
  scale_ = static_cast<std::uint64_t>(scale);
  auto cost = [&] { return divide_up(sensitivity_, static_cast<double>(scale_)); };
  while (cost() > epsilon.value()) ++scale_;
  epsilon_ = cost();
  if (norm_ == Norm::l1) laplace_.emplace(static_cast<double>(scale_));
  if (norm_ == Norm::l2) gaussian_.emplace(0x1p40);
}

Event NormMechanism::event() const {
  if (norm_ != Norm::l1) return PureEvent{epsilon_};
  return DiscreteLaplaceEvent{static_cast<double>(scale_) * granularity_,
                              sensitivity_ * granularity_, granularity_, dimension_};
}

std::string NormMechanism::describe() const {
  return fmt::format("{} norm mechanism on {} coordinates, scale {:.6g}: epsilon {:.6g} under {}",
                     name(norm_), dimension_, static_cast<double>(scale_) * granularity_, epsilon_,
                     name(relation_));
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

std::vector<int128> NormMechanism::noise_l2(Rng& rng) const {
  uint128 radius = 0;
  for (std::size_t i = 0; i < dimension_; ++i) radius += geometric_exp(rng, scale_ << kFinerBits);
  std::vector<std::int64_t> direction(dimension_);
  long double square = 0;
  while (square == 0) {
    gaussian_->fill(rng, direction);
    for (std::int64_t v : direction)
      square += static_cast<long double>(v) * static_cast<long double>(v);
  }
  const long double factor =
      std::ldexp(static_cast<long double>(radius), -kFinerBits) / std::sqrt(square);
  std::vector<int128> result;
  result.reserve(dimension_);
  for (std::int64_t v : direction)
    result.push_back(static_cast<int128>(std::floor(static_cast<long double>(v) * factor + 0.5L)));
  return result;
}

Release<std::vector<double>> NormMechanism::run(std::span<const double> query, Rng& rng) const {
  if (query.size() != dimension_) {
    throw InvalidArgument(
        fmt::format("the query has {} coordinates; this mechanism was planned for {}", query.size(),
                    dimension_));
  }
  std::vector<int128> steps;
  steps.reserve(query.size());
  for (double q : query) {
    if (!std::isfinite(q))
      throw InvalidArgument("a query value is not a finite number",
                            "clamp the data to declared bounds first");
    steps.push_back(to_grid(q, granularity_));
  }
  const auto scope = rng.query({.mechanism = "norm",
                                .values = std::span<const int128>(steps),
                                .sensitivity = sensitivity_,
                                .norm = norm_,
                                .scale = static_cast<double>(scale_)});
  const std::vector<int128> noise = norm_ == Norm::l1   ? noise_l1(rng)
                                    : norm_ == Norm::l2 ? noise_l2(rng)
                                                        : noise_linf(rng);
  std::vector<double> result;
  result.reserve(query.size());
  for (std::size_t i = 0; i < dimension_; ++i)
    result.push_back(from_grid(steps[i] + noise[i], granularity_));
  return {std::move(result), *this};
}

}  // namespace sotto
