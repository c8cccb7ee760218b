#include "sotto/audit/detail/thresholds.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "sotto/audit/proportion.hpp"

namespace sotto::audit {
namespace {

constexpr int kSplits = 9;  // odd: the median is one of them

// Ranks 1, 2, 3, 4, 6, 8, 12, … up to the whole: few enough to be paid for, near enough to any
// other.
std::vector<std::size_t> fixed_ranks(std::size_t n) {
  std::vector<std::size_t> ranks;
  for (std::size_t power = 1; power <= n; power *= 2) {
    ranks.push_back(power);
    if (power >= 2 && power + power / 2 <= n) ranks.push_back(power + power / 2);
  }
  return ranks;
}

void include(ThresholdBounds& best, const ErrorRates& rates, double delta) {
  best.epsilon = std::max(best.epsilon, epsilon_of(rates, delta));
  best.mu = std::max(best.mu, mu_of(rates));
}

std::size_t above(std::span<const double> sorted, double threshold) {
  return static_cast<std::size_t>(sorted.end() -
                                  std::upper_bound(sorted.begin(), sorted.end(), threshold));
}
std::size_t below(std::span<const double> sorted, double threshold) {
  return static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), threshold) -
                                  sorted.begin());
}

// At the k-th largest non-member P[score beyond] is at most a Beta(k, n−k+1) variable, the law
// behind the limit of k − 1 successes in n trials; members do not depend on it. And the same with
// the k-th smallest member.
ThresholdBounds by_bonferroni(std::span<const double> members, std::span<const double> nonmembers,
                              const ScoreOptions& options) {
  const std::vector<std::size_t> from_nonmembers = fixed_ranks(nonmembers.size()),
                                 from_members = fixed_ranks(members.size());
  const double each = (1 - options.confidence) /
                      static_cast<double>(from_nonmembers.size() + from_members.size()) / 2;
  ThresholdBounds best;
  for (const std::size_t k : from_nonmembers) {
    const std::size_t caught = above(members, nonmembers[nonmembers.size() - k]);
    include(best,
            {clopper_pearson_upper(members.size() - caught, members.size(), each),
             clopper_pearson_upper(k - 1, nonmembers.size(), each)},
            options.delta);
  }
  for (const std::size_t k : from_members) {
    const std::size_t cleared = below(nonmembers, members[k - 1]);
    include(best,
            {clopper_pearson_upper(k - 1, members.size(), each),
             clopper_pearson_upper(nonmembers.size() - cleared, nonmembers.size(), each)},
            options.delta);
  }
  return best;
}

ThresholdBounds at(double threshold, std::span<const double> members,
                   std::span<const double> nonmembers, double delta, double alpha) {
  ThresholdBounds bounds;
  include(bounds, error_rates(count_beyond(members, nonmembers, threshold), alpha), delta);
  return bounds;
}

// A random half, and the rest; both ascend.
std::pair<std::vector<double>, std::vector<double>> halves(std::span<const double> sorted,
                                                           std::mt19937_64& engine) {
  std::vector<std::size_t> order(sorted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), engine);
  std::pair<std::vector<double>, std::vector<double>> out;
  for (std::size_t i = 0; i < order.size(); ++i)
    (2 * i < order.size() ? out.first : out.second).push_back(sorted[order[i]]);
  std::ranges::sort(out.first);
  std::ranges::sort(out.second);
  return out;
}

ThresholdBounds by_split(std::span<const double> members, std::span<const double> nonmembers,
                         double delta, double alpha, std::mt19937_64& engine) {
  const auto [choose_in, count_in] = halves(members, engine);
  const auto [choose_out, count_out] = halves(nonmembers, engine);
  std::vector<double> candidates;
  for (const std::size_t k : fixed_ranks(choose_out.size()))
    candidates.push_back(choose_out[choose_out.size() - k]);
  for (const std::size_t k : fixed_ranks(choose_in.size())) candidates.push_back(choose_in[k - 1]);
  double by_epsilon = candidates.front(), by_mu = candidates.front(), epsilon = -1, mu = -1;
  for (const double t : candidates) {
    const ThresholdBounds here = at(t, choose_in, choose_out, delta, alpha);
    if (here.epsilon > epsilon) epsilon = here.epsilon, by_epsilon = t;
    if (here.mu > mu) mu = here.mu, by_mu = t;
  }
  return {at(by_epsilon, count_in, count_out, delta, alpha).epsilon,
          at(by_mu, count_in, count_out, delta, alpha).mu};
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + kSplits / 2);
  return values[kSplits / 2];
}

}  // namespace

AttackCounts count_beyond(std::span<const double> members, std::span<const double> nonmembers,
                          double threshold) {
  const std::size_t in = above(members, threshold), out = above(nonmembers, threshold);
  return {in, members.size() - in, out, nonmembers.size() - out};
}

ThresholdBounds threshold_bounds(std::span<const double> members,
                                 std::span<const double> nonmembers, const ScoreOptions& options) {
  const double alpha = 1 - options.confidence;
  std::mt19937_64 engine(options.seed);
  switch (options.choice) {
    case ThresholdChoice::bonferroni: return by_bonferroni(members, nonmembers, options);
    case ThresholdChoice::explicit_threshold:
      return at(options.threshold, members, nonmembers, options.delta, alpha);
    case ThresholdChoice::split: return by_split(members, nonmembers, options.delta, alpha, engine);
    case ThresholdChoice::multi_split: break;
  }
  // The median exceeds the truth only if half of the splits do, which has probability at most twice
  // that of one.
  std::vector<double> epsilons, mus;
  for (int i = 0; i < kSplits; ++i) {
    const ThresholdBounds one = by_split(members, nonmembers, options.delta, alpha / 2, engine);
    epsilons.push_back(one.epsilon);
    mus.push_back(one.mu);
  }
  return {median(epsilons), median(mus)};
}

ThresholdBounds threshold_ceiling(std::size_t members, std::size_t nonmembers,
                                  const ScoreOptions& options) {
  ScoreOptions perfect = options;
  perfect.threshold = 0.5;
  return threshold_bounds(std::vector<double>(members, 1.0), std::vector<double>(nonmembers, 0.0),
                          perfect);
}

}  // namespace sotto::audit
