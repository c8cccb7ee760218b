#include "sotto/models/linear/detail/sufficient_statistics.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

// Shares of the budget: the smallest eigenvalue needs little.
constexpr double kSmallestShare = 0.1, kSecondShare = 0.5, kCrossShare = 0.4;
constexpr double kTail =
    2;  // standard deviations by which the noisy smallest eigenvalue is lowered (utility only)
constexpr double kMomentUnit = ExactRows::Moments::unit();
// 181² ≤ 2·128²: entries off the diagonal times 181/128, then the triangle is no longer than the
// matrix and their noise is smaller.
constexpr std::int64_t kMomentDiagonal = 128, kMomentOff = 181;
constexpr double kSecondUnit = kMomentUnit / static_cast<double>(kMomentDiagonal);

LatticeNoise moment_noise(Relation relation, double rho, double share, double sensitivity,
                          std::size_t dimension, double unit = kMomentUnit) {
  const double steps = std::nextafter(sensitivity / unit, std::numeric_limits<double>::infinity());
  return {relation, Budget::zcdp(rho).part(share), unit, {.l1 = steps, .l2 = steps}, dimension};
}

std::size_t checked(std::size_t dimension) {
  if (dimension <= SufficientStatisticsPlan::kMaximalDimension) return dimension;
  throw Unsupported(
      fmt::format("sufficient statistics take at most {} coordinates, the rows have {}",
                  SufficientStatisticsPlan::kMaximalDimension, dimension),
      "use `method` gradient");
}

// The entries of a triangle times their weights, and noisy ones without them.
std::vector<int128> weighted(std::vector<int128> triangle, std::size_t p) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < p; ++i) {
    for (std::size_t j = i; j < p; ++j) triangle[at++] *= i == j ? kMomentDiagonal : kMomentOff;
  }
  return triangle;
}
std::vector<double> unweighted(const std::vector<int128>& triangle, std::size_t p) {
  std::vector<double> values;
  values.reserve(triangle.size());
  for (std::size_t i = 0; i < p; ++i) {
    for (std::size_t j = i; j < p; ++j)
      values.push_back(static_cast<double>(triangle[values.size()]) * kMomentUnit /
                       static_cast<double>(i == j ? kMomentDiagonal : kMomentOff));
  }
  return values;
}

std::vector<double> natural(const std::vector<int128>& steps) {
  std::vector<double> values(steps.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<double>(steps[i]) * kMomentUnit;
  return values;
}

Eigen::MatrixXd symmetric(const std::vector<double>& triangle, Eigen::Index p) {
  Eigen::MatrixXd m(p, p);
  std::size_t at = 0;
  for (Eigen::Index i = 0; i < p; ++i) {
    for (Eigen::Index j = i; j < p; ++j) m(i, j) = m(j, i) = triangle[at++];
  }
  return m;
}

double smallest_eigenvalue(const std::vector<int128>& triangle, Eigen::Index p) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(symmetric(natural(triangle), p),
                                                              Eigen::EigenvaluesOnly);
  // An unconverged number has no sensitivity: fail closed.
  if (solver.info() != Eigen::Success)
    invariant_broken("the eigenvalues of the second moments were not found; nothing was released");
  return solver.eigenvalues()[0];
}

}  // namespace

SufficientStatisticsPlan::SufficientStatisticsPlan(Relation relation, std::size_t dimension,
                                                   double rho, std::uint64_t contributions,
                                                   unsigned threads)
    : relation_(relation),
      dimension_(checked(dimension)),
      threads_(threads),
      smallest_(moment_noise(
          relation, rho, kSmallestShare,
          static_cast<double>(contributions) + static_cast<double>(dimension) * 0x1p-16, 1)),
      second_(moment_noise(relation, rho, kSecondShare,
                           static_cast<double>(contributions) *
                               (relation == Relation::replace_one ? std::sqrt(2.0) : 1.0),
                           dimension * (dimension + 1) / 2, kSecondUnit)),
      cross_(moment_noise(relation, rho, kCrossShare,
                          static_cast<double>(contributions) * contribution_factor(relation),
                          dimension)) {}

Event SufficientStatisticsPlan::event() const {
  return compose({smallest_.event(), second_.event(), cross_.event()});
}

std::string SufficientStatisticsPlan::describe() const {
  return fmt::format(
      "noisy sufficient statistics (smallest eigenvalue, second moments, cross moments; Gaussian "
      "noise of standard deviation "
      "{:.4g}, {:.4g}, {:.4g}) and an adaptive ridge",
      smallest_.scale(), second_.scale(), cross_.scale());
}

RecordSums SufficientStatisticsPlan::sums(const ExactRows& part, unsigned threads) const {
  if (part.dimension() != dimension_) invariant_broken("rows of another dimension than planned");
  ExactRows::Moments moments = part.moments(threads);
  return {std::move(moments.second), std::move(moments.cross), part.size()};
}

Release<LinearModel> SufficientStatisticsPlan::release(const ExactRows& encoding,
                                                       const RecordSums& sums, Rng& rng) const {
  if (sums.records > (std::uint64_t{1} << 32))
    throw DataError("sufficient statistics take at most 2^32 rows");
  const auto p = static_cast<Eigen::Index>(dimension_);
  const double d = static_cast<double>(dimension_);

  const std::vector<int128> smallest = {
      static_cast<int128>(std::floor(smallest_eigenvalue(sums.second, p) / kMomentUnit))};
  const double noisy_smallest = natural(smallest_.add(smallest, rng))[0];
  const Eigen::MatrixXd second =
      symmetric(unweighted(second_.add(weighted(sums.second, dimension_), rng), dimension_), p);
  const std::vector<double> cross = natural(cross_.add(sums.cross, rng));

  const double certain = std::max(0.0, noisy_smallest - kTail * smallest_.scale());
  // The matrix of noise has entries of this size off its diagonal, where nearly all of them are.
  const double sigma =
      second_.scale() * static_cast<double>(kMomentDiagonal) / static_cast<double>(kMomentOff);
  const double ridge = std::max(0.0, sigma * std::sqrt(d) - certain);
  // Half the spectral radius of the noise: eigenvalues may still fall below 0, and are trimmed.
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> spectrum(second);
  if (spectrum.info() != Eigen::Success)
    invariant_broken("the eigenvectors of the noisy second moments were not found");
  const Eigen::ArrayXd eigenvalues = spectrum.eigenvalues().array().max(0.0) + ridge;
  const Eigen::Map<const Eigen::VectorXd> right(cross.data(), p);
  Eigen::ArrayXd along = (spectrum.eigenvectors().transpose() * right).array();
  for (Eigen::Index i = 0; i < p; ++i)
    along[i] = eigenvalues[i] > 0 ? along[i] / eigenvalues[i] : 0;
  const Eigen::VectorXd theta = spectrum.eigenvectors() * along.matrix();

  LinearModel model{.loss = Loss::squared,
                    .features = dimension_ - (encoding.intercept() != 0 ? 1 : 0),
                    .outputs = 1,
                    .norm_bound = encoding.norm_bound(),
                    .scale = encoding.scale(),
                    .intercept = encoding.intercept(),
                    .weights = std::vector<double>(theta.data(), theta.data() + p)};
  return {std::move(model), *this};
}

}  // namespace sotto
