#include "sotto/accounting/composition/detail/positive_part.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sotto/accounting/composition/detail/binomial_window.hpp"
#include "sotto/accounting/numeric/detail/log_math.hpp"
#include "sotto/core/numeric/outward.hpp"

namespace sotto {
namespace {

constexpr double kLeftOut = 1e-11;
constexpr double kSmallestTerm =
    1e-250;                          // below, ratios would carry the error of a subnormal number on
constexpr double kLine = 1e-14;      // relative error of the line
constexpr double kTermError = 1e-9;  // relative error of a sum of terms by their ratios
constexpr std::uint64_t kLook = 16;  // terms between two looks at what is left

class GivenLows {
 public:
  GivenLows(const ThreeValues& d, std::uint64_t draws, bool above)
      : draw_(d), draws_(draws), above_(above) {
    const double rest = d.high_probability + d.middle_probability;  // 1 − low_probability
    high_ = d.high_probability / rest;
    not_high_ = d.middle_probability / rest;
  }

  // f(b).
  double operator()(std::uint64_t b) const {
    const std::uint64_t n = draws_ - b;
    const double need = ((draw_.middle - draw_.low) * static_cast<double>(b) -
                         draw_.middle * static_cast<double>(draws_)) /
                        (draw_.high - draw_.middle);
    const double line = need * (above_ ? 1 - kLine : 1 + kLine);
    if (!(line < static_cast<double>(n))) return 0;
    if (not_high_ <= 0) return (draw_.high - draw_.middle) * (static_cast<double>(n) - line);
    const auto first = static_cast<std::uint64_t>(std::floor(line)) + 1;
    const double odds = high_ / not_high_, mean = static_cast<double>(n) * high_;
    double term = std::exp(log_binomial_pmf(n, first, high_, not_high_)), sum = 0;
    if (term < kSmallestTerm && static_cast<double>(first) < mean) return whole(n, line);
    for (std::uint64_t h = first; h <= n; ++h) {
      const double dh = static_cast<double>(h);
      sum += term * (dh - line);
      const double ratio = static_cast<double>(n - h) / (dh + 1) * odds;
      term *= ratio;
      // Past the mean the ratios fall: what is left is at most a geometric sum. To look takes
      // longer than a term.
      if ((h - first) % kLook != 0 || !(ratio < 1)) continue;
      const double left = term / (1 - ratio) * (dh + 1 - line + ratio / (1 - ratio));
      if (left <= kLeftOut * sum || left < 1e-300) {
        if (above_) sum += left;
        break;
      }
    }
    return (draw_.high - draw_.middle) * sum;
  }

 private:
  // The line is so far below the mean that no probability is seen there: E[h − line] and no less.
  double whole(std::uint64_t n, double line) const {
    const double mean = static_cast<double>(n) * high_;
    return (draw_.high - draw_.middle) * (above_ ? mean : std::max(0.0, mean - line));
  }

  ThreeValues draw_;
  std::uint64_t draws_;
  bool above_;
  double high_ = 0, not_high_ = 0;
};

struct BlockOfLows {
  std::uint64_t begin, last;
  double weight, mean;
};

// Values of b that have more than kTail of the probability on their side, in blocks.
std::vector<BlockOfLows> blocks_of(const BinomialWindow& window, std::uint64_t n, double p,
                                   double q, double part) {
  const double deviation = std::sqrt(static_cast<double>(n) * p * q);
  const auto width = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(deviation / part));
  std::vector<BlockOfLows> blocks;
  for (std::uint64_t b = window.low; b <= window.high; b += width) {
    const std::uint64_t last = std::min(window.high, b + width - 1);
    // Ratios from one exact value a block.
    double term = std::exp(log_binomial_pmf(n, b, p, q)), weight = 0, moment = 0;
    for (std::uint64_t i = b; i <= last; ++i) {
      weight += term;
      moment += term * static_cast<double>(i - b);
      term *= static_cast<double>(n - i) / static_cast<double>(i + 1) * (p / q);
    }
    const double mean = weight > 0 ? moment / weight : 0;
    blocks.push_back({b, last, weight, static_cast<double>(b) + mean});
  }
  return blocks;
}

double positive_part(const ThreeValues& d, std::uint64_t n, double part, bool above) {
  const GivenLows given(d, n, above);
  const double p = d.low_probability, q = d.high_probability + d.middle_probability;
  if (p <= 0) return given(0) * (above ? 1 + kTermError : 1 - kTermError);
  const BinomialWindow window = binomial_window(n, p);
  const std::vector<BlockOfLows> blocks = blocks_of(window, n, p, q, part);
  // The value in a block, given the value at its first number when that is known.
  const auto value = [&](const BlockOfLows& b) {
    const double begin = static_cast<double>(b.begin);
    if (b.begin == b.last) return given(b.begin);
    if (above) {
      const double first = given(b.begin), last = given(b.last),
                   share = (b.mean - begin) / static_cast<double>(b.last - b.begin);
      return first + (last - first) * std::clamp(share * (1 - 1e-9), 0.0, 1.0);
    }
    // Convex: the mean of values is at least the value at the mean, here between whole numbers.
    const auto floor = static_cast<std::uint64_t>(b.mean);
    const double here = given(floor), next = given(std::min(n, floor + 1));
    return here + (next - here) * std::min(1.0, (b.mean - static_cast<double>(floor)) * (1 + 1e-9));
  };
  std::size_t middle = 0;
  while (middle + 1 < blocks.size() && blocks[middle + 1].mean <= static_cast<double>(n) * p)
    ++middle;
  std::vector<double> below(blocks.size() + 1, kTail);  // probability of all blocks before
  for (std::size_t i = 0; i < blocks.size(); ++i) below[i + 1] = below[i] + blocks[i].weight;
  const double most = given(window.low);
  double sum = 0, left = kTail * given(0);
  for (std::size_t i = middle + 1; i-- > 0;) {
    sum += blocks[i].weight * value(blocks[i]);
    if (below[i] * most <= kLeftOut * sum) {
      left += below[i] * most;
      break;
    }
  }
  for (std::size_t i = middle + 1; i < blocks.size(); ++i) {
    const double here = given(blocks[i].begin);  // at least every later value
    if (here <= kLeftOut * sum) {
      left += here;
      break;
    }
    sum += blocks[i].weight * value(blocks[i]);
  }
  return above ? widen_up(sum, kTermError) + left + kTail * most
               : std::max(0.0, widen_down(sum, kTermError));
}

}  // namespace

double positive_part_above(const ThreeValues& draw, std::uint64_t draws, double part) {
  return positive_part(draw, draws, part, true);
}
double positive_part_below(const ThreeValues& draw, std::uint64_t draws, double part) {
  return positive_part(draw, draws, part, false);
}

}  // namespace sotto
