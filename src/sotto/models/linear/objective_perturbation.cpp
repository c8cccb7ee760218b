#include "sotto/models/linear/detail/objective_perturbation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"
#include "sotto/models/linear/detail/minimiser.hpp"
#include "sotto/models/linear/detail/non_private_fit.hpp"
#include "sotto/models/linear/detail/output_perturbation.hpp"

namespace sotto {
namespace {

constexpr double kCoveringShare = 0.01;  // of the budget
constexpr double kCheap = 8;        // by the rule the determinant takes at most this part of ε
constexpr double kTolerable = 2;    // and for a ridge that was asked for at most this part
constexpr double kRounding = 1e-8;  // room for rounding, relative
constexpr double kStretch =
    1e-4;  // ρ: relative increase of the sensitivity that absorbs the lattice of b

// The smallest Λ at which the determinant costs at most this much, for losses where it is never
// free.
double ridge_for_price(const ObjectiveBound& bound, double price) {
  double low = 0x1p-40, high = 0x1p40;
  while (high > low * (1 + 1e-6)) {
    const double middle = std::sqrt(low * high);
    (bound.determinant(middle) <= price ? high : low) = middle;
  }
  return high;
}

// Λ at which the determinant is free, with room for the rounding of ε′.
double free_ridge(const ObjectiveBound& bound, double epsilon) {
  return bound.free_ridge(epsilon * (1 - kRounding)) * (1 + kRounding);
}

// The rule's lower limit of Λ, and that for a Λ that was asked for.
double sensible_ridge(const ObjectiveBound& bound, double epsilon) {
  const double free = free_ridge(bound, epsilon);
  return std::isfinite(free) ? free : ridge_for_price(bound, epsilon / kCheap);
}
double tolerable_ridge(const ObjectiveBound& bound, double epsilon) {
  return std::min(free_ridge(bound, epsilon), ridge_for_price(bound, epsilon / kTolerable));
}

double norm_of(const std::vector<double>& v) {
  double norm = 0;
  for (const double x : v) norm = std::hypot(norm, x);
  return norm;
}

}  // namespace

ObjectivePerturbationPlan::ObjectivePerturbationPlan(ObjectivePerturbationOptions options,
                                                     Relation relation, std::uint64_t rows,
                                                     std::size_t dimension, const Budget& budget)
    : options_(options), bound_{options.loss, options.outputs, relation}, dimension_(dimension) {
  if (options.outputs == 0) throw InvalidArgument("outputs is 0; it must be at least 1");
  if (rows == 0) throw InvalidArgument("the declared number of rows is 0; it must be at least 1");
  if (dimension == 0) throw InvalidArgument("the rows have no coordinates; they need at least one");
  if (slope_norm(options.loss, options.outputs) == 0) {
    throw Unsupported(
        fmt::format("objective perturbation needs a loss of bounded slope; {} has none",
                    name(options.loss)),
        "use sufficient_statistics or functional for regression");
  }
  if (!(options.regularisation >= 0 && std::isfinite(options.regularisation)) ||
      !(options.norm > 0)) {
    throw InvalidArgument(fmt::format(
        "regularisation is {} and norm is {}; they must be finite, at least 0 and above 0",
        options.regularisation, options.norm));
  }
  const double asked = options.regularisation * static_cast<double>(rows);
  const Budget main = budget.part(1 - kCoveringShare);
  std::visit(overloaded{[&](const PureBudget& b) { plan_pure(b.epsilon.value(), asked); },
                        [&](const ApproximateBudget& b) { plan_approximate(b, asked); },
                        [&](const ZcdpBudget& b) { plan_zcdp(b.rho.value(), asked); }},
             main.kind());
  const double noise_norm = noise_scale() * (laplace_ ? static_cast<double>(size())
                                                      : std::sqrt(static_cast<double>(size())));
  most_rows_ = most_rows(static_cast<double>(rows));
  longest_noise_ = kLongerNoise * noise_norm;
  tolerance_ = minimiser_tolerance({.loss = options.loss,
                                    .outputs = options.outputs,
                                    .dimension = dimension,
                                    .rows = static_cast<double>(rows),
                                    .ridge = ridge_,
                                    .linear_norm = noise_norm});
  const double error = laplace_ ? laplace_->error() : gaussian_->error();
  covering_.emplace(relation, budget.part(kCoveringShare),
                    (tolerance_ + error) / ridge_ * (1 + 0x1p-50), size());
}

void ObjectivePerturbationPlan::plan_pure(double epsilon, double asked_ridge) {
  const double ratio = 2 * SphericalLaplace(size(), 1).log_ratio(), available = epsilon - ratio;
  if (!(available > epsilon / 2)) {
    throw InvalidArgument(
        fmt::format("epsilon is {}; it is too small for {} parameters", epsilon, size()));
  }
  const double noise_norm = static_cast<double>(size()) * bound_.sensitivity() / available;
  ridge_ = asked_ridge > 0
               ? std::max(asked_ridge, tolerable_ridge(bound_, available))
               : std::max(noise_norm / options_.norm, sensible_ridge(bound_, available));
  double inner = available;
  if (ridge_ < bound_.free_ridge(available))
    inner = available * (1 - 1e-8) - bound_.determinant(ridge_);
  if (bound_.epsilon(ridge_, inner) > available)
    invariant_broken("a determinant that costs more than planned");
  laplace_.emplace(size(), bound_.sensitivity() / inner * (1 + 0x1p-50));
  ideal_ = PureEvent{epsilon};
}

void ObjectivePerturbationPlan::plan_approximate(const ApproximateBudget& budget,
                                                 double asked_ridge) {
  const double epsilon = budget.epsilon.value(), delta = budget.delta.value();
  // The lattice of b costs ε; its log ratio is the same for every σ up to a factor of two.
  const double ratio = 4 * SphericalGaussian(size(), 1).log_ratio(), available = epsilon - ratio;
  if (!(available > epsilon / 2)) {
    throw InvalidArgument(
        fmt::format("epsilon is {}; it is too small for {} parameters", epsilon, size()));
  }
  const double first = bound_.sensitivity() * gaussian_sigma(Epsilon(available), budget.delta);
  const double noise_norm = first * std::sqrt(static_cast<double>(size()));
  ridge_ = asked_ridge > 0
               ? std::max(asked_ridge, tolerable_ridge(bound_, available))
               : std::max(noise_norm / options_.norm, sensible_ridge(bound_, available));
  // The bound is not monotone in σ where Λ ≥ 2σ² is used: any σ that passes will do, the search
  // keeps one that does.
  double low = 0, high = first;
  const auto enough = [&](double sigma) {
    return bound_.delta(ridge_, sigma, available) <= delta * (1 - ratio);
  };
  while (!enough(high)) {
    low = high;
    high *= 1.25;
    if (!(high < 1e6 * first)) {
      throw InvalidArgument(
          "no Gaussian noise gives this epsilon and delta with this regularisation",
          "raise the regularisation or delta");
    }
  }
  while (high > low * (1 + 1e-6)) {
    const double middle = (low + high) / 2;
    (enough(middle) ? high : low) = middle;
  }
  gaussian_.emplace(size(), high);
  ideal_ = ApproximateEvent{epsilon, delta};
}

void ObjectivePerturbationPlan::plan_zcdp(double rho, double asked_ridge) {
  if (bound_.loss != Loss::logistic || bound_.outputs != 1) {
    throw Unsupported("objective perturbation spends a rho on the binary logistic loss only",
                      "state the budget as epsilon and delta, or use another method");
  }
  // b as if continuous costs at most a Gaussian of a slightly larger sensitivity and a small pure ε
  // (docs/math, "A budget in rho").
  const double ratio = 4 * SphericalGaussian(size(), 1).log_ratio();
  const double lattice = ratio * (2 / kStretch + 1);
  const double stretched = bound_.sensitivity() * (1 + kStretch / 2) * (1 + kStretch / 2);
  // Below Λ = 2σ² the determinant costs 1/Λ − 1/(2σ²) as a pure ε; for replace_one this is not
  // proved.
  const double allowed = bound_.relation == Relation::replace_one ? 0 : std::sqrt(rho / kCheap);
  const double pure = allowed + lattice;
  if (!(lattice * lattice / 2 < rho / 8)) {
    throw InvalidArgument(fmt::format("rho is {}; it is too small for {} parameters", rho, size()));
  }
  const double sigma = stretched / std::sqrt(2 * rho - pure * pure) * (1 + 1e-12);
  const double mu = stretched / sigma;
  const double density = std::exp(-mu * mu / 8) / std::sqrt(8 * std::atan(1.0));
  if (!(density * mu * kStretch / (1 + kStretch) > 2 * ratio)) {
    throw InvalidArgument(
        fmt::format("rho is {}; objective perturbation cannot spend so much", rho),
        "state the budget as epsilon and delta");
  }
  ridge_ = std::max(
      {asked_ridge, (1 + kRounding) / (allowed + 1 / (2 * sigma * sigma)),
       asked_ridge > 0 ? 0.0 : sigma * std::sqrt(static_cast<double>(size())) / options_.norm});
  gaussian_.emplace(size(), sigma);
  ideal_ = compose({GaussianEvent{sigma, stretched, Basis::exact}, PureEvent{pure}});
}

Event ObjectivePerturbationPlan::event() const { return compose({*ideal_, covering_->event()}); }

double ObjectivePerturbationPlan::noise_scale() const {
  return laplace_ ? laplace_->scale() : gaussian_->sigma();
}

std::string ObjectivePerturbationPlan::describe() const {
  return fmt::format(
      "objective perturbation: minimum of the summed {} loss plus {:.4g}/2 times the squared norm "
      "plus a random linear term ({} of "
      "scale {:.4g} on {} parameters, sensitivity {:.4g} in l2 under {}), certified to a gradient "
      "of {:.3g}, which noise of scale "
      "{:.3g} covers",
      name(options_.loss), ridge_, laplace_ ? "spherical Laplace" : "Gaussian", noise_scale(),
      size(), bound_.sensitivity(), name(bound_.relation), tolerance_, covering_->scale());
}

std::vector<std::string> ObjectivePerturbationPlan::assumptions() const {
  return minimiser_assumptions(bound_.relation);
}

Release<LinearModel> ObjectivePerturbationPlan::run(const ExactRows& rows, Rng& rng) const {
  if (rows.dimension() != dimension_) invariant_broken("rows of another dimension than planned");
  std::vector<int128> covering = covering_->draw(rng);
  // What is noised is the gradient at the released point, which has no value before there is one:
  // announced as noise on a zero query.
  const std::vector<double> zero(size());
  auto scope = rng.query({.mechanism = laplace_ ? "objective_laplace" : "objective_gaussian",
                          .values = std::span<const double>(zero),
                          .sensitivity = bound_.sensitivity(),
                          .norm = Norm::l2,
                          .scale = noise_scale()});
  const std::vector<double> b = laplace_ ? laplace_->sample(rng) : gaussian_->sample(rng);
  // Less likely than one in 10^12, and no matter of the data.
  if (!(norm_of(b) <= longest_noise_))
    invariant_broken("noise longer than any that is planned for");
  const ConvexProblem problem(rows, options_.loss, options_.outputs, ridge_, b, options_.threads,
                              most_rows_);
  const Minimum minimum = certified_minimum(problem, tolerance_);
  std::vector<double> weights = covering_->release({minimum.theta}, std::move(covering));
  scope.publish(std::span<double>(weights));
  return {model_for(rows, options_.loss, options_.outputs, std::move(weights)), *this};
}

}  // namespace sotto
