#include "sotto/models/linear/detail/functional_mechanism.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/models/linear/detail/non_private_fit.hpp"

namespace sotto {
namespace {

constexpr double kTermUnit = ExactRows::Moments::unit();
constexpr int kTargetBits = 16;  // of targets: their sums come in the same unit
// 181² ≤ 2·128²: entries off the diagonal times 181/128, then the triangle is no longer than the
// matrix.
constexpr std::int64_t kDiagonal = 128, kOff = 181;

double up(double value) { return std::nextafter(value, 2 * value); }

FunctionalOptions settled(FunctionalOptions options, std::uint64_t rows, std::size_t dimension,
                          const Budget& budget) {
  if (std::holds_alternative<ApproximateBudget>(budget.kind()))
    throw InvalidArgument("the functional mechanism takes a pure epsilon or a rho");
  if (options.loss == Loss::huber_hinge) {
    throw Unsupported("the functional mechanism needs a loss close to a parabola; the hinge is not",
                      "use `model` logistic, or another method");
  }
  if (rows == 0) throw InvalidArgument("the declared number of rows is 0; it must be at least 1");
  if (dimension == 0) throw InvalidArgument("the rows have no coordinates; they need at least one");
  if (dimension > FunctionalPlan::kMaximalDimension) {
    throw Unsupported(
        fmt::format("the functional mechanism takes at most {} coordinates, the rows have {}",
                    FunctionalPlan::kMaximalDimension, dimension),
        "use `method` gradient or objective");
  }
  if (options.outputs == 0 || options.contributions == 0)
    throw InvalidArgument("outputs or contributions is 0; both must be at least 1");
  if (!(options.radius > 0) || !(options.regularisation >= 0)) {
    throw InvalidArgument(
        fmt::format("radius is {} and regularisation is {}; they must be above 0 and at least 0",
                    options.radius, options.regularisation));
  }
  if (options.active == 0 || options.active > dimension) options.active = dimension;
  return options;
}

// Natural units, between neighbours.
Distance second_distance(const FunctionalOptions& o, Relation relation) {
  const auto k = static_cast<double>(o.contributions), s = static_cast<double>(o.active);
  const bool replace = relation == Relation::replace_one;
  return {.l1 = k * (s + 1) / 2 * (replace ? 2 : 1), .l2 = k * (replace ? std::sqrt(2.0) : 1.0)};
}
Distance cross_distance(const FunctionalOptions& o, Relation relation) {
  const double k = static_cast<double>(o.contributions) * contribution_factor(relation);
  return {.l1 = k * std::sqrt(static_cast<double>(o.active)), .l2 = k};
}

LatticeNoise term_noise(Relation relation, const Budget& budget, double unit, Distance natural,
                        std::size_t dimension) {
  return {relation,
          budget.part(0.5),
          unit,
          {.l1 = up(natural.l1 / unit), .l2 = up(natural.l2 / unit)},
          dimension};
}

// Steps of the scaled lattice in which the second moments are noised when the noise is Gaussian.
double second_unit(const Budget& budget) {
  return budget.is_pure() ? kTermUnit : kTermUnit / static_cast<double>(kDiagonal);
}

void check_active(const ExactRows& rows, std::size_t active) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = rows.row(i);
    const auto others = static_cast<std::size_t>(
        std::count_if(row.begin(), row.end(), [](float v) { return v != 0; }));
    if (others > active) invariant_broken("a row with more coordinates than its schema allows");
  }
}

// Σ t ⊗ x in units of kUnit: t is the target itself or the unit vector of its class.
std::vector<int128> target_sums(const ExactRows& rows, std::size_t outputs, unsigned threads) {
  const std::vector<double> zero(rows.dimension() * outputs);
  const auto slopes = [&](std::span<const double>, std::size_t first, std::size_t count,
                          std::span<double> out) {
    for (std::size_t i = 0; i < count; ++i) {
      const double y = rows.target(first + i);
      for (std::size_t k = 0; k < outputs; ++k) {
        out[k * count + i] =
            outputs == 1 ? std::clamp(y, -1.0, 1.0) : (y == static_cast<double>(k) ? 1.0 : 0.0);
      }
    }
  };
  return rows.weighted_sum(zero, outputs, slopes, {.norm = 1, .bits = kTargetBits}, threads);
}

}  // namespace

double logistic_parabola(double radius) {
  const double node = radius * std::sqrt(0.75);  // the nodes are 0 and ±this
  const double rise = node / 2 + std::log1p(std::exp(-node)) - std::log(2.0);
  return rise / (node * node);
}

FunctionalPlan::FunctionalPlan(FunctionalOptions options, Relation relation, std::uint64_t rows,
                               std::size_t dimension, const Budget& budget)
    : options_(settled(options, rows, dimension, budget)),
      dimension_(dimension),
      second_(term_noise(relation, budget, second_unit(budget), second_distance(options_, relation),
                         dimension * (dimension + 1) / 2)),
      cross_(term_noise(relation, budget, kTermUnit, cross_distance(options_, relation),
                        dimension * options_.outputs)) {
  const double deviation = second_.scale() * (second_.gaussian() ? 1 : std::sqrt(2.0));
  ridge_ = options_.regularisation > 0 ? options_.regularisation * static_cast<double>(rows)
                                       : deviation * std::sqrt(static_cast<double>(dimension));
}

std::string FunctionalPlan::describe() const {
  return fmt::format(
      "functional mechanism: the {} loss as a quadratic function, discrete {} noise of scale "
      "{:.4g} "
      "on {} second moments and {:.4g} on {} target sums; negative eigenvalues trimmed, ridge "
      "{:.4g}",
      name(options_.loss), second_.gaussian() ? "Gaussian" : "Laplace", second_.scale(),
      second_.dimension(), cross_.scale(), cross_.dimension(), ridge_);
}

RecordSums FunctionalPlan::sums(const ExactRows& part, unsigned threads) const {
  if (part.dimension() != dimension_) invariant_broken("rows of another dimension than planned");
  check_active(part, options_.active);
  return {part.moments(threads).second, target_sums(part, options_.outputs, threads), part.size()};
}

Release<LinearModel> FunctionalPlan::release(const ExactRows& encoding, const RecordSums& sums,
                                             Rng& rng) const {
  const auto p = static_cast<Eigen::Index>(dimension_);
  const auto outputs = static_cast<Eigen::Index>(options_.outputs);

  std::vector<int128> second = sums.second;
  const bool scaled = second_.gaussian();
  const auto weight = [&](Eigen::Index i, Eigen::Index j) {
    return scaled ? (i == j ? kDiagonal : kOff) : 1;
  };
  std::size_t at = 0;
  for (Eigen::Index i = 0; i < p; ++i) {
    for (Eigen::Index j = i; j < p; ++j) second[at++] *= weight(i, j);
  }
  const std::vector<int128> noisy_second = second_.add(second, rng);
  const std::vector<int128> noisy_cross = cross_.add(sums.cross, rng);

  Eigen::MatrixXd quadratic(p, p), linear(p, outputs);
  at = 0;
  for (Eigen::Index i = 0; i < p; ++i) {
    for (Eigen::Index j = i; j < p; ++j) {
      quadratic(i, j) = quadratic(j, i) =
          static_cast<double>(noisy_second[at++]) * kTermUnit / static_cast<double>(weight(i, j));
    }
  }
  at = 0;
  for (Eigen::Index k = 0; k < outputs; ++k) {
    for (Eigen::Index i = 0; i < p; ++i)
      linear(i, k) = static_cast<double>(noisy_cross[at++]) * kTermUnit;
  }
  // Squared: Mθ = c. Logistic with a·z² for the even part: 2aMθ = c/2. Softmax: (8a/K)Mθ_k = C_k −
  // mean of C.
  double factor = 1;
  if (options_.loss == Loss::logistic) {
    factor = 4 * logistic_parabola(options_.radius);
    if (outputs > 1) {
      factor *= 2.0 / static_cast<double>(outputs);
      linear = (linear.colwise() - linear.rowwise().mean()).eval();
    }
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> spectrum(quadratic);
  if (spectrum.info() != Eigen::Success)
    invariant_broken("the eigenvectors of the noisy objective were not found");
  const Eigen::ArrayXd trimmed = factor * (spectrum.eigenvalues().array().max(0.0) + ridge_);
  const Eigen::MatrixXd theta =
      spectrum.eigenvectors() * (spectrum.eigenvectors().transpose() * linear)
                                    .cwiseQuotient(trimmed.matrix().replicate(1, outputs));
  std::vector<double> weights(theta.data(), theta.data() + theta.size());
  return {model_for(encoding, options_.loss, options_.outputs, std::move(weights)), *this};
}

}  // namespace sotto
