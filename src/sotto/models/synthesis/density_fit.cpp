#include "sotto/models/synthesis/detail/density_fit.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace sotto {
namespace {

constexpr std::size_t kPlaces = 64;
constexpr double kStiffness = 0.01;
constexpr double kAnywhere = 0.002;  // of the mass: as likely in one place as in another
constexpr double kFree = 3;          // counts that a bell takes up: how many, where, how wide
constexpr int kMostSteps = 60;
constexpr double kSettled = 1e-4, kFirstDamping = 1e-3, kLeastDamping = 1e-6, kMostDamping = 1e8;

// Σ (third differences)² as a quadratic form that does not depend on how fine the grid is.
Eigen::MatrixXd stiffness(Eigen::Index places) {
  Eigen::MatrixXd form = Eigen::MatrixXd::Zero(places, places);
  const double weight = kStiffness * std::pow(static_cast<double>(places), 5);
  const double c[] = {-1, 3, -3, 1};
  for (Eigen::Index i = 0; i + 3 < places; ++i)
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < 4; ++b) form(i + a, i + b) += weight * c[a] * c[b];
  return form;
}

class Fit {
 public:
  Fit(std::span<const double> counts, double deviation, double total)
      : each_(static_cast<Eigen::Index>((kPlaces + counts.size() - 1) / counts.size())),
        parts_(static_cast<Eigen::Index>(counts.size())),
        stiff_(stiffness(parts_ * each_)),
        scale_(total / deviation),
        wanted_(Eigen::Map<const Eigen::VectorXd>(counts.data(), parts_) / deviation) {}

  Eigen::VectorXd shares() {
    start();
    double damping = kFirstDamping;
    for (int step = 0; step < kMostSteps && damping < kMostDamping; ++step) {
      const Eigen::VectorXd mass = of_parts(p_);
      Eigen::MatrixXd slope = Eigen::MatrixXd::Zero(parts_, theta_.size());
      for (Eigen::Index i = 0; i < parts_; ++i) {
        slope.row(i) = -scale_ * mass(i) * p_.transpose();
        slope.row(i).segment(i * each_, each_) += scale_ * p_.segment(i * each_, each_);
      }
      const Eigen::VectorXd gradient =
          slope.transpose() * (scale_ * mass - wanted_) + stiff_ * theta_;
      Eigen::MatrixXd curvature = slope.transpose() * slope + stiff_;
      curvature.diagonal().array() += damping;
      const Eigen::VectorXd theta = theta_ - curvature.ldlt().solve(gradient);
      const Eigen::VectorXd p = normalised(theta);
      const double cost = cost_of(theta, p);
      if (!(cost < cost_)) {
        damping *= 8;
        continue;
      }
      const bool settled = cost_ - cost < kSettled;
      theta_ = theta, p_ = p, cost_ = cost;
      damping = std::max(damping / 4, kLeastDamping);
      if (settled) break;
    }
    const auto places = static_cast<double>(p_.size());
    return ((1 - kAnywhere) * p_).array() + kAnywhere / places;
  }
  Eigen::VectorXd of_parts(const Eigen::VectorXd& p) const {
    return Eigen::Map<const Eigen::MatrixXd>(p.data(), each_, parts_).colwise().sum();
  }

 private:
  // The bell with the mean and the variance of the counts, where they have any.
  void start() {
    const Eigen::Index places = parts_ * each_;
    const auto middle = [](Eigen::Index i, Eigen::Index of) {
      return (static_cast<double>(i) + 0.5) / static_cast<double>(of);
    };
    double sum = 0, first = 0, second = 0;
    for (Eigen::Index i = 0; i < parts_; ++i) {
      const double y = std::max(0.0, wanted_(i)), x = middle(i, parts_);
      sum += y, first += y * x, second += y * x * x;
    }
    theta_ = Eigen::VectorXd::Zero(places);
    const double mean = sum > 0 ? first / sum : 0.5;
    const double least = 1 / static_cast<double>(parts_ * parts_);
    const double variance = std::max(least, sum > 0 ? second / sum - mean * mean : 1);
    for (Eigen::Index i = 0; i < places; ++i)
      theta_(i) = -std::pow(middle(i, places) - mean, 2) / (2 * variance);
    p_ = normalised(theta_);
    cost_ = cost_of(theta_, p_);
  }
  static Eigen::VectorXd normalised(const Eigen::VectorXd& theta) {
    const Eigen::VectorXd e = (theta.array() - theta.maxCoeff()).exp();
    return e / e.sum();
  }
  double cost_of(const Eigen::VectorXd& theta, const Eigen::VectorXd& p) const {
    return (scale_ * of_parts(p) - wanted_).squaredNorm() + theta.dot(stiff_ * theta);
  }

  Eigen::Index each_, parts_;
  Eigen::MatrixXd stiff_;
  double scale_;
  Eigen::VectorXd wanted_, theta_, p_;
  double cost_ = 0;
};

}  // namespace

double FittedDensity::at(double place) const {
  const auto size = static_cast<double>(places.size());
  return places[static_cast<std::size_t>(std::clamp(place * size, 0.0, size - 1))];
}

double FittedDensity::mass(std::size_t part) const {
  const std::size_t each = places.size() / parts.size();
  const auto first = places.begin() + static_cast<std::ptrdiff_t>(part * each);
  return std::accumulate(first, first + static_cast<std::ptrdiff_t>(each), 0.0);
}

FittedDensity fitted_density(std::span<const double> counts, double deviation, double total) {
  Fit fit(counts, deviation, total);
  const Eigen::VectorXd p = fit.shares();
  const Eigen::VectorXd smooth = total * fit.of_parts(p);
  double left = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    left += std::pow(counts[i] - smooth(static_cast<Eigen::Index>(i)), 2);
  const auto parts = static_cast<double>(counts.size());
  const double variance = deviation * deviation;
  const double kept =
      left > 0 ? std::max(0.0, 1 - std::max(1.0, parts - kFree) * variance / left) : 0;
  FittedDensity made;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double s = smooth(static_cast<Eigen::Index>(i));
    made.parts.push_back(s + kept * (counts[i] - s));
  }
  made.parts = reconciled(made.parts, std::vector<double>(counts.size(), 1.0), total);
  made.places.assign(p.data(), p.data() + p.size());
  made.deviation = deviation * std::sqrt(kept + (1 - kept) * std::min(1.0, kFree / parts));
  return made;
}

std::vector<double> reconciled(std::span<const double> counts, std::span<const double> variances,
                               double total) {
  std::vector<double> x(counts.begin(), counts.end());
  std::vector<bool> none(x.size());
  // What would be negative is 0, and the others are moved again: at most once for each.
  for (std::size_t round = 0; round <= x.size(); ++round) {
    double sum = 0, variance = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!none[i]) sum += counts[i], variance += variances[i];
    if (!(variance > 0)) break;
    bool changed = false;
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = none[i] ? 0 : counts[i] + (total - sum) * variances[i] / variance;
      if (x[i] < 0) x[i] = 0, none[i] = changed = true;
    }
    if (!changed) break;
  }
  return x;
}

}  // namespace sotto
