#include "sotto/accounting/composition/detail/shuffle_binary.hpp"

#include <algorithm>
#include <cmath>
#include <queue>

#include "sotto/accounting/numeric/detail/log_math.hpp"
#include "sotto/core/numeric/outward.hpp"

namespace sotto {
namespace {

constexpr double kSumError = 1e-9;
constexpr double kNegligible = 1e-17;      // of a sum: terms beyond fall faster than geometrically
constexpr double kDeepest = -650;          // logarithm of what is not looked at any more
constexpr double kLeast = 1e-250;          // above all of that
constexpr std::size_t kMostBlocks = 2048;  // far out δ changes with every answer: bounds suffice

// X = A + B, A ~ Bin(ones, p), B ~ Bin(zeros, q), q = 1 − p. Terms A(i)·B(s − i) are log-concave in
// i: sums start at the largest and go outwards.
class CountOfOnes {
 public:
  CountOfOnes(std::uint64_t ones, std::uint64_t zeros, double p, double q)
      : ones_(ones), zeros_(zeros), p_(p), q_(q), odds_(p / q) {}

  std::uint64_t most() const { return ones_ + zeros_; }

  // ln P(X = s) − ln P(X = s + 1), s ≤ most() − 1; grows with s.
  double fall(std::uint64_t s) const {
    const Peak peak = peak_of(s);
    double here = 0, next = 0;
    const auto add = [&](std::uint64_t i, double term) {
      const std::uint64_t j = s - i;
      here += term;
      next += term * (static_cast<double>(zeros_ - j) / static_cast<double>(j + 1) / odds_);
    };
    outwards(s, peak, add);
    // The term of s + 1 ones alone.
    if (s + 1 <= ones_) next += std::exp(log_one(s + 1) + log_zero(0) - peak.log_term);
    return std::log(here / next);
  }

  struct At {
    double here, from_next;  // P(X = t − 1); P(X ≥ t), not rounded up
  };
  At at(std::uint64_t t) const {
    const std::uint64_t s = t - 1;
    const Peak peak = peak_of(s);
    if (peak.log_term < kDeepest) return {0, 0};
    double here = 0;
    std::uint64_t first = peak.at;
    outwards(s, peak, [&](std::uint64_t i, double term) {
      here += term;
      first = std::min(first, i);
    });
    // In units of A and B at the largest term.
    const double log_other = log_zero(s - peak.at);
    double mass = std::exp(log_one(first) - log_one(peak.at));
    double other = std::exp(log_zero(s - first) - log_other);
    double tail = tail_from(t - first, log_other), next = 0;
    for (std::uint64_t i = first;; ++i) {
      next += mass * tail;
      if (i >= ones_) break;
      const double ratio = static_cast<double>(ones_ - i) / static_cast<double>(i + 1) * odds_;
      if (ratio < 1 && mass * tail < 1e-12 * next) break;  // what is left makes δ smaller
      mass *= ratio;
      tail += other;
      const std::uint64_t j = i < s ? s - i : 0;
      other = j == 0
                  ? 0
                  : other * (static_cast<double>(j) / static_cast<double>(zeros_ - j + 1)) * odds_;
    }
    const double scale = std::exp(peak.log_term);
    return {here * scale, next * scale};
  }

 private:
  struct Peak {
    std::uint64_t at;
    double log_term;
  };
  double log_one(std::uint64_t i) const { return log_binomial_pmf(ones_, i, p_, q_); }
  double log_zero(std::uint64_t j) const { return log_binomial_pmf(zeros_, j, q_, p_); }

  // A(i+1)·B(s−i−1) over A(i)·B(s−i).
  double growth(std::uint64_t s, std::uint64_t i) const {
    const std::uint64_t j = s - i;
    return static_cast<double>(ones_ - i) / static_cast<double>(i + 1) * odds_ *
           (static_cast<double>(j) / static_cast<double>(zeros_ - j + 1)) * odds_;
  }
  Peak peak_of(std::uint64_t s) const {
    std::uint64_t low = s > zeros_ ? s - zeros_ : 0, high = std::min(ones_, s);
    while (low < high) {  // the first i after which terms do not grow
      const std::uint64_t middle = low + (high - low) / 2;
      if (growth(s, middle) > 1)
        low = middle + 1;
      else
        high = middle;
    }
    return {low, log_one(low) + log_zero(s - low)};
  }
  // add(i, term) in units of the largest.
  template <class Add>
  void outwards(std::uint64_t s, const Peak& peak, const Add& add) const {
    const std::uint64_t least = s > zeros_ ? s - zeros_ : 0, last = std::min(ones_, s);
    double sum = 0, term = 1;
    for (std::uint64_t i = peak.at;; ++i) {
      add(i, term);
      sum += term;
      if (i >= last || term < kNegligible * sum) break;
      term *= growth(s, i);
    }
    term = 1;
    for (std::uint64_t i = peak.at; i > least;) {
      --i;
      term /= growth(s, i);
      add(i, term);
      sum += term;
      if (term < kNegligible * sum) break;
    }
  }
  // P(B ≥ j) in units of e^unit, from below.
  double tail_from(std::uint64_t j, double unit) const {
    double sum = 0;
    if (j > zeros_) return sum;
    double term = std::exp(log_zero(j) - unit);
    for (std::uint64_t k = j; k <= zeros_; ++k) {
      sum += term;
      const double ratio = static_cast<double>(zeros_ - k) / static_cast<double>(k + 1) / odds_;
      term *= ratio;
      if (ratio < 1 && term < kNegligible * sum) break;
    }
    return sum;
  }

  std::uint64_t ones_, zeros_;
  double p_, q_, odds_;
};

// The largest of u·P(X = t−1) − more·P(X ≥ t): at the first t where P(X = t−1)/P(X = t) reaches
// 1 + more/u.
double largest(const CountOfOnes& x, double mean, double variance, double u, double more) {
  const double need = std::log1p(more / u);
  std::uint64_t low = 0, high = x.most() + 1;  // not reached; reached
  double guess = mean + need * variance;
  for (int i = 0; high - low > 1; ++i) {
    std::uint64_t t = low + (high - low) / 2;
    if (i < 12 && guess > static_cast<double>(low) && guess < static_cast<double>(high))
      t = std::clamp(static_cast<std::uint64_t>(guess), low + 1, high - 1);
    const double fall = x.fall(t - 1);
    // By the slope of a Gaussian; at least to the next number.
    guess = static_cast<double>(t) + (need - fall) * variance;
    if (fall >= need)
      high = t, guess = std::min(guess, static_cast<double>(t) - 1);
    else
      low = t, guess = std::max(guess, static_cast<double>(t) + 1);
  }
  const CountOfOnes::At at = x.at(high);
  return kLeast +
         std::max(0.0, u * at.here * (1 + kSumError) - more * at.from_next * (1 - kSumError));
}

}  // namespace

double shuffled_binary_delta_above(double local, std::uint64_t population, double epsilon,
                                   double slack) {
  const double p = 1 / (1 + std::exp(-local)), q = 1 / (1 + std::exp(local));
  const double more = std::expm1(epsilon),
               u = std::exp(epsilon) * std::expm1(local - epsilon) * q;  // p − e^ε q
  const std::uint64_t others = population - 1;
  struct Answers {
    std::uint64_t first, last;  // numbers of ones
    double bound;
    bool operator<(const Answers& other) const { return bound < other.bound; }
  };
  const auto bounded = [&](std::uint64_t first, std::uint64_t last) {
    const std::uint64_t zeros = others - last;
    const double mean = static_cast<double>(first) * p + static_cast<double>(zeros) * q,
                 variance = static_cast<double>(first + zeros) * p * q;
    return Answers{first, last, largest(CountOfOnes(first, zeros, p, q), mean, variance, u, more)};
  };
  // All others answer alike: attained.
  const double known = bounded(others, others).bound;
  std::priority_queue<Answers> open;
  open.push(bounded(0, others));
  // What may hold the largest is halved until it holds hardly more than what is attained, or is one
  // number.
  while (open.top().last > open.top().first && open.top().bound > known * (1 + slack) &&
         open.size() < kMostBlocks) {
    const Answers block = open.top();
    open.pop();
    const std::uint64_t middle = block.first + (block.last - block.first) / 2;
    open.push(bounded(block.first, middle));
    open.push(bounded(middle + 1, block.last));
  }
  return std::min(1.0, widen_up(std::max(known, open.top().bound), kSumError));
}

}  // namespace sotto
