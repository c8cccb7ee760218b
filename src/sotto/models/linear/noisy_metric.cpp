#include "sotto/models/linear/detail/noisy_metric.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/core/error.hpp"
#include "sotto/models/linear/detail/exact_kernels.hpp"

namespace sotto {
namespace {

constexpr double kEnoughRows = 1 << 17;  // a bound on the curvature needs no more

// Whether a record is among those that make up the metric: a public function of the record itself,
// so that no other record's part changes when it comes or goes.
ExactRows::Choice by_hash(double share) {
  if (share >= 1) return {};
  return [share](std::span<const float> row) {
    return static_cast<double>(detail::hash_of(row.data(), row.size()) >> 11) * 0x1p-53 < share;
  };
}

constexpr double kUnit = ExactRows::Moments::unit();

LatticeNoise noise(Relation relation, std::size_t dimension, double rho,
                   std::uint64_t contributions) {
  const double moves =
      relation == Relation::replace_one ? std::nextafter(std::sqrt(2.0), 2.0) : 1.0;
  const double steps = std::nextafter(moves * static_cast<double>(contributions) / kUnit,
                                      std::numeric_limits<double>::infinity());
  return {relation,
          Budget::zcdp(rho),
          kUnit,
          {.l1 = steps, .l2 = steps},
          dimension * (dimension + 1) / 2};
}

}  // namespace

NoisyMetric::NoisyMetric(Relation relation, std::size_t dimension, double rho,
                         std::uint64_t contributions)
    : dimension_(dimension), noise_(noise(relation, dimension, rho, contributions)) {}

std::vector<double> NoisyMetric::inverse(const ExactRows& rows, double curvature,
                                         double declared_rows, double ridge, Rng& rng,
                                         unsigned threads) const {
  const double share = std::min(1.0, kEnoughRows / declared_rows);
  const std::vector<int128> noisy = noise_.add(rows.moments(threads, by_hash(share)).second, rng);
  const auto d = static_cast<Eigen::Index>(dimension_);
  const double scale = curvature * kUnit / (share * declared_rows);
  Eigen::MatrixXd bound(d, d);
  std::size_t at = 0;
  for (Eigen::Index i = 0; i < d; ++i) {
    for (Eigen::Index j = i; j < d; ++j)
      bound(i, j) = bound(j, i) = static_cast<double>(noisy[at++]) * scale;
  }
  const double spectrum = 2 * noise_.scale() * std::sqrt(static_cast<double>(dimension_)) *
                          curvature / (share * declared_rows);
  const double floor = std::max(ridge, spectrum);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(bound);
  if (solver.info() != Eigen::Success)
    invariant_broken("the eigenvectors of the noisy metric were not found");
  const Eigen::VectorXd inverse = (solver.eigenvalues().cwiseMax(0).array() + floor).inverse();
  std::vector<double> result(dimension_ * dimension_);
  Eigen::Map<Eigen::MatrixXd>(result.data(), d, d).noalias() =
      solver.eigenvectors() * inverse.asDiagonal() * solver.eigenvectors().transpose();
  return result;
}

}  // namespace sotto
