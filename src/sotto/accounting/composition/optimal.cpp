#include "sotto/accounting/composition/optimal.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sotto/accounting/numeric/detail/log_math.hpp"
#include "sotto/accounting/numeric/detail/loss_grid.hpp"
#include "sotto/core/numeric/outward.hpp"
#include "sotto/core/numeric/search.hpp"

namespace sotto {
namespace {

constexpr std::uint64_t kMostSummed = 1'000'000'000;

// Parts with ε > 0, equal ε merged, in decreasing ε.
std::vector<ApproximateDp> pure_parts(std::span<const ApproximateDp> parts) {
  std::vector<ApproximateDp> out;
  for (const ApproximateDp& p : parts) {
    if (p.epsilon == 0) continue;
    const auto same = std::ranges::find(out, p.epsilon, &ApproximateDp::epsilon);
    std::uint64_t both = 0;
    if (same == out.end() || __builtin_add_overflow(same->count, p.count, &both)) {
      out.push_back({p.epsilon, 0, p.count});
    } else {
      same->count = both;
    }
  }
  std::ranges::sort(out, std::greater{}, &ApproximateDp::epsilon);
  return out;
}

// 1 − (1 − failed)(1 − delta), rounded up or down by the caller's slack.
double with_failures(double failed, double delta) { return failed + (1 - failed) * delta; }

// The curve δ(ε) of the pure parts as two functions that bound it.
class PureCurve {
 public:
  PureCurve(std::vector<ApproximateDp> parts, double delta_scale, double precision)
      : parts_(std::move(parts)) {
    if (on_grid()) grid_ = compose_on_grid(parts_, delta_scale, precision);
  }
  // Different parts, or so many equal ones that a sum would not end.
  bool on_grid() const {
    return parts_.size() > 1 || (parts_.size() == 1 && parts_[0].count > kMostSummed);
  }
  Enclosure delta(double epsilon) const {
    if (parts_.empty()) return {0, 0};
    if (!on_grid()) return optimal_delta_equal(parts_[0].epsilon, parts_[0].count, epsilon);
    return {grid_.delta_lower(epsilon), grid_.delta_upper(epsilon)};
  }
  double largest() const { return basic_composition(parts_).epsilon; }

 private:
  std::vector<ApproximateDp> parts_;
  GridComposition grid_;
};

}  // namespace

Enclosure optimal_delta_equal(double epsilon0, std::uint64_t count, double epsilon) {
  const auto k = static_cast<double>(count);
  if (epsilon0 == 0 || epsilon >= k * epsilon0) return {0, 0};
  const double p = 1 / (1 + std::exp(-epsilon0)), q = 1 / (1 + std::exp(epsilon0)),
               odds = std::exp(epsilon0);
  const double start = std::floor((epsilon / epsilon0 + k) / 2) + 1;
  const auto first = static_cast<std::uint64_t>(
      std::clamp(start - 1, 0.0, k));  // one early: the term is checked for its sign
  const auto mode =
      std::clamp(static_cast<std::uint64_t>(std::min(k, std::floor((k + 1) * p))), first, count);
  const double at_mode = log_binomial_pmf(count, mode, p, q);
  // Terms relative to the probability of the mode.
  const auto value = [&](std::uint64_t i, double mass) {
    const double loss = (2 * static_cast<double>(i) - k) * epsilon0;
    return loss > epsilon ? mass * -std::expm1(epsilon - loss) : 0;
  };
  double sum = value(mode, 1), rest = 0, mass = 1;
  std::uint64_t steps = 1;
  for (std::uint64_t i = mode; i < count; ++i, ++steps) {
    const double ratio = static_cast<double>(count - i) / static_cast<double>(i + 1) * odds;
    mass *= ratio;
    sum += value(i + 1, mass);
    if (mass < 1e-20 * sum && ratio < 0.999999) {
      rest += mass * ratio / (1 - ratio);
      break;
    }
    if (mass == 0) break;
  }
  mass = 1;
  for (std::uint64_t i = mode; i > first; --i, ++steps) {
    const double ratio = static_cast<double>(i) / static_cast<double>(count - i + 1) / odds;
    mass *= ratio;
    sum += value(i - 1, mass);
    if (mass < 1e-20 * sum && ratio < 0.999999) {
      rest += mass * ratio / (1 - ratio);
      break;
    }
    if (mass == 0) break;
  }
  // Roundings: 3 per step of the ratio, the pmf of the mode, and ε − loss in units of the loss.
  const double error =
      (4 * static_cast<double>(steps) + 64 + 4 * (k * epsilon0 + std::abs(at_mode))) * kUlp;
  const double scale = std::exp(at_mode);
  return {std::max(0.0, widen_down(sum * scale, error)),
          std::min(1.0, widen_up((sum + rest) * scale, error + 1e-300))};
}

Enclosure optimal_delta(std::span<const ApproximateDp> parts, double epsilon, double precision) {
  if (!(epsilon >= 0))
    throw InvalidArgument(fmt::format("epsilon is {}; it must be 0 or more", epsilon));
  const double failed = total_delta(parts);
  const auto pure = pure_parts(parts);
  // The scale of δ only sets how much tail may be cut; looks with a coarse grid find it, each for a
  // δ that is up to seven digits smaller.
  double scale = 1e-12;
  PureCurve curve(pure, scale, 0.1);
  if (curve.on_grid()) {
    for (double d = curve.delta(epsilon).upper; d < scale && scale > 1e-290;
         d = curve.delta(epsilon).upper) {
      scale = std::max(1e-290, 0.1 * d);
      curve = PureCurve(pure, scale, 0.1);
    }
    curve = PureCurve(pure, std::max(1e-290, 0.1 * curve.delta(epsilon).upper), precision);
  }
  const Enclosure fine = curve.delta(epsilon);
  return {with_failures(failed * (1 - 1e-12), fine.lower) * (1 - 1e-15),
          std::min(1.0, widen_up(with_failures(failed, fine.upper), 4 * kUlp))};
}

Enclosure optimal_epsilon(std::span<const ApproximateDp> parts, Delta delta, double precision) {
  const double failed = total_delta(parts);
  if (failed > delta.value()) return {kInfinity, kInfinity};
  const double room = (delta.value() - failed) / (1 - failed);  // what δ of the pure parts may be
  const PureCurve curve(pure_parts(parts), std::max(room, 1e-290), precision);
  const double largest = curve.largest();
  const auto solve = [&](auto side, double target, bool upper) {
    const auto excess = [&](double e) {
      const double d = side(curve.delta(e));
      return d <= 0 ? (target <= 0 && d == 0 ? 0.0 : -1.0)
                    : (target <= 0 ? 1.0 : std::log(d / target));
    };
    if (excess(0) <= 0) return 0.0;
    if (excess(largest) > 0) return largest;
    const Bracket b = narrow(excess, 0, largest, 1e-14);
    return upper ? b.high : b.low;
  };
  const double upper = solve([](Enclosure i) { return i.upper; }, room * (1 - 8 * kUlp), true);
  const double lower =
      solve([](Enclosure i) { return i.lower; }, std::min(1.0, room * (1 + 1e-12) + 1e-300), false);
  return {lower, std::min(largest, widen_up(upper, 2 * kUlp))};
}

}  // namespace sotto
