#include "sotto/models/pca/detail/bingham.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/mechanisms/continuous_noise.hpp"
#include "sotto/noise/bernoulli.hpp"

namespace sotto {
namespace {

using Wide = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
using WideVector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;

constexpr double kCoveringShare = 0x1p-7;
// Of η: what the rounding of the scatter matrix to doubles costs, and of everything computed from
// it, for each pair of dimensions (docs/math/pca.md).
constexpr double kScatterShare = 0x1p-25, kProductShare = 0x1p-34;
constexpr long double kCrooked = 0.0625L;   // from which eigenvectors are not worth having
constexpr long double kMeasured = 1.0625L;  // room for the rounding of what is measured

// How far a computed direction is from an ideal one. A Gaussian vector is known up to a cell of its
// lattice, and its length is at least 2^−6·√q (it is drawn again below that). Ω has eigenvalues
// from 1 to 1 + 2η·2^26 (b ≥ 1), which stretches the one against the other by their root.
double direction_error(double eta, std::size_t dimension) {
  const double stretch = std::sqrt(1 + 2 * eta * BinghamPlan::kMostPoints);
  const double cells = SphericalGaussian(dimension, 1).error() /
                       (0x1p-6 * std::sqrt(static_cast<double>(dimension)));
  return 2 * cells * stretch + 64 * static_cast<double>(dimension) * 0x1p-52;
}

// b with Σ 1/(b + 2aᵢ) = 1, between 1 and the dimension; any b in between is right, this one fast.
long double envelope(const WideVector& a) {
  long double low = 1, high = static_cast<long double>(a.size());
  for (int i = 0; i < 100; ++i) {
    const long double middle = (low + high) / 2;
    long double sum = 0;
    for (Eigen::Index k = 0; k < a.size(); ++k) sum += 1 / (middle + 2 * a[k]);
    (sum > 1 ? low : high) = middle;
  }
  return high;
}

// Directions v = Vy to propose, and what is known about them.
struct Proposal {
  Wide vectors;      // V, near eigenvectors of S; any V near an orthogonal one is right
  WideVector roots;  // √D, D = I + 2A/b in their basis
  Wide above;        // Vᵀ(τI − S)V: yᵀ·above·y = τ‖v‖² − vᵀSv
  long double b = 1, most = 0;
};

// V from the solver, made more orthogonal by one Newton step; the identity where that is not near.
Wide near_eigenvectors(const Wide& s, long double& crooked) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(s.cast<double>());
  Wide identity = Wide::Identity(s.rows(), s.cols());
  const auto defect = [&](const Wide& v) { return (v.transpose() * v - identity).norm(); };
  Wide v = solver.eigenvectors().cast<long double>();
  if (defect(v) <= kCrooked) v = (v * (3 * identity - v.transpose() * v) / 2).eval();
  crooked = defect(v);
  if (crooked <= kCrooked) return v;
  crooked = 0;
  return identity;
}

Proposal proposal(const Wide& s, long double eta) {
  Proposal p;
  const auto q = static_cast<long double>(s.rows());
  const long double unit = q * q * 0x1p-62L;  // of what sums of q products round, generously
  long double crooked = 0;
  p.vectors = near_eigenvectors(s, crooked);
  const Wide inside = p.vectors.transpose() * s * p.vectors;
  const WideVector values = inside.diagonal();
  const long double size = s.norm();
  const long double delta = kMeasured * crooked + unit;
  const Wide near = p.vectors * values.asDiagonal() * p.vectors.transpose();
  const long double residual = kMeasured * (s - near).norm() + unit * size;
  const long double top = values.maxCoeff() + size * delta + residual;  // ≥ all eigenvalues of S
  const WideVector a = eta * (WideVector::Constant(values.size(), top) - values);
  p.b = envelope(a.cwiseMax(0));
  const WideVector d = WideVector::Ones(a.size()) + 2 * a.cwiseMax(0) / p.b;
  p.roots = d.cwiseSqrt();
  p.above = top * (p.vectors.transpose() * p.vectors) - inside;
  // ln(vᵀΩv) ≤ ln(1 + 2u/b) + slack for Ω of this V (docs/math/pca.md).
  const long double slack = delta + 2 * eta / p.b * (std::fabs(top) * delta + residual) +
                            3 * std::sqrt(d.maxCoeff()) * delta;
  const long double peak = (q - p.b) / 2;
  p.most = -peak + q / 2 * std::log(q / p.b) + q / 2 * slack;
  return p;
}

Eigen::VectorXd draw(const Wide& s, long double eta, Rng& rng) {
  const auto dimension = static_cast<std::size_t>(s.rows());
  if (dimension == 1) {  // two directions, equally likely
    return Eigen::VectorXd::Constant(1, bernoulli(rng, 1, 2) ? 1.0 : -1.0);
  }
  const Proposal p = proposal(s, eta);
  const auto q = static_cast<long double>(dimension);
  const SphericalGaussian gaussian(dimension, 1);
  for (;;) {
    const std::vector<double> drawn = gaussian.sample(rng);
    const WideVector g =
        Eigen::Map<const Eigen::VectorXd>(drawn.data(), s.rows()).cast<long double>();
    if (g.squaredNorm() < 0x1p-12L * q) continue;  // depends on no direction
    WideVector y = g.cwiseQuotient(p.roots);
    const WideVector v = p.vectors * y;
    const long double length = v.squaredNorm();
    y /= std::sqrt(length);
    const long double u = eta * y.dot(p.above * y);
    const long double omega = g.squaredNorm() / length;  // vᵀΩv
    const long double exponent = p.most + u - q / 2 * std::log(omega);
    if (bernoulli_exp(rng, std::max(0.0, static_cast<double>(exponent))))
      return (v / std::sqrt(length)).cast<double>();
  }
}

}  // namespace

Eigen::VectorXd bingham_direction(const Eigen::MatrixXd& exponent, Rng& rng) {
  return draw(exponent.cast<long double>(), 1, rng);
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
  eta_ = (ideal_ - off) / (sides * (1 + 0x1p-40) + kScatterShare + q * q * kProductShare) *
         (1 - 0x1p-50);
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
  const Wide wide = basis.cast<long double>();
  const Wide inside = wide.transpose() * scatter.cast<long double>() * wide;
  const Eigen::VectorXd direction = basis * draw((inside + inside.transpose()) / 2, eta_, rng);
  const std::span<const double> found(direction.data(), static_cast<std::size_t>(direction.size()));
  std::vector<double> released = cover_.release({found}, covering);
  scope.publish(std::span<double>(released));
  return {Eigen::Map<Eigen::VectorXd>(released.data(), direction.size()), *this};
}

}  // namespace sotto
