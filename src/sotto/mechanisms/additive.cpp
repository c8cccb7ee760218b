#include "sotto/mechanisms/additive.hpp"

#include <algorithm>
#include <limits>

#include "sotto/mechanisms/detail/rounding.hpp"
#include "sotto/noise/grid.hpp"

namespace sotto {
namespace {

using namespace detail;

LatticeNoise plan_noise(Relation relation, const Sensitivity& sensitivity, const Budget& budget,
                        std::size_t dimension) {
  if (dimension == 0) throw InvalidArgument("the query has no coordinates; it needs at least one");
  const Distance natural{sensitivity_in(sensitivity, Norm::l1, dimension),
                         sensitivity_in(sensitivity, Norm::l2, dimension)};
  const double g = LatticeNoise::granularity_for_budget(budget, natural, dimension);
  return LatticeNoise(relation, budget, g,
                      {grid_sensitivity(natural.l1, g, Norm::l1, dimension),
                       grid_sensitivity(natural.l2, g, Norm::l2, dimension)},
                      dimension);
}

// Whole numbers up to 2^53 are doubles; above, the next double up is taken.
Distance whole_distance(std::int64_t sensitivity) {
  const auto value = static_cast<double>(sensitivity);
  const double bound = sensitivity > (std::int64_t{1} << 53) ? up(value) : value;
  return {bound, bound};
}

std::int64_t saturate(int128 value) {
  constexpr int128 low = std::numeric_limits<std::int64_t>::min(),
                   high = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::clamp(value, low, high));
}

}  // namespace

double sensitivity_in(const Sensitivity& sensitivity, Norm norm, std::size_t dimension) {
  const double value = sensitivity.value();
  const auto d = static_cast<double>(dimension);
  if (dimension == 1 || sensitivity.norm() == norm) return value;
  switch (norm) {
    case Norm::l1:  // ‖z‖₁ ≤ √d ‖z‖₂ ≤ d ‖z‖∞
      return multiply_up(value, sensitivity.norm() == Norm::l2 ? sqrt_up(d) : d);
    case Norm::l2:  // ‖z‖₂ ≤ ‖z‖₁ and ‖z‖₂ ≤ √d ‖z‖∞
      return sensitivity.norm() == Norm::l1 ? value : multiply_up(value, sqrt_up(d));
    case Norm::linf:  // ‖z‖∞ is the smallest of the three
      return value;
  }
  return value;
}

AdditiveMechanism::AdditiveMechanism(Relation relation, const Sensitivity& sensitivity,
                                     const Budget& budget, std::size_t dimension)
    : noise_(plan_noise(relation, sensitivity, budget, dimension)) {}

Release<double> AdditiveMechanism::run(double query, Rng& rng) const {
  return run(std::span<const double>(&query, 1), rng).then([](const std::vector<double>& v) {
    return v[0];
  });
}

Release<std::vector<double>> AdditiveMechanism::run(std::span<const double> query, Rng& rng) const {
  std::vector<int128> steps;
  steps.reserve(query.size());
  for (double q : query) {
    if (!std::isfinite(q))
      throw InvalidArgument("a query value is not a finite number",
                            "clamp the data to declared bounds first");
    steps.push_back(to_grid(q, noise_.granularity()));
  }
  std::vector<double> result;
  result.reserve(query.size());
  for (int128 noisy : noise_.add(steps, rng))
    result.push_back(from_grid(noisy, noise_.granularity()));
  return {std::move(result), *this};
}

GeometricMechanism::GeometricMechanism(Relation relation, std::int64_t sensitivity, Epsilon epsilon,
                                       std::size_t dimension)
    : noise_(relation, Budget::pure(epsilon.value()), 1, whole_distance(sensitivity), dimension) {}

Release<std::int64_t> GeometricMechanism::run(std::int64_t query, Rng& rng) const {
  return run(std::span<const std::int64_t>(&query, 1), rng)
      .then([](const std::vector<std::int64_t>& v) { return v[0]; });
}

Release<std::vector<std::int64_t>> GeometricMechanism::run(std::span<const std::int64_t> query,
                                                           Rng& rng) const {
  const std::vector<int128> exact(query.begin(), query.end());
  std::vector<std::int64_t> result;
  result.reserve(query.size());
  for (int128 noisy : noise_.add(exact, rng)) result.push_back(saturate(noisy));
  return {std::move(result), *this};
}

}  // namespace sotto
