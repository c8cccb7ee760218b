#include "sotto/mechanisms/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sotto/mechanisms/detail/rounding.hpp"
#include "sotto/noise/bernoulli.hpp"
#include "sotto/noise/geometric.hpp"
#include "sotto/noise/grid.hpp"
#include "sotto/noise/uniform.hpp"

namespace sotto {
namespace {

using namespace detail;

uint128 gap(int128 best, int128 score) { return static_cast<uint128>(best - score); }

std::size_t exponential(std::span<const int128> scores, std::uint64_t scale, Rng& rng) {
  const int128 best = *std::max_element(scores.begin(), scores.end());
  for (;;) {
    const std::size_t i = uniform_below(rng, scores.size());
    if (bernoulli_exp(rng, gap(best, scores[i]), scale)) return i;
  }
}

std::size_t permute_and_flip(std::span<const int128> scores, std::uint64_t scale, Rng& rng) {
  const int128 best = *std::max_element(scores.begin(), scores.end());
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t left = order.size();; --left) {  // ends at the best candidate at the latest
    const std::size_t at = uniform_below(rng, left);
    if (bernoulli_exp(rng, gap(best, scores[order[at]]), scale)) return order[at];
    std::swap(order[at], order[left - 1]);
  }
}

template <class Noise>
std::size_t noisy_max(std::span<const int128> scores, const Noise& noise) {
  std::size_t winner = 0;
  int128 best = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const int128 noisy = scores[i] + static_cast<int128>(noise());
    if (i == 0 || noisy > best) winner = i, best = noisy;
  }
  return winner;
}

}  // namespace

std::string_view name(Selector selector) {
  switch (selector) {
    case Selector::exponential: return "exponential";
    case Selector::permute_and_flip: return "permute_and_flip";
    case Selector::noisy_max_geometric: return "noisy_max_geometric";
    case Selector::noisy_max_laplace: return "noisy_max_laplace";
  }
  return "exponential";
}

SelectionPlan::SelectionPlan(const SelectionOptions& options)
    : relation_(options.relation), selector_(options.selector), monotonic_(options.monotonic) {
  if (monotonic_ && relation_ == Relation::replace_one) {
    throw Unsupported(
        "scores are not monotonic under replace_one: one candidate may gain what another loses",
        "drop the monotonic flag or use add_remove");
  }
  const double sensitivity = Sensitivity(options.sensitivity, Norm::linf).value();
  const double asked = selector_ == Selector::exponential ? options.budget.bounded_range_epsilon()
                                                          : options.budget.pure_epsilon();
  const double factor = monotonic_ ? 1 : 2;
  granularity_ = granularity_for(factor * sensitivity / asked);
  sensitivity_ = grid_sensitivity(sensitivity, granularity_, Norm::linf, 1);
  const double exponent = factor * sensitivity_;  // exact: a factor 2
  scale_ = static_cast<std::uint64_t>(std::ceil(exponent / asked));
  auto cost = [&] { return divide_up(exponent, static_cast<double>(scale_)); };
  while (cost() > asked) ++scale_;
  epsilon_ = cost();
  // Below 2^53, so the scale is the whole number that it says.
  if (selector_ == Selector::noisy_max_laplace) laplace_.emplace(static_cast<double>(scale_));
}

Event SelectionPlan::event() const {
  if (selector_ == Selector::exponential) return ExponentialEvent{epsilon_};
  return PureEvent{epsilon_};
}

std::string SelectionPlan::describe() const {
  return fmt::format("selection by {}{}: epsilon {:.6g} under {}", name(selector_),
                     monotonic_ ? " (monotonic scores)" : "", epsilon_, name(relation_));
}

std::vector<int128> SelectionPlan::on_grid(std::span<const double> scores) const {
  if (scores.empty()) throw InvalidArgument("there are no candidates to select from");
  std::vector<int128> steps;
  steps.reserve(scores.size());
  for (double s : scores) {
    if (std::isnan(s))
      throw InvalidArgument("a score is not a number",
                            "give the worst score to candidates without one");
    steps.push_back(to_grid(s, granularity_));
  }
  return steps;
}

std::size_t SelectionPlan::choose(std::span<const int128> scores, Rng& rng) const {
  auto scope = rng.query({.mechanism = name(selector_),
                          .values = scores,
                          .sensitivity = sensitivity_,
                          .norm = Norm::linf,
                          .scale = static_cast<double>(scale_)});
  const auto draw = [&] {
    switch (selector_) {
      case Selector::exponential: return exponential(scores, scale_, rng);
      case Selector::permute_and_flip: return permute_and_flip(scores, scale_, rng);
      case Selector::noisy_max_geometric:
        return noisy_max(scores, [&] { return geometric_exp(rng, scale_); });
      case Selector::noisy_max_laplace: break;
    }
    return noisy_max(scores, [&] { return laplace_->sample(rng); });
  };
  auto chosen = static_cast<std::int64_t>(draw());
  scope.publish(std::span<std::int64_t>(&chosen, 1));
  return static_cast<std::size_t>(chosen);
}

Release<std::size_t> SelectionPlan::run(std::span<const double> scores, Rng& rng) const {
  return {choose(on_grid(scores), rng), *this};
}

TopKPlan::TopKPlan(std::size_t k, const SelectionOptions& options)
    : k_(k), round_([&] {
        if (k == 0) throw InvalidArgument("k is 0; it must be at least 1");
        SelectionOptions round = options;
        round.budget = options.budget.part(k == 1 ? 1 : divide_down(1, static_cast<double>(k)));
        return round;
      }()) {}

std::string TopKPlan::describe() const {
  return fmt::format("top {} by peeling, each round a {}", k_, round_.describe());
}

Release<std::vector<std::size_t>> TopKPlan::run(std::span<const double> scores, Rng& rng) const {
  if (scores.size() < k_) {
    throw InvalidArgument(
        fmt::format("there are {} candidates; the {} best were asked for", scores.size(), k_));
  }
  std::vector<int128> left = round_.on_grid(scores);
  std::vector<std::size_t> names(left.size()), chosen;
  std::iota(names.begin(), names.end(), std::size_t{0});
  for (std::size_t i = 0; i < k_; ++i) {
    const auto at = static_cast<std::ptrdiff_t>(round_.choose(left, rng));
    chosen.push_back(names[at]);
    left.erase(left.begin() + at);
    names.erase(names.begin() + at);
  }
  return {std::move(chosen), *this};
}

}  // namespace sotto
