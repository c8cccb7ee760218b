#include "sotto/accounting/numeric/detail/loss_grid.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/accounting/numeric/detail/log_math.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numeric/outward.hpp"

namespace sotto {
namespace {

// Every so many masses one is computed, the others follow by their ratios: the fraction they err by
// stays below 1e-13. A ratio to a subnormal number would carry its error on.
constexpr std::uint64_t kExactMass = 64;
constexpr double kSmallestMass = 1e-290;
// More outcomes than this are taken in stretches, each a small part of a standard deviation.
constexpr std::uint64_t kMostStretches = 1 << 17;

struct Law {
  long first = 0;
  std::vector<double> mass;
  double& at(long index) { return mass[static_cast<std::size_t>(index - first)]; }
};

struct Range {
  std::uint64_t low, high;
};

// The successes i whose probability is at least e^log_least: the pmf is unimodal.
Range likely(std::uint64_t n, double p, double q, double log_least) {
  const double mean = static_cast<double>(n) * p;
  const auto mode =  // a double may be beyond every whole number
      mean < static_cast<double>(n) ? std::min(n, static_cast<std::uint64_t>(mean)) : n;
  const auto big = [&](std::uint64_t i) { return log_binomial_pmf(n, i, p, q) >= log_least; };
  std::uint64_t a = 0, b = mode;  // first big one in [0, mode]
  while (a < b) {
    const std::uint64_t m = a + (b - a) / 2;
    if (big(m))
      b = m;
    else
      a = m + 1;
  }
  std::uint64_t c = mode, d = n;
  while (c < d) {
    const std::uint64_t m = c + (d - c + 1) / 2;
    if (big(m))
      c = m;
    else
      d = m - 1;
  }
  return {a, c};
}

Law convolve(const Law& x, const Law& y) {
  const Law &a = x.mass.size() < y.mass.size() ? x : y, &b = x.mass.size() < y.mass.size() ? y : x;
  Law out{a.first + b.first, std::vector<double>(a.mass.size() + b.mass.size() - 1, 0.0)};
  for (std::size_t i = 0; i < a.mass.size(); ++i) {
    const double m = a.mass[i];
    if (m == 0) continue;
    double* to = out.mass.data() + i;
    for (std::size_t j = 0; j < b.mass.size(); ++j) to[j] += m * b.mass[j];
  }
  return out;
}

// How many leading and trailing elements together weigh at most `tail` each.
std::pair<std::size_t, std::size_t> tails(const std::vector<double>& mass, double tail,
                                          double& lost) {
  std::size_t front = 0, back = mass.size();
  double sum = 0;
  while (front + 1 < back && sum + mass[front] <= tail) sum += mass[front++];
  lost += sum;
  sum = 0;
  while (back > front + 1 && sum + mass[back - 1] <= tail) sum += mass[--back];
  lost += sum;
  return {front, back};
}

void cut(Law& law, std::pair<std::size_t, std::size_t> keep) {
  law.mass.resize(keep.second);
  law.mass.erase(law.mass.begin(), law.mass.begin() + static_cast<long>(keep.first));
  law.first += static_cast<long>(keep.first);
}

struct RunLaws {
  Law upper, lower, other;
  double lost = 0;
};

// The law of n outcomes of a randomized response, taken one after the other or, where there are
// very many, a stretch at a time.
class ResponseLaws {
 public:
  ResponseLaws(const ApproximateDp& part, double h, double tail)
      : n_(part.count),
        e_(part.epsilon),
        p_(1 / (1 + std::exp(-part.epsilon))),
        q_(1 / (1 + std::exp(part.epsilon))),
        h_(h),
        whole_(std::expm1(-h)),
        range_(likely(n_, p_, q_, std::log(tail) - std::log1p(static_cast<double>(n_)))) {
    const long first = static_cast<long>(std::floor(loss(range_.low) / h)) - 1;
    const auto size =
        static_cast<std::size_t>(static_cast<long>(std::ceil(loss(range_.high) / h)) + 2 - first);
    laws_.upper = laws_.lower = laws_.other = {first, std::vector<double>(size, 0.0)};
    laws_.lost = tail;  // all outcomes left out, each below tail/(n+1)
    if (const std::uint64_t stretch = (range_.high - range_.low) / kMostStretches; stretch > 1)
      in_stretches(stretch);
    else
      one_by_one();
  }
  RunLaws take() && { return std::move(laws_); }

 private:
  double loss(std::uint64_t i) const {
    const std::uint64_t rest = n_ - i;  // differences of such large numbers as numbers, not doubles
    return (i >= rest ? static_cast<double>(i - rest) : -static_cast<double>(rest - i)) * e_;
  }
  double mass(std::uint64_t i) const { return std::exp(log_binomial_pmf(n_, i, p_, q_)); }

  void one_by_one() {
    const double odds = std::exp(e_);
    double m = 0;
    for (std::uint64_t i = range_.low; i <= range_.high; ++i) {
      if ((i - range_.low) % kExactMass == 0 || m < kSmallestMass || !std::isfinite(odds)) {
        m = mass(i);
      } else {
        m *= static_cast<double>(n_ - i + 1) / static_cast<double>(i) * odds;
      }
      const double l = loss(i);
      add_upper(l, m);
      add_lower(l, m, m);
    }
  }

  // Probabilities are log-concave: those of a stretch are at most a geometric sequence with its
  // first ratio, and at least one through both its ends. From above all of it has its largest loss,
  // from below its smallest.
  void in_stretches(std::uint64_t length) {
    for (std::uint64_t i = range_.low;; i += length) {
      const std::uint64_t last = std::min(range_.high, i + length - 1);
      const double terms = static_cast<double>(last - i + 1), at = log_binomial_pmf(n_, i, p_, q_);
      const double first_ratio =
          std::log(static_cast<double>(n_ - i) / static_cast<double>(i + 1)) + e_;
      const double most = std::exp(at) * geometric(first_ratio, terms);
      const double chord = last == i ? 0 : (log_binomial_pmf(n_, last, p_, q_) - at) / (terms - 1);
      const double least = std::exp(at) * geometric(chord, terms);
      add_upper(loss(last), most);
      add_lower(loss(i), std::min(least, most), most);
      if (last == range_.high) return;
    }
  }
  // 1 + r + … + r^(n−1) for r = e^x.
  static double geometric(double x, double n) {
    return std::abs(x) < 1e-12 ? n * std::exp(std::max(0.0, x) * n)
                               : std::expm1(n * x) / std::expm1(x);
  }

  void add_upper(double l, double m) {
    const auto below = static_cast<long>(std::floor(l / h_));
    const double share =
        std::clamp(std::expm1(static_cast<double>(below) * h_ - l) / whole_, 0.0, 1.0);
    laws_.upper.at(below + 1) += m * share;
    laws_.upper.at(below) += m * (1 - share);
  }
  // m under P, and other·e^(−l) under Q.
  void add_lower(double l, double m, double other) {
    const auto nearest = static_cast<long>(std::lround(l / h_));
    laws_.lower.at(nearest) += m;
    laws_.other.at(nearest) += other * std::exp(static_cast<double>(nearest) * h_ - l);
  }

  std::uint64_t n_;
  double e_, p_, q_, h_, whole_;
  Range range_;
  RunLaws laws_;
};

}  // namespace

GridComposition compose_on_grid(std::span<const ApproximateDp> parts, double delta_scale,
                                double precision) {
  const double tail = 1e-7 * delta_scale / (4 * static_cast<double>(parts.size()));
  const double deviations = std::sqrt(-2 * std::log(tail)) + 2;
  double mean = 0, variance = 0, largest = 0;
  for (const ApproximateDp& p : parts) {
    const auto k = static_cast<double>(p.count);
    mean += k * p.epsilon * std::tanh(p.epsilon / 2);
    variance += k * p.epsilon * p.epsilon;
    largest += k * p.epsilon;
  }
  const double spread = std::sqrt(variance);
  // ε of this order; R laws on the grid add about R h²/12 (1 + z/S) to it.
  const double scale = std::min(largest, mean + spread * std::sqrt(-2 * std::log(delta_scale)));
  const double z = std::sqrt(-2 * std::log(delta_scale));
  const auto runs = static_cast<double>(parts.size());
  double h = std::sqrt(12 * 0.5 * precision * scale / (runs * (1 + z / spread)));
  h = std::min(h, scale / 64);
  const auto width = [&](double sd, double range) {
    return std::min(2 * range, 2 * deviations * sd);
  };
  const double most =
      precision < 1e-3 ? 6e8 : 3e7;  // multiply-adds: a second, or a search's share of one
  for (int i = 0; i < 200; ++i, h *= 1.3) {
    double work = 0, v = 0, reach = 0;
    for (const ApproximateDp& p : parts) {
      const auto k = static_cast<double>(p.count);
      const double own = width(p.epsilon * std::sqrt(k), k * p.epsilon) / h + 3;
      v += k * p.epsilon * p.epsilon;
      reach += k * p.epsilon;
      work += std::min(own, k + 1) * (width(std::sqrt(v), reach) / h + 3) * 3;
    }
    if (work < most) break;
  }

  GridComposition out;
  out.step_ = h;
  Law upper{0, {1}}, lower{0, {1}}, other{0, {1}};
  double operations = 64;
  for (const ApproximateDp& p : parts) {
    const RunLaws laws = ResponseLaws(p, h, tail).take();
    out.lost_ += laws.lost;
    upper = convolve(upper, laws.upper);
    lower = convolve(lower, laws.lower);
    other = convolve(other, laws.other);
    cut(upper, tails(upper.mass, tail, out.lost_));
    double ignored = 0;  // dropping outcomes only lowers the optimistic δ
    const auto keep = tails(lower.mass, tail, ignored);
    cut(lower, keep);
    cut(other, keep);
    operations += static_cast<double>(std::min(upper.mass.size(), laws.upper.mass.size())) + 64;
    // n·p is rounded, which moves ln of a probability by that times its distance from the mean.
    operations += 2 * deviations * std::sqrt(static_cast<double>(p.count));
  }
  out.first_upper_ = upper.first, out.upper_ = std::move(upper.mass);
  out.first_lower_ = lower.first, out.lower_ = std::move(lower.mass),
  out.lower_other_ = std::move(other.mass);
  out.error_ = 4 * operations * kUlp + 1e-12;
  return out;
}

double GridComposition::delta_upper(double epsilon) const {
  double sum = 0;
  for (std::size_t i = upper_.size(); i-- > 0;) {
    const double loss = static_cast<double>(first_upper_ + static_cast<long>(i)) * step_;
    if (loss <= epsilon) break;
    sum += upper_[i] * -std::expm1(epsilon - loss);
  }
  return std::min(1.0, widen_up(sum, error_) + lost_);
}

double GridComposition::delta_lower(double epsilon) const {
  double sum = 0;
  for (std::size_t i = lower_.size(); i-- > 0;) {
    const double loss = static_cast<double>(first_lower_ + static_cast<long>(i)) * step_;
    // Cells are wider than a step after many compositions, so look well below ε before stopping.
    if (lower_other_[i] < kSmallestMass) continue;  // may be more than it seems
    const double q = lower_other_[i] * std::exp(std::min(700.0, epsilon - loss));
    sum += std::max(0.0, widen_down(lower_[i], error_) - widen_up(q, error_));
  }
  return std::max(0.0, widen_down(sum, error_));
}

}  // namespace sotto
