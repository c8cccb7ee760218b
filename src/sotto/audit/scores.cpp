#include "sotto/audit/scores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/audit/detail/thresholds.hpp"
#include "sotto/audit/proportion.hpp"
#include "sotto/audit/shift.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"
#include "sotto/core/numeric/mills.hpp"

namespace sotto::audit {
namespace {

void check(const std::vector<double>& scores, const char* whose) {
  if (scores.size() < 2)
    throw InvalidArgument(fmt::format("there are {} scores of {}", scores.size(), whose),
                          "give at least two on each side; a bound needs hundreds");
  if (!std::ranges::all_of(scores, [](double x) { return std::isfinite(x); }))
    throw InvalidArgument(fmt::format("a score of {} is not a finite number", whose));
}

void check(const ScoreOptions& options) {
  if (!(options.confidence > 0.5 && options.confidence < 1))
    throw InvalidArgument(fmt::format("`confidence` is {}", options.confidence),
                          "it must be above 0.5 and below 1, for example 0.95");
  if (!(options.delta >= 0 && options.delta < 1))
    throw InvalidArgument(fmt::format("`delta` is {}", options.delta),
                          "it must be at least 0 and below 1");
}

// Which share of the other side each score beats, ties by half: the placements whose mean is the
// area and whose spread gives its standard error.
std::vector<double> placements(const std::vector<double>& of, const std::vector<double>& among) {
  std::vector<double> out;
  out.reserve(of.size());
  for (const double x : of) {
    const auto [first, last] = std::equal_range(among.begin(), among.end(), x);
    out.push_back(
        (static_cast<double>(first - among.begin()) + 0.5 * static_cast<double>(last - first)) /
        static_cast<double>(among.size()));
  }
  return out;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}
double variance(const std::vector<double>& values) {
  const double middle = mean(values);
  double sum = 0;
  for (const double v : values) sum += (v - middle) * (v - middle);
  return sum / static_cast<double>(values.size() - 1);
}

Interval area(const std::vector<double>& members, const std::vector<double>& nonmembers,
              double alpha) {
  const std::vector<double> in = placements(members, nonmembers),
                            out = placements(nonmembers, members);
  const double auc = mean(in), z = normal_quantile_upper(std::log(alpha / 2)),
               error = std::sqrt(variance(in) / static_cast<double>(in.size()) +
                                 variance(out) / static_cast<double>(out.size()));
  return {auc, std::max(0.0, auc - z * error), std::min(1.0, auc + z * error)};
}

RateAt rate_at(double fpr, const std::vector<double>& members,
               const std::vector<double>& nonmembers, double alpha) {
  // The lowest threshold that leaves at most this share of non-members beyond it.
  const auto allowed =
      static_cast<std::size_t>(std::floor(fpr * static_cast<double>(nonmembers.size()) + 1e-9));
  const double threshold =
      allowed < nonmembers.size() ? nonmembers[nonmembers.size() - 1 - allowed] : -HUGE_VAL;
  const AttackCounts c = count_beyond(members, nonmembers, threshold);
  return {fpr,
          {static_cast<double>(c.true_positives) / static_cast<double>(members.size()),
           clopper_pearson_lower(c.true_positives, members.size(), alpha / 2),
           clopper_pearson_upper(c.true_positives, members.size(), alpha / 2)}};
}

// The highest scores are called members, as many of the lowest non-members; how many guesses are
// worth making is not known beforehand, so several numbers share alpha. Most of it is for the
// number that is about best for Gaussian noise: 6.3·√m, for an ε between 1 and 8.
void add_one_run(ScoreAudit& audit, const std::vector<double>& members,
                 const std::vector<double>& nonmembers, double delta, double alpha) {
  constexpr double kMain = 0.75;  // of alpha
  const std::size_t m = members.size() + nonmembers.size();
  const double main = std::min(1.0, 6.3 / std::sqrt(static_cast<double>(m)));
  const double tried[] = {main, 0.01, 0.03, 0.1, 0.3, 1};
  std::vector<std::pair<double, bool>> all;  // the score, and whether it is a member's
  for (const double x : members) all.push_back({x, true});
  for (const double x : nonmembers) all.push_back({x, false});
  // Ties: members last from above and first from below, so that no guess gains by them.
  std::ranges::sort(all, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
  });
  for (const double& share : tried) {
    const double each =
        &share == tried ? kMain * alpha : (1 - kMain) * alpha / (std::size(tried) - 1);
    const auto side = static_cast<std::size_t>(share * static_cast<double>(m) / 2);
    if (side == 0) continue;
    OneRun run{m, 2 * side, 0};
    for (std::size_t i = 0; i < side; ++i) run.correct += !all[i].second + all[m - 1 - i].second;
    const double bound = one_run_epsilon(run, delta, each);
    if (bound > audit.one_run || audit.one_run_guesses == 0)
      audit.one_run = bound, audit.one_run_guesses = run.guesses;
    audit.one_run_ceiling = std::max(audit.one_run_ceiling, one_run_ceiling(run, delta, each));
    const GaussianEstimate gaussian = one_run_gaussian_estimate(run, delta, each);
    if (gaussian.mu > audit.one_run_gdp.mu) audit.one_run_gdp = gaussian;
  }
}

GaussianEstimate gaussian(double mu, double delta) {
  if (mu == 0) return {0, 0};
  return {mu, delta == 0 ? HUGE_VAL : gaussian_epsilon_lower(mu, Delta(delta))};
}

}  // namespace

ScoreAudit audit_scores(std::vector<double> members, std::vector<double> nonmembers,
                        const ScoreOptions& options) {
  check(members, "members");
  check(nonmembers, "non-members");
  check(options);
  std::ranges::sort(members);
  std::ranges::sort(nonmembers);
  const double alpha = 1 - options.confidence;
  ScoreAudit audit;
  audit.members = members.size();
  audit.nonmembers = nonmembers.size();
  audit.auc = area(members, nonmembers, alpha);
  for (const double fpr : {0.001, 0.01, 0.1})
    audit.tpr_at_fpr.push_back(rate_at(fpr, members, nonmembers, alpha));
  for (const auto& [fpr, tpr] : roc_curve(members, nonmembers))
    audit.advantage = std::max(audit.advantage, tpr - fpr);
  const ThresholdBounds bounds = threshold_bounds(members, nonmembers, options),
                        ceiling = threshold_ceiling(members.size(), nonmembers.size(), options);
  audit.clopper_pearson = bounds.epsilon;
  audit.clopper_pearson_ceiling = ceiling.epsilon;
  audit.gdp = gaussian(bounds.mu, options.delta);
  audit.gdp_ceiling = gaussian(ceiling.mu, options.delta);
  add_one_run(audit, members, nonmembers, options.delta, alpha);
  audit.shift = shift_estimate(members, nonmembers, options.delta, alpha);
  return audit;
}

std::vector<std::pair<double, double>> roc_curve(std::vector<double> members,
                                                 std::vector<double> nonmembers) {
  std::ranges::sort(members, std::greater<>());
  std::ranges::sort(nonmembers, std::greater<>());
  std::vector<std::pair<double, double>> curve = {{0, 0}};
  std::size_t in = 0, out = 0;
  while (in < members.size() || out < nonmembers.size()) {
    const double t = std::max(in < members.size() ? members[in] : -HUGE_VAL,
                              out < nonmembers.size() ? nonmembers[out] : -HUGE_VAL);
    while (in < members.size() && members[in] == t) ++in;
    while (out < nonmembers.size() && nonmembers[out] == t) ++out;
    curve.push_back({static_cast<double>(out) / static_cast<double>(nonmembers.size()),
                     static_cast<double>(in) / static_cast<double>(members.size())});
  }
  return curve;
}

}  // namespace sotto::audit
