#include "sotto/models/linear/detail/minimiser.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "sotto/models/linear/detail/limited_memory.hpp"

namespace sotto {
namespace {

using Vector = Eigen::VectorXd;
using Point = ConvexProblem::Point;

constexpr int kHalvings = 40;
constexpr int kDirectSteps = 100;  // of Newton's method from 0
constexpr double kWeaker = 8;      // from one regulariser to the next
constexpr double kLoose = 1e-3;    // of its own regulariser's share, the gradient left on the way
constexpr int kPlainSteps = 256;   // without a search, before the better methods get another chance

Eigen::Map<const Vector> view(const std::vector<double>& v) {
  return {v.data(), static_cast<Eigen::Index>(v.size())};
}

Vector dense_direction(const ConvexProblem& problem, const Point& at) {
  const std::vector<double> h = problem.hessian(at.theta);
  const auto d = static_cast<Eigen::Index>(at.theta.size());
  const Eigen::Map<const Eigen::MatrixXd> matrix(h.data(), d, d);
  return matrix.llt().solve(-view(at.gradient));
}

Vector sparse_direction(const ConvexProblem& problem, const Point& at) {
  const auto g = view(at.gradient);
  const double norm = g.norm();
  // The residual asked for: a tenth at first, then proportional to √‖∇J‖ relative to the size of
  // the problem.
  const double goal = norm * std::min(0.1, std::sqrt(norm / (1 + norm)) * 0.1);
  Vector d = Vector::Zero(g.size()), residual = -g, conjugate = residual;
  double square = residual.squaredNorm();
  const Eigen::Index limit = std::max<Eigen::Index>(10 * g.size(), 100);
  for (Eigen::Index i = 0; i < limit && std::sqrt(square) > goal; ++i) {
    const std::vector<double> product = problem.hessian_times(
        at.theta, {conjugate.data(), static_cast<std::size_t>(conjugate.size())});
    const double curvature = conjugate.dot(view(product));
    if (!(curvature > 0)) break;
    const double step = square / curvature;
    d += step * conjugate;
    residual -= step * view(product);
    const double next = residual.squaredNorm();
    conjugate = residual + (next / square) * conjugate;
    square = next;
  }
  return d;
}

}  // namespace

Minimum minimise(const ConvexProblem& problem, double tolerance, std::vector<double> start,
                 MinimiserOptions options) {
  start.resize(problem.size());
  Point at = problem.evaluate(std::move(start));
  const bool large = problem.size() > options.dense_limit;
  int descended = 0, iteration = 0;
  if (large && options.limited_memory) {
    Descent descent = descend(problem, std::move(at), tolerance, options.descent_steps);
    at = std::move(descent.at);
    descended = descent.steps;
  }
  for (; iteration < options.iterations && !(at.gradient_bound() <= tolerance); ++iteration) {
    const Vector d = large ? sparse_direction(problem, at) : dense_direction(problem, at);
    const double promised = d.dot(view(at.gradient));
    if (!d.allFinite() || !(promised < 0)) break;
    bool moved = false;
    double step = 1;
    for (int i = 0; i < kHalvings && !moved; ++i, step /= 2) {
      std::vector<double> theta(at.theta.size());
      Eigen::Map<Vector>(theta.data(), d.size()) = view(at.theta) + step * d;
      Point next = problem.evaluate(std::move(theta));
      if (lowers(next, at, step * promised)) {
        at = std::move(next);
        moved = true;
      }
    }
    if (!moved) break;
  }
  return {at.theta, at.gradient_bound(), iteration, descended};
}

Minimum certified_minimum(const ConvexProblem& problem, double tolerance,
                          MinimiserOptions options) {
  MinimiserOptions first = options;
  first.iterations = std::min(options.iterations, kDirectSteps);
  Minimum found = minimise(problem, tolerance, {}, first);
  if (found.gradient_bound <= tolerance) return found;

  // Each minimiser is close to the next: J(θ) ≤ J_s(θ) ≤ J_s(0) = J(0) all the way, as for a
  // descent from 0.
  std::vector<double> theta;
  for (double ridge = problem.smoothness(); ridge > problem.ridge(); ridge /= kWeaker) {
    const double norm =
        Eigen::Map<const Vector>(theta.data(), static_cast<Eigen::Index>(theta.size())).norm();
    theta = minimise(problem.with_ridge(ridge), std::max(tolerance, kLoose * ridge * (1 + norm)),
                     std::move(theta), options)
                .theta;
  }
  found = minimise(problem, tolerance, std::move(theta), options);

  const double step = 1 / problem.smoothness();
  while (!(found.gradient_bound <= tolerance)) {
    Point at = problem.evaluate(std::move(found.theta));
    for (int i = 0; i < kPlainSteps && !(at.gradient_bound() <= tolerance); ++i) {
      std::vector<double> next(at.theta.size());
      for (std::size_t j = 0; j < next.size(); ++j) next[j] = at.theta[j] - step * at.gradient[j];
      at = problem.evaluate(std::move(next));
    }
    found = minimise(problem, tolerance, std::move(at.theta), options);
  }
  return found;
}

}  // namespace sotto
