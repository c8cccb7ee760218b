#include "sotto/models/pca/detail/bingham.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/mechanisms/continuous_noise.hpp"
#include "sotto/noise/bernoulli.hpp"

namespace sotto {
namespace {

constexpr double kCoveringShare = 0x1p-7;
constexpr double kEigenvalueShare = 0x1p-20;  // of η, for each dimension

// How far a computed direction is from an ideal one. A Gaussian vector is known up to a cell of its
// lattice, and its length is at least 2^−6·√q (it is drawn again below that). Ω has eigenvalues
// from 1 to 1 + 2η·2^26 (b ≥ 1, since a₁ = 0), which stretches the one against the other by their
// root.
double direction_error(double eta, std::size_t dimension) {
  const double stretch = std::sqrt(1 + 2 * eta * BinghamPlan::kMostPoints);
  const double cells = SphericalGaussian(dimension, 1).error() /
                       (0x1p-6 * std::sqrt(static_cast<double>(dimension)));
  return 2 * cells * stretch + 64 * static_cast<double>(dimension) * 0x1p-52;
}

// b with Σ 1/(b + 2aᵢ) = 1, between 1 and the dimension; any b in between is right, this one fast.
double envelope(const Eigen::VectorXd& a) {
  double low = 1, high = static_cast<double>(a.size());
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    double sum = 0;
    for (Eigen::Index k = 0; k < a.size(); ++k) sum += 1 / (middle + 2 * a[k]);
    (sum > 1 ? low : high) = middle;
  }
  return high;
}

}  // namespace

Eigen::VectorXd bingham_direction(const Eigen::VectorXd& a, Rng& rng) {
  const auto q = static_cast<double>(a.size());
  const auto dimension = static_cast<std::size_t>(a.size());
  if (dimension == 1) {  // two directions, equally likely
    return Eigen::VectorXd::Constant(1, bernoulli(rng, 1, 2) ? 1.0 : -1.0);
  }
  const double b = envelope(a), peak = (q - b) / 2;
  const double most = -peak + q / 2 * std::log(q / b);
  const SphericalGaussian gaussian(dimension, 1);
  for (;;) {
    const std::vector<double> g = gaussian.sample(rng);
    Eigen::VectorXd z(a.size());
    double length = 0;
    for (Eigen::Index i = 0; i < a.size(); ++i) {
      length += g[static_cast<std::size_t>(i)] * g[static_cast<std::size_t>(i)];
      z[i] = g[static_cast<std::size_t>(i)] / std::sqrt(1 + 2 * a[i] / b);
    }
    if (length < 0x1p-12 * q) continue;  // depends on no direction
    z /= z.norm();
    double u = 0;
    for (Eigen::Index i = 0; i < a.size(); ++i) u += a[i] * z[i] * z[i];
    const double exponent = most + u - q / 2 * std::log1p(2 * u / b);
    if (bernoulli_exp(rng, std::max(0.0, exponent))) return z;
  }
}

BinghamPlan::BinghamPlan(Relation relation, std::uint64_t contributions, double epsilon,
                         std::size_t dimension)
    : relation_(relation),
      epsilon_(epsilon),
      sensitivity_((relation == Relation::replace_one ? std::sqrt(2.0) * (1 + 0x1p-40) : 1) *
                   static_cast<double>(contributions)),
      cover_(relation, Budget::pure(epsilon * kCoveringShare), direction_error(epsilon, dimension),
             dimension) {
  const double sides = contribution_factor(relation) * static_cast<double>(contributions);
  const double off = 2 * SphericalGaussian(dimension, 1).log_ratio() + 0x1p-30;
  const auto q = static_cast<double>(dimension);
  ideal_ = epsilon * (1 - kCoveringShare) * (1 - 0x1p-50);
  eta_ = (ideal_ - off) / (sides + 2 * q * kEigenvalueShare) * (1 - 0x1p-50);
  if (!(eta_ > 0))
    throw InvalidArgument(fmt::format("epsilon is {} for a direction in {} dimensions; it is too "
                                      "small to draw one",
                                      epsilon, dimension),
                          "raise epsilon, or ask for fewer components");
}

Event BinghamPlan::event() const { return compose({PureEvent{ideal_}, cover_.event()}); }

std::string BinghamPlan::describe() const {
  return fmt::format("exponential mechanism over directions: epsilon {:.4g} under {}", epsilon_,
                     name(relation_));
}

Release<Eigen::VectorXd> BinghamPlan::run(const Eigen::MatrixXd& scatter,
                                          std::span<const int128> steps, double step,
                                          const Eigen::MatrixXd& basis, Rng& rng) const {
  const std::vector<int128> covering = cover_.draw(rng);
  auto scope = rng.query({.mechanism = "bingham",
                          .values = steps,
                          .sensitivity = sensitivity_ / step * (1 + 0x1p-40),
                          .norm = Norm::l2,
                          .scale = 1 / eta_});
  const Eigen::MatrixXd inside = basis.transpose() * scatter * basis;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver((inside + inside.transpose()) / 2);
  const Eigen::VectorXd& values = solver.eigenvalues();
  const double top = values[values.size() - 1];
  Eigen::VectorXd a(values.size());
  for (Eigen::Index i = 0; i < a.size(); ++i) a[i] = std::max(0.0, eta_ * (top - values[i]));
  const Eigen::VectorXd direction = basis * (solver.eigenvectors() * bingham_direction(a, rng));
  const std::span<const double> found(direction.data(), static_cast<std::size_t>(direction.size()));
  std::vector<double> released = cover_.release({found}, covering);
  scope.publish(std::span<double>(released));
  return {Eigen::Map<Eigen::VectorXd>(released.data(), direction.size()), *this};
}

}  // namespace sotto
