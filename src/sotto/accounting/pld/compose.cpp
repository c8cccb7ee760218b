#include "sotto/accounting/pld/compose.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include "sotto/accounting/pld/detail/fft.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numeric/outward.hpp"

namespace sotto {
namespace {

using Complex = std::complex<double>;

constexpr double kDropped = -42;  // ln of spectrum values that are treated as 0

// ln Σ mass·e^{θ·loss} by Horner's rule: positive terms, scaled by the largest exponential that has
// a mass, so that nothing overflows and the sum never vanishes.
double step_log_moment(const StepLaw& law, double h, double theta) {
  std::size_t from = 0, n = law.mass.size();
  while (n > from + 1 && law.mass[n - 1] <= 0) --n;
  while (from + 1 < n && law.mass[from] <= 0) ++from;
  double sum = 0, factor = 1;
  std::int64_t gap = 0;
  const auto take = [&](std::size_t k, std::int64_t distance) {
    if (distance != gap) {
      gap = distance;
      factor = std::exp(-std::abs(theta) * h * static_cast<double>(gap));
    }
    sum = sum * factor + law.mass[k];
  };
  if (theta >= 0) {
    for (std::size_t k = from; k < n; ++k) take(k, k > from ? law.point[k] - law.point[k - 1] : 0);
    return std::log(sum) + theta * h * static_cast<double>(law.point[n - 1]);
  }
  for (std::size_t k = n; k-- > from;) take(k, k + 1 < n ? law.point[k + 1] - law.point[k] : 0);
  return std::log(sum) + theta * h * static_cast<double>(law.point[from]);
}

// The largest loss of one use, upwards or downwards.
double largest_loss(std::span<const StepRun> runs, double h, int sign) {
  double x = h;
  for (const StepRun& run : runs) {
    const std::int64_t end = sign > 0 ? run.law.point.back() : -run.law.point.front();
    x = std::max(x, static_cast<double>(end) * h);
  }
  return x;
}

// K(θ ± s) − K(θ) at a few slopes s ≥ 0: Chernoff bounds of the tilted total. Every slope gives a
// valid bound. Where the total is like a normal one, slopes of a few standard deviations are best;
// where rare single losses rule it, a few times their inverse.
std::vector<ChernoffSlope> slopes_of(std::span<const StepRun> runs, double h, double theta,
                                     double k0, double spread, int sign) {
  std::vector<ChernoffSlope> out;
  if (sign > 0 && theta > 0) out.push_back({0, 0});
  std::vector<double> slopes;
  for (double factor : {0.01, 0.03, 0.08, 0.2, 0.4, 0.7, 1.0, 1.5, 2.5})
    slopes.push_back(6 * factor / spread);
  const double largest = largest_loss(runs, h, sign), steepest = slopes.back();
  for (double factor : {2.0, 7.0, 20.0})
    if (factor / largest < steepest) slopes.push_back(factor / largest);
  for (const double s : slopes) out.push_back({s, log_moment(runs, h, theta + sign * s) - k0});
  return out;
}

// min over the slopes of exp(value), at most 1.
template <class F>
double least(const std::vector<ChernoffSlope>& slopes, const F& value) {
  double best = 0;
  for (const ChernoffSlope& c : slopes) best = std::min(best, value(c));
  return std::exp(best);
}

}  // namespace

double log_moment(std::span<const StepRun> runs, double h, double theta) {
  double sum = 0;
  for (const StepRun& run : runs)
    sum += static_cast<double>(run.count) * step_log_moment(run.law, h, theta);
  return sum;
}

TiltedSum::TiltedSum(std::span<const StepRun> runs, double h, double theta, BoundSide side,
                     std::size_t largest, const WindowTarget& target)
    : side_(side), h_(h), theta_(theta) {
  std::vector<double> step_moment;
  double uses = 0, infinite_log = 0, summing = 0;
  log_scale_ = 0;
  for (const StepRun& run : runs) {
    const double t = static_cast<double>(run.count), k = step_log_moment(run.law, h, theta);
    step_moment.push_back(k);
    log_scale_ += t * k;
    uses += t;
    infinite_log += t * std::log1p(-std::min(1.0, run.law.infinite));
    shift_ += t * run.law.shift;
    far_ += t * run.law.far;
    const double extent = std::max(std::abs(static_cast<double>(run.law.point.front())),
                                   std::abs(static_cast<double>(run.law.point.back())));
    const double exponent = theta * h * extent + std::abs(k) + 8;
    summing += t * 2 * kUlp *
               static_cast<double>(
                   run.law.mass.size());  // log-moments and masses are sums of this many terms
    slack_ += t * (run.law.slack + 4 * kUlp * exponent);
  }
  if (!std::isfinite(log_scale_))
    throw AccountingError("the moments of the total privacy loss cannot be computed");

  // Spread of the tilted total by differences of the log-moment, only to choose the window.
  const double d = std::max(1e-3 * theta, 0.05);
  const double right = log_moment(runs, h, theta + d), left = log_moment(runs, h, theta - d);
  const double spread = std::sqrt(std::max((right + left - 2 * log_scale_) / (d * d), h * h));
  above_ = slopes_of(runs, h, theta, log_scale_, spread, +1);
  const std::vector<ChernoffSlope> below = slopes_of(runs, h, theta, log_scale_, spread, -1);
  // Top: untilted mass of leak·δ lies above. Bottom, and so far above ε that it wraps around to
  // above ε: tilted mass that weighs as much. The weights are at most e^{K−θε}.
  const double need = -std::log(target.leak) - target.log_delta;
  const double need_tilted = std::max(12.0, need + log_scale_ - theta * target.epsilon);
  double top = kInfinity, bottom = -kInfinity, reach = kInfinity;
  for (const ChernoffSlope& c : above_) {
    top = std::min(top, (log_scale_ + c.log_moment + need) / (c.slope + theta));
    if (c.slope > 0)
      reach = std::min(reach, (c.log_moment + need_tilted) / c.slope - target.epsilon);
  }
  for (const ChernoffSlope& c : below)
    bottom = std::max(bottom, -(c.log_moment + need_tilted) / c.slope);
  bottom = std::min(bottom, target.epsilon - 4 * h);
  const double wanted = std::max(top - bottom, reach) / h + 4;
  if (!(wanted >= 0 && std::abs(bottom) < 1e15 * h))
    throw AccountingError("the window of the total privacy loss cannot be bounded");
  if (!(wanted <= static_cast<double>(largest)))
    throw WindowTooWide(wanted / static_cast<double>(largest));
  const std::size_t n = fft_size(static_cast<std::size_t>(wanted));
  const auto first = static_cast<std::int64_t>(std::floor(bottom / h)) - 1;
  first_ = first;
  bottom_ = static_cast<double>(first - 1) * h;
  width_ = static_cast<double>(n) * h;
  top = static_cast<double>(first + static_cast<std::int64_t>(n)) * h;
  summing_ = 2 * summing;
  hint_ = target.epsilon;

  // Spectrum of the tilted total.
  std::vector<Complex> total(n / 2 + 1, 1.0), spectrum;
  std::vector<double> log_size(n / 2 + 1), sensitivity(n / 2 + 1);
  std::vector<double> tilted(n);
  double step_norms = 0;
  for (std::size_t g = 0; g < runs.size(); ++g) {
    const StepLaw& law = runs[g].law;
    std::fill(tilted.begin(), tilted.end(), 0.0);
    const auto modulus = static_cast<std::int64_t>(n);
    for (std::size_t k = 0; k < law.mass.size(); ++k) {
      if (law.mass[k] <= 0) continue;
      const double y =
          law.mass[k] * std::exp(theta * h * static_cast<double>(law.point[k]) - step_moment[g]);
      tilted[static_cast<std::size_t>(((law.point[k] % modulus) + modulus) % modulus)] += y;
    }
    double norm = 0;
    for (double y : tilted) norm += y * y;
    const double t = static_cast<double>(runs[g].count);
    step_norms += t * std::sqrt(norm);
    fft_real(tilted, spectrum);
    for (std::size_t k = 0; k < total.size(); ++k) {
      if (log_size[k] < kDropped) continue;
      const double size = std::abs(spectrum[k]);
      sensitivity[k] += t / std::max(size, 1e-300);
      if (runs[g].count == 1) {
        total[k] *= spectrum[k];
        log_size[k] += std::log(size);
      } else {
        // ln|F| through |F|² − 1, which is accurate where |F| is near 1 and matters most.
        const double re = spectrum[k].real(), im = spectrum[k].imag();
        const double log_abs =
            size > 0.5 ? 0.5 * std::log1p((re - 1) * (re + 1) + im * im) : std::log(size);
        log_size[k] += t * log_abs;
        if (log_size[k] >= kDropped)
          total[k] *= std::polar(std::exp(t * log_abs),
                                 std::remainder(t * std::arg(spectrum[k]), 2 * M_PI));
      }
    }
  }
  const double error = fft_error(n), amplify = std::exp(std::min(700.0, uses * error + summing));
  double norm2 = 0, moved2 = 0;
  for (std::size_t k = 0; k < total.size(); ++k) {
    const double twice = k == 0 || k + 1 == total.size() ? 1 : 2;
    if (log_size[k] < kDropped) {
      total[k] = 0;
      moved2 += twice * std::exp(2 * kDropped) * amplify * amplify * 4;
      continue;
    }
    const double size = std::abs(total[k]);
    norm2 += twice * size * size;
    const double moved = amplify * (error + 16 * kUlp) * std::min(uses, size * sensitivity[k]);
    moved2 += twice * moved * moved;
  }
  const double root_n = std::sqrt(static_cast<double>(n));
  const double from_steps = std::min(
      std::sqrt(moved2) / root_n, amplify * (error + 16 * kUlp) * step_norms + std::exp(kDropped));
  const double round_off = 1.01 * (from_steps + error * std::sqrt(norm2) / root_n);
  std::vector<double> mass;
  fft_real_inverse(total, mass);

  // Suffix sums from the top of the window. Index j of the window is total index first + j.
  tail_.resize(n + 1);
  tail_q_.resize(n + 1);
  const double decay = std::exp(-theta * h), decay_q = std::exp(-(theta + 1) * h);
  const auto modulus = static_cast<std::int64_t>(n);
  auto at = static_cast<std::size_t>((((first + modulus - 1) % modulus) + modulus) % modulus);
  for (std::size_t j = n; j-- > 0;) {
    const double y = side == BoundSide::upper ? std::max(0.0, mass[at]) : mass[at];
    tail_[j] = y + decay * tail_[j + 1];
    tail_q_[j] = y + decay_q * tail_q_[j + 1];
    at = at == 0 ? n - 1 : at - 1;
  }
  // Σ_j w_j|r_j| ≤ ‖w‖₂‖r‖₂ with w_j ≤ e^{K−θε}e^{−θ(j−j₀)h}.
  const double weight = std::sqrt(
      std::min(static_cast<double>(n), 1 / std::max(1e-300, -std::expm1(-2 * theta * h))));
  noise_ = weight * round_off;
  rounding_ = 8 * kUlp * (4 + std::min(static_cast<double>(n), 40 / std::max(1e-300, theta * h)));
  if (side == BoundSide::upper) {
    const double beyond = least(above_, [&](const ChernoffSlope& c) {
      return log_scale_ + c.log_moment - (theta + c.slope) * top;
    });
    constant_ =
        -std::expm1(infinite_log) * (1 + 1e-12) + std::exp(std::min(700.0, summing_)) * beyond;
  } else {
    constant_ = -std::expm1(infinite_log) * (1 - 1e-12);
    // Mass from below the window wraps around to its top, where weights are below e^{K−θε}.
    noise_ += std::exp(std::min(700.0, summing_)) * least(below, [&](const ChernoffSlope& c) {
                return c.log_moment + c.slope * static_cast<double>(first) * h;
              });
  }
}

// Tilted mass that wraps around from above the window to above ε.
double TiltedSum::wrapped(double epsilon) const {
  return std::exp(std::min(700.0, summing_)) * least(above_, [&](const ChernoffSlope& c) {
           return c.slope > 0 ? c.log_moment - c.slope * (epsilon + width_) : 0;
         });
}

double TiltedSum::raw(std::size_t j, double epsilon) const {
  const double loss = static_cast<double>(first_ + static_cast<std::int64_t>(j)) * h_;
  const double exact = tail_[j] - std::exp(std::min(0.0, epsilon - loss)) * tail_q_[j];
  const double scale = log_scale_ - theta_ * loss;
  const double rounding = rounding_ * (std::abs(tail_[j]) + std::abs(tail_q_[j]));
  const double noise = noise_ * std::exp(theta_ * (loss - epsilon));
  if (side_ == BoundSide::upper)
    return std::exp(std::min(700.0, scale + slack_)) * (std::max(0.0, exact) + rounding + noise) +
           constant_;
  return std::exp(std::min(700.0, scale - slack_)) *
             (exact - rounding - noise - wrapped(epsilon) * std::exp(theta_ * (loss - epsilon))) +
         constant_ - far_at(epsilon);
}

// e^ε times the Q-mass of far losses. Beyond a loss of 745 that mass is below the smallest number,
// so that nothing is known of it where e^ε is large; further down it is far less than the rounding
// of their P-mass.
double TiltedSum::far_at(double epsilon) const {
  constexpr double kKnown = 300;
  if (far_ == 0) return 0;
  return epsilon <= kKnown ? far_ * std::exp(epsilon) : 1;
}

double TiltedSum::round_off(double epsilon) const {
  return noise_ * std::exp(std::min(700.0, log_scale_ - theta_ * epsilon));
}

double TiltedSum::delta(double epsilon) const {
  const double e = side_ == BoundSide::upper ? epsilon - shift_ : epsilon + shift_;
  if (e < bottom_) return side_ == BoundSide::upper ? 1 : 0;
  const double position = std::ceil(e / h_) - static_cast<double>(first_);
  if (position >= static_cast<double>(size() - 1))
    return side_ == BoundSide::upper ? std::min(1.0, raw(size() - 1, e))
                                     : std::max(0.0, constant_ - far_at(e));
  return std::clamp(raw(static_cast<std::size_t>(std::max(0.0, position)), e), 0.0, 1.0);
}

double TiltedSum::epsilon(double delta) const {
  // δ falls with ε: find the lowest grid point that passes, then the place inside the cell below
  // it.
  std::size_t low = 0, high = size() - 1;  // points; high passes, low fails
  const auto value = [&](std::size_t j) {
    return raw(j, static_cast<double>(first_ + static_cast<std::int64_t>(j)) * h_);
  };
  if (value(high) > delta) return side_ == BoundSide::upper ? kInfinity : 0;
  if (side_ == BoundSide::lower) {
    // Far below the answer the subtracted round-off exceeds δ itself: look for a point that passes
    // upwards from the bottom and downwards from where the answer is expected, in doubling steps.
    low = high;
    const double expected = std::clamp(std::floor(hint_ / h_) - static_cast<double>(first_), 0.0,
                                       static_cast<double>(high));
    for (std::size_t step = 1; low == high && step < high; step *= 2) {
      const auto middle = static_cast<std::size_t>(expected);
      for (const std::size_t j : {middle > step ? middle - step : 0, step, high - step})
        if (value(j) > delta) low = j;
    }
    if (low == high) return 0;
  } else if (value(low) <= delta) {
    return next_up(bottom_ + shift_);
  }
  while (high - low > 1) {
    const std::size_t mid = (low + high) / 2;
    (value(mid) <= delta ? high : low) = mid;
  }
  const double b0 = static_cast<double>(first_ + static_cast<std::int64_t>(high)) * h_;
  double a = b0 - h_, b = b0;
  for (int i = 0; i < 60 && b - a > 1e-15 * std::abs(b); ++i) {
    const double mid = 0.5 * (a + b);
    (raw(high, mid) <= delta ? b : a) = mid;
  }
  return side_ == BoundSide::upper ? next_up(b + shift_) : std::max(0.0, next_down(a - shift_));
}

}  // namespace sotto
