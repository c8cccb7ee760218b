#include "sotto/pate/sanitised.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/numeric/mills.hpp"
#include "sotto/core/numeric/outward.hpp"
#include "sotto/pate/detail/cost_table.hpp"
#include "sotto/pate/two_classes.hpp"

namespace sotto::pate {
namespace {

constexpr double kScaleStep = 0x1p-20;      // lattice of ln S / β
constexpr double kScaleMove = 1 + 0x1p-19;  // one, and rounding to the lattice
constexpr double kUnit = 0x1p40;
constexpr double kLargestFloor = .6;  // of their ε, for the least ε of a release of limited order
constexpr double kLargestShare = .5;  // of what the labels cost, for what the releases here cost

double scale_renyi(double sigma, double order) {
  return widen_up(order * kScaleMove * kScaleMove / (2 * sigma * sigma), 1e-12);
}

// ω of the truncated concentrated guarantee: a little above the order that is used.
double last_order(const SanitiseOptions& o) {
  const double end = 1 + 1 / std::expm1(2 * o.beta);
  return std::min(o.order * 1.01, (o.order + end) / 2);
}

// The least ρ with divergence at most ρα for 1 < α < ω: divergences grow with the order.
double linear_bound(const SanitiseOptions& o) {
  constexpr int kPieces = 4000;
  const double last = last_order(o);
  double rho = 0, left = 1;
  for (int i = 1; i <= kPieces; ++i) {
    const double right = 1 + (last - 1) * i / kPieces;
    rho = std::max(rho, gnss_renyi(o.beta, o.sigma, right) / left);
    left = right;
  }
  return widen_up(rho, 1e-12);
}

double one_sided(double confidence) {
  return normal_quantile_upper(std::log((1 - confidence) / 2));  // two statements share the risk
}

// How far above `epsilon` the upper bound lies.
double margin(const SanitiseOptions& o, double log_sensitivity) {
  const double z = one_sided(o.confidence);
  return z * o.sigma * std::exp(log_sensitivity + z * o.sigma_scale * o.beta);
}

// Made-up votes for the design.
Votes expected_votes(const LabelOptions& o, double agreement, std::vector<double>& weights) {
  const auto n = static_cast<std::int64_t>(o.teachers);
  Votes votes{.classes = o.classes, .teachers = o.teachers, .counts = {}};
  votes.counts.assign(2 * o.classes, 0);
  const auto top = static_cast<std::int64_t>(std::floor(agreement * static_cast<double>(n)));
  votes.counts[0] = top;
  const auto others = static_cast<std::int64_t>(o.classes) - 1;
  for (std::int64_t j = 0; j < others; ++j)
    votes.counts[static_cast<std::size_t>(j) + 1] = (n - top) / others + (j < (n - top) % others);
  votes.counts[o.classes] = n - n / 2;
  votes.counts[o.classes + 1] = n / 2;
  const double queries = static_cast<double>(o.queries);
  weights = {agreement * queries, (1 - agreement) * queries};
  return votes;
}

// Rényi divergence of the labels divided by the order, for any votes.
double linear_cost(const LabelOptions& o) {
  const double answers = static_cast<double>(o.answers), queries = static_cast<double>(o.queries);
  const auto law = answer_law(o);
  const double each =
      law ? law->rho : (o.aggregator == Aggregator::lnmax ? 2 : 1) / (o.sigma * o.sigma);
  return answers * each +
         (has_threshold(o.aggregator) ? queries / (2 * o.sigma_threshold * o.sigma_threshold) : 0);
}

}  // namespace

double gnss_renyi(double beta, double sigma, double order) {
  if (!(beta > 0 && sigma > 0 && order > 1))
    throw InvalidArgument("smooth noise needs beta > 0, sigma > 0 and an order above 1");
  const double c = std::expm1(2 * beta), left = 1 - (order - 1) * c;
  if (!(left > 0))
    throw InvalidArgument(fmt::format("order {} is too large for beta {}: it must be below {}",
                                      order, beta, 1 + 1 / c));
  // The narrower law is the neighbour's: N(0, 1) against N(e^{−β}/σ, e^{−2β}).
  const double narrower =
      order / (2 * sigma * sigma * left) - beta - std::log(left) / (2 * (order - 1));
  // The wider law is the neighbour's; its shift costs at most what it does without a change.
  const double wider =
      order / (2 * sigma * sigma) + beta + (2 * beta - std::log1p(order * c)) / (2 * (order - 1));
  return widen_up(std::max(narrower, wider), 1e-11) + 1e-13;
}

double gnss_renyi_paper(double beta, double sigma, double order) {
  if (!(beta > 0 && order > 1 && order < 1 / (2 * beta)))
    throw InvalidArgument("the order must be above 1 and below 1/(2·beta)");
  return order * std::exp(2 * beta) / (sigma * sigma) +
         (beta * order - .5 * std::log(1 - 2 * order * beta)) / (order - 1);
}

SanitiseOptions designed(const LabelOptions& labels, double delta, Conversion conversion,
                         double agreement) {
  if (!(agreement > 0 && agreement <= 1))
    throw InvalidArgument("`agreement` is a share: above 0, at most 1");
  const LabelPlan plan(labels);
  std::vector<double> weights;
  const Votes made_up = expected_votes(labels, agreement, weights);
  const double cost_of_labels = linear_cost(plan.options());
  const double epsilon_of_labels =
      cost_of_labels + 2 * std::sqrt(-cost_of_labels * std::log(delta));
  SanitiseOptions best;
  double least = kInfinity, cheapest = kInfinity;
  for (const double order : {4., 6., 8., 10., 12., 15., 18., 22., 27., 33., 40., 55., 80.}) {
    const CostTable table(labels, order);
    std::vector<double> distances(
        static_cast<std::size_t>(std::min<std::uint64_t>(labels.teachers, 1U << 20)) + 1, 0.0);
    double renyi = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      std::vector<double> one(distances.size(), 0.0);
      const auto p = CostTable::place(made_up.row(i), plan.margin(made_up, i));
      renyi += weights[i] * table.cost(p);
      table.add_sensitivities(p, one);
      for (std::size_t d = 0; d < one.size(); ++d) distances[d] += weights[i] * one[d];
    }
    for (const double share : {.01, .03, .1, .2, .3, .4, .5, .6, .7, .8}) {
      const double beta = .5 * std::log1p(share / (order - 1));
      const double log_sensitivity = std::log(smooth_sensitivity(distances, beta));
      for (const double sigma : {1.5, 2., 3., 4., 5., 6., 8., 10., 13., 17., 22., 30., 50., 80.})
        for (const double sigma_scale : {3., 5., 7., 10., 14., 20.}) {
          const SanitiseOptions o{.delta = delta,
                                  .conversion = conversion,
                                  .order = order,
                                  .beta = beta,
                                  .sigma = sigma,
                                  .sigma_scale = sigma_scale};
          const double whole =
              renyi + gnss_renyi(beta, sigma, order) + scale_renyi(sigma_scale, order);
          const double upper =
              epsilon_of_renyi(whole, order, delta, conversion) + margin(o, log_sensitivity);
          const double own = (whole - renyi) / order;
          // Above its last order the smooth release promises nothing: a low one costs ε by itself.
          const double floor = epsilon_of_renyi(0, last_order(o), delta, Conversion::cks20);
          if (own > kLargestShare * cost_of_labels || floor > kLargestFloor * epsilon_of_labels) {
            const double worst = std::max(own / cost_of_labels, floor / epsilon_of_labels);
            if (least == kInfinity && worst < cheapest) cheapest = worst, best = o;
          } else if (upper < least) {
            least = upper, best = o;
          }
        }
    }
  }
  return best;
}

SanitisePlan::SanitisePlan(const LabelOptions& labels, const SanitiseOptions& options)
    : labels_(labels), options_(options) {
  if (!(options.confidence > .5 && options.confidence < 1))
    throw InvalidArgument("`confidence` must be above 0.5 and below 1");
  if (!(options.sigma_scale >= 0x1p-10 && options.sigma_scale <= 1e6))
    throw InvalidArgument("`sigma_scale` must be from 0.001 to 1000000");
  own_renyi_ = gnss_renyi(options.beta, options.sigma, options.order) +
               scale_renyi(options.sigma_scale, options.order);
}

Event SanitisePlan::event() const {
  return compose({TcdpEvent{linear_bound(options_), last_order(options_)},
                  DiscreteGaussianEvent{options_.sigma_scale, kScaleMove, kScaleStep, 1}});
}

std::string SanitisePlan::describe() const {
  return fmt::format(
      "epsilon of these votes by smooth sensitivity: order {:.6g}, beta {:.6g}, noise {:.6g}, "
      "noise "
      "on the scale {:.6g}",
      options_.order, options_.beta, options_.sigma, options_.sigma_scale);
}

SanitisePlan::Private SanitisePlan::look(const Votes& votes,
                                         const std::vector<double>* student) const {
  const CostTable table(labels_.options(), options_.order);
  const CostOfVotes cost = cost_of_votes(table, labels_, votes, student);
  return {.renyi = cost.renyi,
          .epsilon = epsilon_of_renyi(cost.renyi + own_renyi_, options_.order, options_.delta,
                                      options_.conversion),
          .smooth_sensitivity = smooth_sensitivity(cost.distances, options_.beta)};
}

Release<Sanitised> SanitisePlan::run(const Votes& votes, Rng& rng,
                                     const std::vector<double>* student) const {
  const Private secret = look(votes, student);
  const double log_sensitivity = [&] {
    const auto steps = static_cast<std::int64_t>(
        std::llround(std::log(secret.smooth_sensitivity) / options_.beta / kScaleStep));
    auto scope = rng.query({.mechanism = "discrete_gaussian",
                            .values = std::span<const std::int64_t>(&steps, 1),
                            .sensitivity = kScaleMove / kScaleStep,
                            .norm = Norm::l2,
                            .scale = options_.sigma_scale / kScaleStep});
    std::int64_t noisy = steps + DiscreteGaussian(options_.sigma_scale / kScaleStep).sample(rng);
    scope.publish(std::span<std::int64_t>(&noisy, 1));
    return static_cast<double>(noisy) * kScaleStep * options_.beta;
  }();
  const double noisy = [&] {
    // The scale of this noise is private, so the query is announced without values: that neighbours
    // differ by less than it is shown by other means (cost_table_test).
    auto scope = rng.query({.mechanism = "smooth_gaussian",
                            .values = std::span<const double>(),
                            .sensitivity = 1,
                            .norm = Norm::l2,
                            .scale = options_.sigma});
    const double z = static_cast<double>(DiscreteGaussian(kUnit).sample(rng)) / kUnit;
    double value = secret.epsilon + secret.smooth_sensitivity * options_.sigma * z;
    value = std::round(value / kVoteStep) * kVoteStep;
    scope.publish(std::span<double>(&value, 1));
    return value;
  }();
  // What it costs without any answer is public, and no ε is below it.
  const double least =
      epsilon_of_renyi(own_renyi_, options_.order, options_.delta, options_.conversion);
  Sanitised result{.epsilon = std::max(noisy, least), .confidence = options_.confidence};
  result.epsilon_upper = std::max(least, noisy + margin(options_, log_sensitivity));
  result.epsilon_upper = std::max(result.epsilon_upper, result.epsilon);
  return {result, *this};
}

}  // namespace sotto::pate
