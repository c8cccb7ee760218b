#include "sotto/pate/two_classes.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/numeric/outward.hpp"
#include "sotto/pate/vote_renyi.hpp"

namespace sotto::pate {
namespace {

constexpr std::uint64_t kMostLeads = 16384, kMostLeadsAndMargins = 1024;
constexpr double kLeastSigma = 0x1p-10;  // a thousand steps of the lattice
constexpr double kTailSlack = 1e-13;     // of the logarithm of a tail
constexpr double kRounding = 1e-14;      // of ratios and their powers
constexpr double kOrderStep = 1.005;     // between orders that are looked at
constexpr double kWorthIt = .85;         // of what noisy counts cost
constexpr double kSmallestDelta = 40;    // −ln δ that omega is wide enough for

struct Interval {
  double low, high;
};

// The probability that a class wins which is `behind` votes behind; a tie may go either way.
Interval chance(const LabelOptions& o, double behind) {
  if (behind < 0) {
    const Interval other = chance(o, -behind);
    return {1 - other.high, 1 - other.low};
  }
  // log_tail() is a bound from above that is at most two steps wide.
  return {std::exp(log_tail(o, behind + 3 * kVoteStep) - kTailSlack),
          std::min(1.0, std::exp(log_tail(o, behind) + kTailSlack))};
}

// D_α of the coin a from the coin b.
double of_coins(double a, double b, double order) {
  const double behind = std::log(a / b), ahead = std::log1p((b - a) / (1 - b));
  const double rest = order - 1;
  const double moment =
      (1 - a) * std::expm1(rest * ahead) + a * std::expm1(rest * behind) +
      kRounding * rest * std::max(a, b) * std::exp(rest * std::max(behind, ahead));
  return std::log1p(std::max(0.0, moment)) / rest;
}

double independent(const LabelOptions& o, double order) {
  return o.aggregator == Aggregator::lnmax ? lnmax_renyi(0, o.sigma, order)
                                           : gnmax_renyi(0, o.sigma, order);
}

double farthest(const Interval& a, const Interval& b, double order) {
  return a.high < b.high ? of_coins(a.low, b.high, order) : of_coins(a.high, b.low, order);
}

double at_chances(const LabelOptions& o, const Interval& here, const Interval& less,
                  const Interval& more, double order) {
  double largest = 0;
  for (const Interval& there : {less, more}) {
    if (!(there.low > 0 && here.low > 0 && there.high < 1)) return independent(o, order);
    largest = std::max({largest, farthest(here, there, order), farthest(there, here, order)});
  }
  return std::min(independent(o, order), widen_up(largest, 1e-9));
}

}  // namespace

double log_tail(const LabelOptions& o, double gap) {
  return o.aggregator == Aggregator::lnmax ? log_tail_laplace(gap, o.sigma, kVoteStep)
                                           : log_tail_gaussian(gap, o.sigma, kVoteStep);
}

bool has_exact_costs(const LabelOptions& o) {
  return o.classes == 2 && o.sigma >= kLeastSigma &&
         o.teachers <= (has_threshold(o.aggregator) ? kMostLeadsAndMargins : kMostLeads);
}

double two_class_renyi(const LabelOptions& o, std::int64_t lead, double order) {
  const auto here = static_cast<double>(lead);
  return at_chances(o, chance(o, here), chance(o, here - 2), chance(o, here + 2), order);
}

std::optional<AnswerLaw> answer_law(const LabelOptions& o) {
  if (!has_exact_costs(o) || o.aggregator == Aggregator::lnmax) return std::nullopt;
  const double whole = 1 / (o.sigma * o.sigma);
  const double answers = static_cast<double>(o.answers == 0 ? o.queries : o.answers);
  // Twice the order that is best for ε at the smallest δ anybody asks for.
  const double omega = 1 + 2 * std::sqrt(kSmallestDelta / (whole * answers));
  std::vector<Interval> chances;  // of leads from −2 on
  for (std::int64_t lead = -2; lead <= static_cast<std::int64_t>(o.teachers) + 2; ++lead)
    chances.push_back(chance(o, static_cast<double>(lead)));
  double rho = 0, left = 1;
  while (left < omega && rho <= kWorthIt * whole) {
    const double right = std::min(omega, left * kOrderStep);
    for (std::size_t i = 2; i + 2 < chances.size(); ++i)
      rho = std::max(rho, at_chances(o, chances[i], chances[i - 2], chances[i + 2], right) / left);
    left = right;
  }
  if (rho > kWorthIt * whole) return std::nullopt;
  return AnswerLaw{widen_up(rho, 1e-12), omega};
}

}  // namespace sotto::pate
