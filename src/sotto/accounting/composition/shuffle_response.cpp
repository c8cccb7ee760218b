#include "sotto/accounting/composition/shuffle_response.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "sotto/accounting/composition/detail/binomial_window.hpp"
#include "sotto/accounting/composition/detail/positive_part.hpp"
#include "sotto/accounting/composition/detail/shuffle_binary.hpp"
#include "sotto/accounting/numeric/detail/log_math.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numeric/outward.hpp"
#include "sotto/core/numeric/search.hpp"

namespace sotto {
namespace {

constexpr double kFactorError = 1e-9;      // of weights and of the factors before a sum
constexpr double kFine = 24, kCoarse = 8;  // blocks a deviation
constexpr double kFineShare = 4e-4, kCoarseShare = 4e-3;  // width of a block of uniform reports

// Where ε is nearer to ε₀, differences of probabilities would carry rounding errors that matter.
// The upper bound of two categories among many users would take long.
constexpr double kLeastResponse = ShuffledResponse::kLeastEpsilon, kLeastDistance = 1e-5;
constexpr std::uint64_t kMostOfTwo = 5'000'000;

constexpr double kFineSlack = 0.01, kCoarseSlack = 0.05;  // of δ, with two categories

// ε where a δ that falls with it meets the target, from the side asked for.
double meeting_epsilon(const std::function<double(double)>& delta_at, double most, Delta delta,
                       bool above) {
  const double target = std::log(delta.value());
  const auto excess = [&](double e) {
    const double d = delta_at(e);
    return d > 0 ? std::log(d) - target : -1e3;
  };
  if (!(most > 0) || excess(0) <= 0) return 0;
  if (excess(most) > 0) return most;
  const Bracket b = narrow(excess, 0, most, 1e-6);
  return above ? b.high : b.low;
}

// A lower bound of ε by one of δ, not asked for where it would cancel; most: the largest ε.
double lower_below(const std::function<double(double)>& delta_at, double most,
                   std::uint64_t population, Delta delta) {
  if (!(most >= kLeastResponse) || !(most < 30) || population > 1'000'000'000) return 0;
  return meeting_epsilon([&](double e) { return e > most - kLeastDistance ? 0 : delta_at(e); },
                         most, delta, false);
}

double share_below(const ThreeValues& draw, std::uint64_t n, double part) {
  if (!(draw.high > 0) || draw.middle < draw.low || draw.middle > 0) return 0;
  return positive_part_below(draw, n, part) / static_cast<double>(n) * (1 - kFactorError);
}

}  // namespace

bool ShuffledResponse::worthwhile(double local, std::uint64_t categories,
                                  std::uint64_t population) {
  return categories >= 2 && local >= kLeastResponse && local < 30 && population >= 1 &&
         population <= 100'000'000;
}

ShuffledResponse::ShuffledResponse(double local, std::uint64_t categories, std::uint64_t population,
                                   bool fine)
    : local_(local),
      part_(fine ? kFine : kCoarse),
      categories_(categories),
      population_(population) {
  if (!worthwhile(local, categories, population))
    throw InvalidArgument("shuffled responses need 0.001 <= epsilon < 30 and 2 categories or more");
  if (categories == 2) return;  // one count says it all
  const double k = static_cast<double>(categories), odds = std::exp(local),
               uniform = k / (odds + k - 1), truth = std::expm1(local) / (odds + k - 1);
  const std::uint64_t others = population - 1;
  const BinomialWindow window = binomial_window(others, uniform);
  const double share = fine ? kFineShare : kCoarseShare;
  const auto width = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(share * static_cast<double>(window.low)));
  for (std::uint64_t m = window.low; m <= window.high; m += width) {
    Block block{m, 0};
    for (std::uint64_t i = m; i <= std::min(window.high, m + width - 1); ++i)
      block.weight += std::exp(log_binomial_pmf(others, i, uniform, truth));
    blocks_.push_back(block);
  }
}

double ShuffledResponse::delta_upper(double epsilon) const {
  if (!(epsilon >= 0)) throw InvalidArgument("epsilon must be 0 or more");
  if (epsilon >= local_) return 0;
  // The bound for any common randomizer is there as well.
  if (categories_ == 2 && population_ > kMostOfTwo) return 1;
  epsilon = std::min(epsilon, local_ - kLeastDistance);  // δ falls with ε
  if (categories_ == 2) {
    const bool fine = part_ == kFine && population_ <= 5'000'000;
    const double slack = population_ <= 200 ? 0 : fine ? kFineSlack : kCoarseSlack;
    return shuffled_binary_delta_above(local_, population_, epsilon, slack);
  }
  const double k = static_cast<double>(categories_), odds = std::exp(local_),
               each = std::expm1(epsilon) / std::expm1(local_);
  const ThreeValues draw{1 - each, -each, -std::exp(epsilon) - each, 1 / k, 1 / k, (k - 2) / k};
  const double factor = k * std::expm1(local_) / (odds + k - 1);
  // Among m uniform reports of others. One more is post-processing, so it falls with m.
  const auto given = [&](std::uint64_t m) {
    return std::min(1.0, factor * positive_part_above(draw, m + 1, part_) /
                             static_cast<double>(m + 1) * (1 + kFactorError));
  };
  // From the most probable block outwards, to the left while it matters: all blocks further on are
  // bounded by the first value there, and all that follow to the right by the last.
  std::size_t top = 0;
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    if (blocks_[i].weight > blocks_[top].weight) top = i;
  double sum = 0, left = 2 * kTail;
  std::vector<double> before(blocks_.size() + 1, 0.0);
  for (std::size_t i = 0; i < blocks_.size(); ++i) before[i + 1] = before[i] + blocks_[i].weight;
  const double most = given(blocks_.front().begin), small = 1e-2 * kFineShare;
  for (std::size_t i = top + 1; i-- > 0;) {
    sum += blocks_[i].weight * given(blocks_[i].begin);
    if (before[i] * most <= small * sum) {
      left += before[i] * most;
      break;
    }
  }
  const double all = before.back();
  for (std::size_t i = top + 1; i < blocks_.size(); ++i) {
    const double here = given(blocks_[i].begin),
                 rest = (all - before[i]) * (1 + kFactorError) + kTail;
    if (here * rest <= small * sum) {
      left += here * rest;
      break;
    }
    sum += blocks_[i].weight * here;
  }
  return std::min(1.0, widen_up(sum + left, kFactorError));
}

double ShuffledResponse::delta_lower(double epsilon) const {
  if (!(epsilon >= 0)) throw InvalidArgument("epsilon must be 0 or more");
  if (epsilon > local_ - kLeastDistance) return 0;
  const double k = static_cast<double>(categories_), odds = std::exp(local_), x = std::exp(epsilon),
               more = std::expm1(epsilon), over = x * std::expm1(local_ - epsilon),
               q = 1 / (odds + k - 1), p = odds * q;
  double best = 0;
  if (categories_ >= 3) {  // all others give a third answer
    const double rest = (odds + k - 3) * q;
    best = share_below({over, -more * (k - 2) * q / rest, 1 - x * odds, q, q, rest}, population_,
                       part_);
  }
  // All others give the second answer, and the first; middles are never above the highs' mean.
  const double middle = (k - 2) * q;
  best = std::max(best, share_below({over, -more, 1 / odds - x, q, p, middle}, population_, part_));
  return std::max(
      best, share_below({over / odds, -more, 1 - x * odds, p, q, middle}, population_, part_));
}

double ShuffledResponse::epsilon_upper(Delta delta) const {
  return std::min(local_,
                  meeting_epsilon([&](double e) { return delta_upper(e); }, local_, delta, true));
}
double ShuffledResponse::epsilon_lower(Delta delta) const {
  return meeting_epsilon([&](double e) { return delta_lower(e); }, local_, delta, false);
}

double shuffled_binary_lower(double p, double q, std::uint64_t population, Delta delta) {
  const double yes = p / q, no = (1 - p) / (1 - q);
  const auto at = [&](double e) {
    const double x = std::exp(e);
    // "Yes" speaks for one of the two, "no" for the other; both directions.
    const double there =
        yes > no ? share_below({yes - x, no - x, no - x, q, 0, 1 - q}, population, kFine)
                 : share_below({no - x, yes - x, yes - x, 1 - q, 0, q}, population, kFine);
    const double a = 1 - x * yes, b = 1 - x * no;
    const double back = a > b ? share_below({a, b, b, q, 0, 1 - q}, population, kFine)
                              : share_below({b, a, a, 1 - q, 0, q}, population, kFine);
    return std::max(there, back);
  };
  const double most = std::max(std::abs(std::log(yes)), std::abs(std::log(no)));
  return lower_below(at, most, population, delta);
}

double shuffled_unary_lower(double p, double q, std::uint64_t population, Delta delta) {
  const double one = q * (1 - q), yes = p / q, no = (1 - p) / (1 - q);
  const auto at = [&](double e) {
    const double x = std::exp(e), high = yes - x * no, low = no - x * yes;
    // Reports that say the same of both, taken together: their mean.
    const double rest = 1 - 2 * one, middle = ((1 - x) - one * (high + low)) / rest;
    return share_below({high, std::min(0.0, middle), low, one, one, rest}, population, kFine);
  };
  return lower_below(at, std::abs(std::log(yes / no)), population, delta);
}

}  // namespace sotto
