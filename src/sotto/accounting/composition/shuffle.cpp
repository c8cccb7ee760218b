#include "sotto/accounting/composition/shuffle.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/accounting/composition/detail/binomial_window.hpp"
#include "sotto/accounting/numeric/detail/log_math.hpp"
#include "sotto/core/numeric/outward.hpp"
#include "sotto/core/numeric/search.hpp"

namespace sotto {
namespace {

constexpr double kBlocks = 1024;      // of values of C, each bounded by its ends
constexpr double kBlockShare = 1e-4;  // a block no wider than this of C costs half of it in ε
// Relative error of a difference of tails, bounded in docs/math/amplification.md. It rests on
// p − e^ε q without much cancellation, so ε₀ is not tiny there and ε not next to ε₀.
constexpr double kShuffleError = 1e-9;
constexpr double kLeastLocal = 1e-3, kLeastGap = 1e-5;
constexpr double kMostLocal = 600;                    // odds are far from overflow
constexpr std::uint64_t kMostUsers = 10'000'000'000;  // more can only hide better

// Σ_{i ≥ first} [P(i) − e^ε Q(i)] given C = c, P(i) = p·b(i−1) + (1−p)·b(i), Q mirrored, b = Bin(c,
// ½).
// Every term from `first` on is positive: the likelihood ratio increases with i. It is 1 in the
// middle, so `first` lies past it, where b falls; what is too rare for a double counts with the
// window of C.
double delta_given(std::uint64_t c, double p, double q, double odds) {
  // P(i)/Q(i) > e^ε  ⇔  i/(c+1−i) > (p e^ε − q)/(p − q e^ε).
  const double need = (p * odds - q) / (p - q * odds), dc = static_cast<double>(c);
  const auto first =
      static_cast<std::uint64_t>(std::clamp(std::floor(need / (1 + need) * (dc + 1)), 0.0, dc + 1));
  const auto pmf = [&](std::uint64_t i) {
    return i > c ? 0.0 : std::exp(log_binomial_pmf(c, i, 0.5, 0.5));
  };
  double before = first == 0 ? 0 : pmf(first - 1), here = pmf(first), sum = 0;
  const double gain = p - q * odds, pay = q - p * odds;  // weights of b(i−1) and b(i)
  for (std::uint64_t i = first; i <= c + 1; ++i) {
    const double term = gain * before + pay * here;
    if (term > 0) sum += term;
    if (2 * i > c && before <= 1e-18 * sum) break;
    before = here;
    here = i >= c ? 0 : here * (static_cast<double>(c - i) / static_cast<double>(i + 1));
  }
  return sum;
}

// How likely the report of another user is a draw from the equal mixture of the two reports of the
// one user.
struct Clone {
  double yes, no;
};
Clone clone_of(double local, LocalGuarantee guarantee) {
  if (guarantee == LocalGuarantee::any_two_inputs) {
    const double x = std::exp(-local);
    return {2 * x / (1 + x), -std::expm1(-local) / (1 + x)};
  }
  // The other report is at least e^(−2ε₀) times the one of the input and e^(−ε₀) times that of the
  // null input.
  const double x = std::exp(-local);
  return {2 * x * x / (1 + x), -std::expm1(-local) * (1 + 2 * x) / (1 + x)};
}

}  // namespace

ShuffledReports::ShuffledReports(double local, std::uint64_t population, LocalGuarantee guarantee)
    : local_(local), model_(std::max(local, kLeastLocal)) {
  if (!(local >= 0)) throw InvalidArgument("epsilon must be 0 or more");
  const std::uint64_t others = std::min(population, kMostUsers) - 1;
  alone_ = others == 0;
  if (alone_ || local > kMostLocal) return;
  as_asked_ = local >= kLeastLocal && population <= kMostUsers;
  const Clone clone = clone_of(model_, guarantee);
  const auto [low, high] = binomial_window(others, clone.yes);
  const double by_number = static_cast<double>(high - low + 1) / kBlocks,
               by_share = kBlockShare * static_cast<double>(low);
  const auto size =
      std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::max(by_number, by_share)));
  for (std::uint64_t c = low; c <= high; c += size) {
    Block block{c, std::min(high + 1, c + size), 0};
    for (std::uint64_t i = c; i < block.end; ++i)
      block.weight += std::exp(log_binomial_pmf(others, i, clone.yes, clone.no));
    blocks_.push_back(block);
  }
}

Enclosure ShuffledReports::delta(double epsilon) const {
  if (!(epsilon >= 0)) throw InvalidArgument("epsilon must be 0 or more");
  if (epsilon >= local_) return {0, 0};
  // Of one report that all can see: whatever others do, no more is lost.
  const double single = -std::expm1(epsilon - local_) / (1 + std::exp(-local_)),
               single_above = std::min(1.0, single * (1 + 1e-14));
  if (alone_) return {single * (1 - 1e-14), single_above};
  if (blocks_.empty()) return {0, single_above};
  const double at = std::min(epsilon, model_ - kLeastGap);  // δ falls with ε
  const double p = 1 / (1 + std::exp(-model_)), q = 1 / (1 + std::exp(model_)), odds = std::exp(at);
  // Adding an independent fair report is post-processing, so δ given C = c falls with c: a block of
  // values of C is bounded by its ends. Blocks that weigh next to nothing are bounded by the last
  // value known on their left.
  double upper = 0, lower = 0, known = delta_given(blocks_.front().begin, p, q, odds);
  std::uint64_t known_at = blocks_.front().begin;
  const double least =
      1e-9 * delta_given((blocks_.front().begin + blocks_.back().end) / 2, p, q, odds);
  for (const Block& b : blocks_) {
    if (b.weight * known > least && known_at < b.begin)
      known = delta_given(b.begin, p, q, odds), known_at = b.begin;
    const double at_begin = known;
    upper += b.weight * at_begin;
    if (known_at == b.begin && b.end == b.begin + 1) {
      lower += b.weight * at_begin;
    } else if (b.weight * known > least) {
      known = delta_given(b.end, p, q, odds), known_at = b.end;
      lower += b.weight * known;
    }
  }
  return {as_asked_ && at == epsilon ? std::max(0.0, widen_down(lower, kShuffleError)) : 0.0,
          std::min(single_above, widen_up(upper, kShuffleError) + 2 * kTail)};
}

double ShuffledReports::solve(Delta delta, bool upper) const {
  const double target = std::log(delta.value());
  const auto excess = [&](double e) {
    const Enclosure d = this->delta(e);
    const double x = upper ? d.upper : d.lower;
    return x > 0 ? std::log(x) - target : -1e3;
  };
  if (local_ == 0 || excess(0) <= 0) return 0;
  const Bracket b = narrow(excess, 0, local_, 1e-7);
  return upper ? b.high : b.low;
}

double ShuffledReports::epsilon_upper(Delta delta) const {
  return std::min(local_, solve(delta, true));
}
double ShuffledReports::epsilon_lower(Delta delta) const { return solve(delta, false); }

Enclosure shuffle_delta(double local, std::uint64_t population, double epsilon,
                        LocalGuarantee guarantee) {
  return ShuffledReports(local, population, guarantee).delta(epsilon);
}

Enclosure shuffle_epsilon(double local, std::uint64_t population, Delta delta,
                          LocalGuarantee guarantee) {
  const ShuffledReports reports(local, population, guarantee);
  const double upper = reports.epsilon_upper(delta);
  return {std::min(upper, reports.epsilon_lower(delta)), upper};
}

double shuffle_epsilon_closed_form(double local, std::uint64_t population, Delta delta) {
  const auto n = static_cast<double>(population);
  const double limit = std::log(n / (16 * std::log(2 / delta.value())));
  if (!(local <= limit)) {
    throw AccountingError(
        fmt::format("the closed form needs local epsilon at most {:.6g} here; it is {:.6g}", limit,
                    local),
        "use the numerical bound, which always applies");
  }
  const double grow = std::exp(local);
  const double x =
      std::tanh(local / 2) * (8 * std::sqrt(grow * std::log(4 / delta.value()) / n) + 8 * grow / n);
  return widen_up(std::log1p(x), 32 * kUlp);
}

}  // namespace sotto
