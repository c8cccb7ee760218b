#include "sotto/models/linear/detail/objective_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/core/numeric/gaussian_dp.hpp"
#include "sotto/models/linear/detail/convex_problem.hpp"

namespace sotto {
namespace {

constexpr double kUp = 1 + 1e-9;

// δ of Gaussian noise at distance `shift`, at ε; 1 for a negative ε, which is a valid bound.
double gaussian_delta(double shift, double sigma, double epsilon) {
  return epsilon < 0 ? 1.0 : std::exp(gaussian_log_delta(shift / sigma, epsilon));
}

double choose(std::size_t n, std::size_t k) {
  return std::exp(std::lgamma(static_cast<double>(n) + 1) -
                  std::lgamma(static_cast<double>(k) + 1) -
                  std::lgamma(static_cast<double>(n - k) + 1));
}

// Σ over the vertices of the slopes' polytope; the vertex 0 contributes nothing for ε ≥ 0.
double vertex_sum(const ObjectiveBound& b, double sigma, double epsilon) {
  const bool replace = b.relation == Relation::replace_one;
  const auto delta = [&](double shift) { return gaussian_delta(shift, sigma, epsilon); };
  const auto others = static_cast<double>(b.outputs) - 1;
  if (b.outputs == 1) return replace ? delta(2) + 2 * delta(1) : delta(1);
  if (b.loss == Loss::logistic) {  // vertices e_j − e_y, j ≠ y; pairs of them
    if (!replace) return others * delta(std::sqrt(2.0));
    return others * delta(std::sqrt(8.0)) + others * others * delta(std::sqrt(6.0)) +
           2 * others * delta(std::sqrt(2.0));
  }
  // One-vs-rest, add_remove: a product of independent runs, each below the Gaussian mechanism.
  if (!replace) return delta(std::sqrt(static_cast<double>(b.outputs)));
  double sum =
      0;  // corners of {0, 1}^K for the record that goes, times those for the one that comes
  for (std::size_t i = 0; i <= b.outputs; ++i) {
    for (std::size_t j = i == 0 ? 1 : 0; j <= b.outputs; ++j) {
      sum += choose(b.outputs, i) * choose(b.outputs, j) *
             delta(std::sqrt(static_cast<double>(i)) + std::sqrt(static_cast<double>(j)));
    }
  }
  return sum;
}

}  // namespace

double ObjectiveBound::sensitivity() const {
  return slope_norm(loss, outputs) * contribution_factor(relation);
}

double ObjectiveBound::determinant(double ridge) const {
  const auto k = static_cast<double>(outputs);
  if (outputs == 1) return std::log1p(curvature_bound(loss) / ridge) * kUp;
  if (loss == Loss::logistic) return (k - 1) * std::log1p(1 / (k * ridge)) * kUp;
  return k * std::log1p(curvature_bound(loss) / ridge) * kUp;
}

double ObjectiveBound::free_ridge(double epsilon) const {
  if (loss != Loss::logistic) return std::numeric_limits<double>::infinity();
  return (outputs == 1 ? 1 : 4) * contribution_factor(relation) / epsilon * kUp;
}

double ObjectiveBound::epsilon(double ridge, double inner_epsilon) const {
  if (ridge >= free_ridge(inner_epsilon)) return inner_epsilon;
  return (inner_epsilon + determinant(ridge)) * kUp;
}

double ObjectiveBound::delta(double ridge, double sigma, double epsilon) const {
  const bool replace = relation == Relation::replace_one;
  const double k = determinant(ridge);
  // Independent runs: their determinants multiply δ as well (the densities without them are not
  // normalised).
  const bool product = outputs > 1 && loss != Loss::logistic && !replace;
  double best =
      (product ? std::exp(k) : 1) * (epsilon > k ? vertex_sum(*this, sigma, epsilon - k) : 1.0);
  if (loss == Loss::logistic) {
    if (ridge >= 2 * sigma * sigma * kUp) best = std::min(best, vertex_sum(*this, sigma, epsilon));
    if (outputs == 1 && epsilon * ridge >= kUp) {
      best = std::min(best, replace ? gaussian_delta(2, sigma, epsilon) +
                                          gaussian_delta(1, sigma, epsilon) +
                                          gaussian_delta(1, sigma, epsilon - 1 / ridge)
                                    : gaussian_delta(1, sigma, epsilon));
    }
  }
  return std::min(1.0, best * kUp);
}

}  // namespace sotto
