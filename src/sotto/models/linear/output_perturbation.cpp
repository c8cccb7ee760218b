#include "sotto/models/linear/detail/output_perturbation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"
#include "sotto/models/linear/detail/minimiser.hpp"
#include "sotto/models/linear/detail/non_private_fit.hpp"

namespace sotto {
namespace {

constexpr double kShareOfCovering = 0.01;          // of the budget
constexpr double kSmallestRegularisation = 1e-10;  // below, Newton's equations are ill-conditioned
constexpr double kMoreRows = 4;                    // than declared

// Λ² × the variance of a coordinate of the noise: what the noise would be at Λ = 1.
double unit_variance(const Budget& budget, double sensitivity, double size) {
  const double multiplier = std::visit(
      overloaded{[&](const PureBudget& b) { return std::sqrt(size + 1) / b.epsilon.value(); },
                 [&](const ApproximateBudget& b) { return gaussian_sigma(b.epsilon, b.delta); },
                 [&](const ZcdpBudget& b) { return 1 / std::sqrt(2 * b.rho.value()); }},
      budget.kind());
  return sensitivity * multiplier * sensitivity * multiplier;
}

}  // namespace

double minimiser_tolerance(ProblemSize problem) {
  const double wide = std::max(1.0, static_cast<double>(problem.dimension) / 1024);
  const double usual = 0x1p-34 * (problem.rows * wide + problem.linear_norm + 64);
  // Whether a minimiser can be certified must not depend on the data: no θ on the way to it and no
  // number of rows that count may leave more rounding than a quarter of this.
  problem.rows = static_cast<double>(most_rows(problem.rows));
  problem.linear_norm *= kLongerNoise;
  return std::max(usual, 4 * problem.gradient_error(problem.largest_theta()));
}

std::size_t most_rows(double declared) { return static_cast<std::size_t>(kMoreRows * declared); }

std::vector<std::string> minimiser_assumptions(Relation relation) {
  if (count_is_public(relation)) return {};
  return {fmt::format(
      "there are at most {} times the declared rows: of more only the first are used, and one "
      "record more or less then counts as two",
      kMoreRows)};
}

OutputPerturbationPlan::OutputPerturbationPlan(OutputPerturbationOptions options, Relation relation,
                                               std::uint64_t rows, std::size_t dimension,
                                               const Budget& budget)
    : options_(options), relation_(relation), dimension_(dimension) {
  if (options.outputs == 0) throw InvalidArgument("outputs is 0; it must be at least 1");
  if (rows == 0) throw InvalidArgument("the declared number of rows is 0; it must be at least 1");
  if (dimension == 0) throw InvalidArgument("the rows have no coordinates; they need at least one");
  const double slope = slope_norm(options.loss, options.outputs);
  if (slope == 0) {
    throw Unsupported(fmt::format("output perturbation needs a loss of bounded slope; {} has none",
                                  name(options.loss)),
                      "use sufficient_statistics or functional for regression");
  }
  if (!(options.regularisation >= 0 && std::isfinite(options.regularisation)) ||
      !(options.norm > 0)) {
    throw InvalidArgument(fmt::format(
        "regularisation is {} and norm is {}; they must be finite, at least 0 and above 0",
        options.regularisation, options.norm));
  }
  if (options.regularisation > 0 && options.regularisation < kSmallestRegularisation) {
    throw InvalidArgument(fmt::format("regularisation is {}; output perturbation needs at least {}",
                                      options.regularisation, kSmallestRegularisation),
                          "leave it out: a rule by public facts chooses it");
  }
  const std::size_t size = dimension * options.outputs;
  const double moved = slope * contribution_factor(relation), n = static_cast<double>(rows);
  ridge_ = options.regularisation > 0
               ? options.regularisation * n
               : std::cbrt(2 * curvature_trace(options.loss, options.outputs) * n *
                           unit_variance(budget, moved, static_cast<double>(size)) /
                           (options.norm * options.norm));
  tolerance_ = minimiser_tolerance({.loss = options.loss,
                                    .outputs = options.outputs,
                                    .dimension = dimension,
                                    .rows = n,
                                    .ridge = ridge_});
  most_rows_ = most_rows(n);
  sensitivity_ = (moved + 2 * tolerance_) / ridge_ * (1 + 0x1p-50);

  if (!budget.is_pure()) {
    gaussian_.emplace(relation, Sensitivity(sensitivity_, Norm::l2), budget, size);
    return;
  }
  const double whole = budget.part(1 - kShareOfCovering).pure_epsilon();
  const double ratio = 2 * SphericalLaplace(size, 1).log_ratio();
  if (!(whole > 2 * ratio))
    throw InvalidArgument(
        fmt::format("epsilon is {}; it is too small for {} parameters", whole, size));
  epsilon_ = whole;
  laplace_.emplace(size, sensitivity_ / (whole - ratio) * (1 + 0x1p-50));
  covering_.emplace(relation, budget.part(kShareOfCovering), laplace_->error(), size, 2);
}

Event OutputPerturbationPlan::event() const {
  if (gaussian_) return gaussian_->event();
  return compose({PureEvent{epsilon_}, covering_->event()});
}

double OutputPerturbationPlan::noise_scale() const {
  return gaussian_ ? gaussian_->noise().scale() : laplace_->scale();
}

std::string OutputPerturbationPlan::describe() const {
  return fmt::format(
      "output perturbation: minimum of the summed {} loss plus {:.4g}/2 times the squared norm "
      "(certified to a gradient of "
      "{:.3g}), sensitivity {:.4g} in l2 under {}, {} noise of scale {:.4g} on {} parameters",
      name(options_.loss), ridge_, tolerance_, sensitivity_, name(relation_),
      gaussian_ ? "discrete Gaussian" : "spherical Laplace", noise_scale(),
      dimension_ * options_.outputs);
}

std::vector<std::string> OutputPerturbationPlan::assumptions() const {
  return minimiser_assumptions(relation_);
}

Release<LinearModel> OutputPerturbationPlan::run(const ExactRows& rows, Rng& rng) const {
  if (rows.dimension() != dimension_) invariant_broken("rows of another dimension than planned");
  const ConvexProblem problem(rows, options_.loss, options_.outputs, ridge_, {}, options_.threads,
                              most_rows_);
  const Minimum minimum = certified_minimum(problem, tolerance_);

  std::vector<double> weights;
  if (gaussian_) {
    weights = gaussian_->run(minimum.theta, rng).value;
  } else {
    std::vector<int128> covering = covering_->draw(rng);
    auto scope = rng.query({.mechanism = "spherical_laplace",
                            .values = std::span<const double>(minimum.theta),
                            .sensitivity = sensitivity_,
                            .norm = Norm::l2,
                            .scale = laplace_->scale()});
    const std::vector<double> noise = laplace_->sample(rng);
    weights = covering_->release({minimum.theta, noise}, std::move(covering));
    scope.publish(std::span<double>(weights));
  }
  return {model_for(rows, options_.loss, options_.outputs, std::move(weights)), *this};
}

}  // namespace sotto
