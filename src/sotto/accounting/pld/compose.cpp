#include "sotto/accounting/pld/compose.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include "sotto/accounting/outward.hpp"
#include "sotto/accounting/pld/fft.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using Complex = std::complex<double>;

constexpr double kWindowTail = 1e-11;  // tilted mass allowed outside the window at each end
constexpr double kDropped = -42;       // ln of spectrum values that are treated as 0

// ln Σ mass·e^{θ·loss} by Horner's rule in e^{θh}: positive terms, scaled so that nothing overflows.
double step_log_moment(const StepLaw& law, double h, double theta) {
  const double x = std::exp(-std::abs(theta) * h);
  double sum = 0;
  const std::size_t n = law.mass.size();
  if (theta >= 0) {
    for (std::size_t k = 0; k < n; ++k) sum = sum * x + law.mass[k];
    return std::log(sum) +
           theta * h * static_cast<double>(law.first + static_cast<std::int64_t>(n) - 1);
  }
  for (std::size_t k = n; k-- > 0;) sum = sum * x + law.mass[k];
  return std::log(sum) + theta * h * static_cast<double>(law.first);
}

struct Window {
  double low, high;
};

// Chernoff bounds of the tilted total at both ends; any positive slope t is valid, so a short scan is enough.
Window window_of(std::span<const StepRun> runs, double h, double theta, double spread, double k0) {
  const double need = -std::log(kWindowTail);
  double high = kInfinity, low = -kInfinity;
  double t = std::sqrt(2 * need) / spread;
  const auto improve = [&](double s) {
    const double up = (log_moment(runs, h, theta + s) - k0 + need) / s;
    if (up < high) high = up;
    const double down = -(log_moment(runs, h, theta - s) - k0 + need) / s;
    if (down > low) low = down;
  };
  for (double factor : {0.3, 0.5, 0.75, 1.0, 1.4, 2.2}) improve(t * factor);
  if (!(high < kInfinity) || !(low > -kInfinity))
    throw AccountingError("the window of the total privacy loss cannot be bounded");
  return {std::min(low, high), std::max(low, high)};
}

}  // namespace

double log_moment(std::span<const StepRun> runs, double h, double theta) {
  double sum = 0;
  for (const StepRun& run : runs)
    sum += static_cast<double>(run.count) * step_log_moment(run.law, h, theta);
  return sum;
}

TiltedSum::TiltedSum(std::span<const StepRun> runs, double h, double theta, BoundSide side,
                     std::size_t largest)
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
    const double extent = std::max(
        std::abs(static_cast<double>(run.law.first)),
        std::abs(static_cast<double>(run.law.first) + static_cast<double>(run.law.mass.size())));
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
  const double second =
      (log_moment(runs, h, theta + d) + log_moment(runs, h, theta - d) - 2 * log_scale_) / (d * d);
  const double spread = std::sqrt(std::max(second, h * h));
  Window window = window_of(runs, h, theta, spread, log_scale_);
  const auto first = static_cast<std::int64_t>(std::floor(window.low / h)) - 1;
  const double wanted = window.high / h - static_cast<double>(first) + 3;
  if (!(wanted <= static_cast<double>(largest)))
    throw WindowTooWide(wanted / static_cast<double>(largest));
  const std::size_t n = fft_size(static_cast<std::size_t>(wanted));
  const double outside = kWindowTail * std::exp(std::min(700.0, 2 * summing));
  first_ = first;
  bottom_ = static_cast<double>(first - 1) * h;
  const double top = static_cast<double>(first + static_cast<std::int64_t>(n)) * h;

  // Spectrum of the tilted total.
  std::vector<Complex> total(n / 2 + 1, 1.0), spectrum;
  std::vector<double> log_size(n / 2 + 1), sensitivity(n / 2 + 1);
  std::vector<double> tilted(n);
  double step_norms = 0;
  for (std::size_t g = 0; g < runs.size(); ++g) {
    const StepLaw& law = runs[g].law;
    std::fill(tilted.begin(), tilted.end(), 0.0);
    const auto modulus = static_cast<std::int64_t>(n);
    auto at = static_cast<std::size_t>(((law.first % modulus) + modulus) % modulus);
    const std::size_t m = law.mass.size();
    for (std::size_t k = 0; k < m; ++k) {
      if (law.mass[k] > 0) {
        const double loss = static_cast<double>(law.first + static_cast<std::int64_t>(k)) * h;
        tilted[at] += law.mass[k] * std::exp(theta * loss - step_moment[g]);
      }
      if (++at == n) at = 0;
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
    constant_ = -std::expm1(infinite_log) * (1 + 1e-12) +
                std::exp(std::min(700.0, log_scale_ - theta * top)) * outside;
  } else {
    constant_ = -std::expm1(infinite_log) * (1 - 1e-12);
    noise_ += 2 * outside;  // wrapped-around mass, weight at most e^{K−θε}
  }
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
  return std::exp(std::min(700.0, scale - slack_)) * (exact - rounding - noise) + constant_;
}

double TiltedSum::delta(double epsilon) const {
  const double e = side_ == BoundSide::upper ? epsilon - shift_ : epsilon + shift_;
  if (e < bottom_) return side_ == BoundSide::upper ? 1 : 0;
  const double position = std::ceil(e / h_) - static_cast<double>(first_);
  if (position >= static_cast<double>(size() - 1))
    return side_ == BoundSide::upper ? std::min(1.0, raw(size() - 1, e)) : 0;
  return std::clamp(raw(static_cast<std::size_t>(std::max(0.0, position)), e), 0.0, 1.0);
}

double TiltedSum::epsilon(double delta) const {
  // δ falls with ε: find the lowest grid point that passes, then the place inside the cell below it.
  std::size_t low = 0, high = size() - 1;  // points; high passes, low fails
  const auto value = [&](std::size_t j) {
    return raw(j, static_cast<double>(first_ + static_cast<std::int64_t>(j)) * h_);
  };
  if (value(high) > delta) return side_ == BoundSide::upper ? kInfinity : 0;
  if (side_ == BoundSide::lower) {
    // Far below the middle of the window the subtracted round-off exceeds δ itself: start where it does not.
    low = high;
    for (int i = 1; i < 64 && low == high; ++i) {
      const std::size_t j = (high * static_cast<std::size_t>(64 - i)) / 64;
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
