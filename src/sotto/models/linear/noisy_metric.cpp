#include "sotto/models/linear/detail/noisy_metric.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

constexpr double kEnoughRows = 1 << 18;  // a bound on the curvature needs no more

constexpr double kMetricUnit = GradientRows::kSecondUnit;

LatticeNoise metric_noise(Relation relation, std::size_t dimension, double rho,
                          std::uint64_t contributions) {
  const double moves =
      relation == Relation::replace_one ? std::nextafter(std::sqrt(2.0), 2.0) : 1.0;
  const double steps = std::nextafter(moves * static_cast<double>(contributions) / kMetricUnit,
                                      std::numeric_limits<double>::infinity());
  return {relation,
          Budget::zcdp(rho),
          kMetricUnit,
          {.l1 = steps, .l2 = steps},
          dimension * (dimension + 1) / 2};
}

}  // namespace

NoisyMetric::NoisyMetric(Relation relation, std::size_t dimension, double rho,
                         std::uint64_t contributions, bool some)
    : dimension_(dimension),
      some_(some),
      noise_(metric_noise(relation, dimension, rho, contributions)) {}

double NoisyMetric::share(double declared_rows) const {
  return some_ ? std::min(1.0, kEnoughRows / declared_rows) : 1;
}

std::vector<int128> NoisyMetric::release(const GradientRows& rows, double declared_rows, Rng& rng,
                                         unsigned threads) const {
  return noise_.add(rows.second_moments(share(declared_rows), threads), rng);
}

std::vector<double> NoisyMetric::inverse(const std::vector<int128>& released, double curvature,
                                         double declared_rows, double ridge,
                                         std::span<const double> paces) const {
  const auto d = static_cast<Eigen::Index>(dimension_);
  const double summed_rows = share(declared_rows) * declared_rows;
  const double scale = curvature * kMetricUnit / summed_rows;
  Eigen::VectorXd stretch = Eigen::VectorXd::Ones(d);
  for (Eigen::Index j = 0; !paces.empty() && j < d; ++j)
    stretch[j] = std::sqrt(paces[static_cast<std::size_t>(j)]);
  Eigen::MatrixXd bound(d, d);
  std::size_t at = 0;
  for (Eigen::Index i = 0; i < d; ++i) {
    for (Eigen::Index j = i; j < d; ++j)
      bound(i, j) = bound(j, i) =
          static_cast<double>(released[at++]) * scale * stretch[i] * stretch[j];
  }
  const double spectrum =
      noise_.scale() * std::sqrt(static_cast<double>(dimension_)) * curvature / summed_rows;
  const double floor = std::max(ridge, spectrum);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(bound);
  if (solver.info() != Eigen::Success)
    invariant_broken("the eigenvectors of the noisy metric were not found");
  const Eigen::VectorXd inverse = (solver.eigenvalues().cwiseMax(0).array() + floor).inverse();
  const Eigen::MatrixXd stretched = stretch.asDiagonal() * solver.eigenvectors();
  std::vector<double> result(dimension_ * dimension_);
  Eigen::Map<Eigen::MatrixXd>(result.data(), d, d).noalias() =
      stretched * inverse.asDiagonal() * stretched.transpose();
  return result;
}

}  // namespace sotto
