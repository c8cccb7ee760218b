#include "sotto/models/linear/detail/limited_memory.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>

namespace sotto {
namespace {

using Vector = Eigen::VectorXd;
using Point = ConvexProblem::Point;

constexpr std::size_t kPairs = 20;
constexpr int kPatience = 100;        // steps in which the best gradient norm must halve
constexpr int kTrials = 40;           // evaluations along one line
constexpr double kSufficient = 1e-4;  // fraction of the promised decrease that a step must keep
constexpr double kFlatter = 0.9;      // fraction of the slope that may be left after a step
constexpr double kInside = 0.1;       // a trial keeps this fraction of the bracket on either side
constexpr double kLost = 0x1p-40;     // cosine below which the curvature of a pair is rounding

Eigen::Map<const Vector> vector_view(const std::vector<double>& v) {
  return {v.data(), static_cast<Eigen::Index>(v.size())};
}

// The inverse Hessian as the last steps showed it.
class Memory {
 public:
  void add(Vector step, Vector change) {
    const double curvature = step.dot(change);
    if (!(curvature > kLost * step.norm() * change.norm())) return;
    if (pairs_.size() == kPairs) pairs_.pop_front();
    scale_ = curvature / change.squaredNorm();
    pairs_.push_back({std::move(step), std::move(change), curvature});
  }
  void forget(double scale) {
    pairs_.clear();
    scale_ = scale;
  }
  bool empty() const { return pairs_.empty(); }

  Vector times(Vector v) const {
    std::vector<double> along(pairs_.size());
    for (std::size_t i = pairs_.size(); i-- > 0;) {
      along[i] = pairs_[i].step.dot(v) / pairs_[i].curvature;
      v -= along[i] * pairs_[i].change;
    }
    v *= scale_;
    for (std::size_t i = 0; i < pairs_.size(); ++i)
      v += (along[i] - pairs_[i].change.dot(v) / pairs_[i].curvature) * pairs_[i].step;
    return v;
  }

 private:
  struct Pair {
    Vector step, change;
    double curvature;
  };
  std::deque<Pair> pairs_;
  double scale_ = 1;
};

// The step along −∇J that would end at its minimum, were J a parabola.
double cauchy_step(const ConvexProblem& problem, const Point& at) {
  const auto product = problem.hessian_times(at.theta, at.gradient);
  return vector_view(at.gradient).squaredNorm() /
         vector_view(at.gradient).dot(vector_view(product));
}

// A point along d from `at` that meets the Wolfe conditions; none when rounding leaves none to be
// found.
std::optional<Point> search(const ConvexProblem& problem, const Point& at, const Vector& d) {
  const double start = d.dot(vector_view(at.gradient));
  if (!d.allFinite() || !(start < 0)) return std::nullopt;
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  double low = 0, high = kUnknown, low_slope = start, high_slope = kUnknown, step = 1;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> theta(at.theta.size());
    Eigen::Map<Vector>(theta.data(), d.size()) = vector_view(at.theta) + step * d;
    Point next = problem.evaluate(std::move(theta));
    const double slope = d.dot(vector_view(next.gradient));
    // Short of the minimum along the line J is below where it started, by convexity.
    if (slope <= 0 && slope >= kFlatter * start) return next;
    if (slope > 0 && slope <= -kFlatter * start && lowers(next, at, step * start)) return next;
    if (slope <= 0) {
      low = step;
      low_slope = slope;
    } else {  // too far, or not a number
      high = step;
      high_slope = std::isfinite(slope) ? slope : kUnknown;
    }
    if (high == kUnknown) {
      step *= 4;
      continue;
    }
    // Where the slope would vanish if it grew evenly; well inside the bracket.
    const double part = high_slope == kUnknown ? 0.5 : low_slope / (low_slope - high_slope);
    step = low + (high - low) * std::clamp(part, kInside, 1 - kInside);
  }
  return std::nullopt;
}

}  // namespace

bool lowers(const Point& next, const Point& at, double promised) {
  if (!std::isfinite(next.value) || !std::isfinite(next.gradient_norm())) return false;
  if (next.value <= at.value + kSufficient * promised) return true;
  return -promised <= 4 * (at.value_error + next.value_error) &&
         next.gradient_norm() <= (1 - kSufficient) * at.gradient_norm();
}

Descent descend(const ConvexProblem& problem, Point from, double tolerance, int maximal_steps) {
  Descent descent{std::move(from), 0};
  Point& at = descent.at;
  Memory memory;
  double best = at.gradient_norm();
  int waited = 0;
  while (descent.steps < maximal_steps && waited < kPatience &&
         !(at.gradient_bound() <= tolerance)) {
    if (memory.empty()) memory.forget(cauchy_step(problem, at));
    std::optional<Point> next = search(problem, at, memory.times(-vector_view(at.gradient)));
    if (!next) {
      if (memory.empty()) break;
      memory.forget(1);  // once more, from scratch
      continue;
    }
    memory.add(vector_view(next->theta) - vector_view(at.theta),
               vector_view(next->gradient) - vector_view(at.gradient));
    at = std::move(*next);
    ++descent.steps;
    ++waited;
    if (at.gradient_norm() <= best / 2) {
      best = at.gradient_norm();
      waited = 0;
    }
  }
  return descent;
}

}  // namespace sotto
