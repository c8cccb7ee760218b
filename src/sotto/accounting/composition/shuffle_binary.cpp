#include "sotto/accounting/composition/detail/shuffle_binary.hpp"

#include <algorithm>
#include <cmath>
#include <queue>

#include "sotto/accounting/numeric/detail/log_math.hpp"
#include "sotto/core/numeric/outward.hpp"

namespace sotto {
namespace {

constexpr double kBinaryError = 1e-9;
constexpr double kBinaryTiny =
    1e-250;  // below, ratios would carry the error of a subnormal number on
constexpr double kDeviations = 11, kMore = 48;  // of the summands looked at

// X = A + B, A ~ Bin(ones, p), B ~ Bin(zeros, q), q = 1 − p.
class Count {
 public:
  Count(std::uint64_t ones, std::uint64_t zeros, double p, double q)
      : ones_(ones), zeros_(zeros), p_(p), q_(q) {}

  struct At {
    double here, from_next;  // P(X = t − 1), P(X ≥ t)
  };
  At at(std::uint64_t t) const {
    if (t == 0) return {0, 1};
    const auto dt = static_cast<double>(t), a = static_cast<double>(ones_),
               b = static_cast<double>(zeros_);
    // Terms A(i)·B(t − i) are log-concave in i, the largest between the mean of A and where the
    // excess of t over its mean is shared alike.
    const double deviation = std::sqrt(a * p_ * q_), mean = a * p_,
                 shared = mean + (dt - mean - b * q_) * (a + b > 0 ? a / (a + b) : 0),
                 wide = kDeviations * deviation + kMore;
    const double low = std::max({0.0, std::min(mean, shared) - wide, dt - b - 1}),
                 high = std::min(a, std::max(mean, shared) + wide);
    auto i = static_cast<std::uint64_t>(std::min(low, a));
    const auto last = static_cast<std::uint64_t>(std::max(high, static_cast<double>(i)));
    double here = 0, next = 0;
    double mass = std::exp(log_binomial_pmf(ones_, i, p_, q_));
    // B at t − 1 − i and its tail from t − i on, as i grows.
    double other = t - 1 >= i ? pmf(t - 1 - i) : 0, tail = t >= i ? tail_from(t - i) : 1;
    for (;; ++i) {
      here += mass * other;
      next += mass * tail;
      if (i >= last) break;
      mass = mass > kBinaryTiny
                 ? mass * (static_cast<double>(ones_ - i) / static_cast<double>(i + 1)) * (p_ / q_)
                 : std::exp(log_binomial_pmf(ones_, i + 1, p_, q_));
      // One step down in B.
      tail = std::min(1.0, tail + other);
      if (t - 1 > i) {
        const std::uint64_t j = t - 1 - i;
        other =
            other > kBinaryTiny && j <= zeros_
                ? other * (static_cast<double>(j) / static_cast<double>(zeros_ - j + 1)) * (p_ / q_)
                : pmf(j - 1);
      } else {
        other = 0;
      }
    }
    return {here, next};
  }

 private:
  double pmf(std::uint64_t j) const {
    return j > zeros_ ? 0 : std::exp(log_binomial_pmf(zeros_, j, q_, p_));
  }
  // P(B ≥ j).
  double tail_from(std::uint64_t j) const {
    if (j > zeros_) return 0;
    if (j == 0) return 1;
    const bool upper = static_cast<double>(j) > static_cast<double>(zeros_) * q_;
    double sum = 0, term = pmf(upper ? j : j - 1);
    if (upper) {
      for (std::uint64_t k = j; k <= zeros_ && term > 1e-18 * sum; ++k) {
        sum += term;
        term *= static_cast<double>(zeros_ - k) / static_cast<double>(k + 1) * (q_ / p_);
      }
      return sum;
    }
    for (std::uint64_t k = j - 1;; --k) {
      sum += term;
      if (k == 0 || term <= 1e-18 * sum) break;
      term *= static_cast<double>(k) / static_cast<double>(zeros_ - k + 1) * (p_ / q_);
    }
    return std::max(0.0, 1 - sum);
  }

  std::uint64_t ones_, zeros_;
  double p_, q_;
};

// The largest of u·P(X = t−1) − more·P(X ≥ t): t grows until P(X = t−1)/P(X = t) reaches
// 1 + more/u, which happens once, the ratio growing with t.
double largest(const Count& x, std::uint64_t others, double mean, double variance, double u,
               double more) {
  const double need = std::log1p(more / u);
  const auto past = [&](std::uint64_t t) {
    if (t > others) return true;
    const double before = x.at(t).here, here = x.at(t + 1).here;
    return here <= 0 ? static_cast<double>(t) > mean : std::log(before / here) >= need;
  };
  const double guess = std::clamp(mean + need * variance, 0.0, static_cast<double>(others + 1));
  auto low = static_cast<std::uint64_t>(guess), high = low;  // low: not past, high: past
  std::uint64_t step = 1 + static_cast<std::uint64_t>(0.05 * std::sqrt(variance));
  if (past(low)) {
    for (low = low > step ? low - step : 0; low > 0 && past(low); step *= 4)
      high = low, low = low > step ? low - step : 0;
  } else {
    for (high = std::min(others + 1, low + step); !past(high); step *= 4)
      low = high, high = std::min(others + 1, high + step);
  }
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (past(middle) ? high : low) = middle;
  }
  double best = 0;
  for (std::uint64_t t = std::max<std::uint64_t>(1, low); t <= std::min(others + 1, high + 1);
       ++t) {
    const Count::At at = x.at(t);
    best =
        std::max(best, u * at.here * (1 + kBinaryError) - more * at.from_next * (1 - kBinaryError));
  }
  return best;
}

}  // namespace

double shuffled_binary_delta_above(double local, std::uint64_t population, double epsilon,
                                   double share) {
  const double p = 1 / (1 + std::exp(-local)), q = 1 / (1 + std::exp(local));
  const double more = std::expm1(epsilon),
               u = (std::exp(local) - std::exp(epsilon)) * q;  // p − e^ε q
  const std::uint64_t others = population - 1;
  const auto narrow =
      std::max<std::uint64_t>(1, static_cast<std::uint64_t>(share * static_cast<double>(others)));
  struct Block {
    std::uint64_t first, last;  // numbers of ones
    double bound;
    bool operator<(const Block& other) const { return bound < other.bound; }
  };
  const auto bounded = [&](std::uint64_t first, std::uint64_t last) {
    const std::uint64_t zeros = others - last, kept = first + zeros;
    const double mean = static_cast<double>(first) * p + static_cast<double>(zeros) * q,
                 variance = static_cast<double>(kept) * p * q;
    return Block{first, last, largest(Count(first, zeros, p, q), kept, mean, variance, u, more)};
  };
  std::priority_queue<Block> open;
  open.push(bounded(0, others));
  // The block with the largest bound is narrow at last: no other can hold more.
  while (open.top().last - open.top().first >= narrow) {
    const Block block = open.top();
    open.pop();
    const std::uint64_t middle = block.first + (block.last - block.first) / 2;
    open.push(bounded(block.first, middle));
    open.push(bounded(middle + 1, block.last));
  }
  return std::min(1.0, widen_up(open.top().bound, kBinaryError));
}

}  // namespace sotto
