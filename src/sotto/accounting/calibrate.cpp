#include "sotto/accounting/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "sotto/accounting/account.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"
#include "sotto/core/numeric/outward.hpp"

namespace sotto {
namespace {

constexpr double kPrecision = 1e-6;
constexpr double kWarmUp[] = {1e-3, 1e-4};

// The search is for the distance from the smallest value: an order lies above 1, everything else
// above 0.
double least_value(const Unknown& spec) { return spec.name == "omega" ? 1 : 0; }

// ε at a value: +∞ when nothing is bounded, nothing when the value is not allowed there.
class Target {
 public:
  Target(const Unknown& spec, Epsilon target, Delta delta, const AccountOptions& options)
      : spec_(spec), target_(target.value()), delta_(delta), options_(options) {}

  std::optional<double> epsilon(double value) {
    std::optional<Spec> s;
    try {
      s = spec_.at(least_value(spec_) + value);
    } catch (const DataError&) {
      return std::nullopt;
    } catch (const InvalidArgument&) {
      return std::nullopt;
    }
    ++evaluations;
    try {
      at = value;
      last = sotto::epsilon(*s, delta_, options_);
      return last.upper;
    } catch (const AccountingError&) {
      last = {kInfinity, 0, options_.accountant, {}};
      return kInfinity;
    }
  }
  // ln(ε/target): above 0 is too much.
  std::optional<double> excess(double value) {
    const auto e = epsilon(value);
    if (!e) return std::nullopt;
    return *e <= 0 ? -50.0 : std::min(50.0, std::log(*e / target_));
  }
  bool fits(double value) {
    const auto e = epsilon(value);
    return e && *e <= target_;
  }
  AccountOptions& options() { return options_; }
  double target() const { return target_; }

  double at = 0;  // the value `last` belongs to
  Bound last;
  int evaluations = 0;

 private:
  const Unknown& spec_;
  double target_;
  Delta delta_;
  AccountOptions options_;
};

struct Crossing {
  double safe, unsafe;                // neighbours on the two sides of the target
  double safe_excess, unsafe_excess;  // ln(ε/target) there
};

[[noreturn]] void no_crossing(const Unknown& spec, double target, bool always_met, double from,
                              double to) {
  from += least_value(spec), to += least_value(spec);
  if (always_met) {
    throw AccountingError(
        fmt::format("epsilon {} is met for every {} tried, from {:.3g} to {:.3g}", target,
                    spec.name, from, to),
        "the unknown does not limit privacy here; choose it freely or ask for a smaller epsilon");
  }
  throw AccountingError(
      fmt::format("epsilon {} cannot be met by any {}, tried from {:.3g} to {:.3g}", target,
                  spec.name, from, to),
      "the other events alone cost too much; relax the target or change them");
}

// Walks outwards from `start` by growing factors until the target is crossed.
Crossing find_crossing(const Unknown& spec, Target& f, double start) {
  struct Side {
    double value, excess, factor;
    bool open = true;
  };
  const auto first = f.excess(start);
  if (!first) throw DataError(fmt::format("{} is not a usable value of {}", start, spec.name));
  Side sides[2] = {{start, *first, 0.5}, {start, *first, 2}};
  const bool whole = spec.whole;
  double from = start, to = start;
  for (int step = 0; step < 90 && (sides[0].open || sides[1].open); ++step) {
    for (Side& side : sides) {
      if (!side.open) continue;
      double next = side.value * side.factor;
      if (whole) next = side.factor < 1 ? std::floor(next) : std::ceil(next);
      std::optional<double> excess;
      if (!(whole && next < 1) && next <= 9007199254740992.0 && next > 1e-300)
        excess = f.excess(next);
      if (!excess) {
        // One last look at the end of the range itself: 1 is the largest rate and the smallest
        // count.
        side.open = false;
        if ((side.value < 1) == (next < 1) || side.value == 1) continue;
        next = 1, excess = f.excess(1);
        if (!excess) continue;
      }
      if ((*excess > 0) != (side.excess > 0)) {
        return *excess > 0 ? Crossing{side.value, next, side.excess, *excess}
                           : Crossing{next, side.value, *excess, side.excess};
      }
      side.value = next, side.excess = *excess;
      side.factor = std::clamp(side.factor * side.factor, 1.0 / 16, 16.0);
      from = std::min(from, next), to = std::max(to, next);
    }
    if (to / from > 1e40) break;
  }
  no_crossing(spec, f.target(), *first <= 0, from, to);
}

// Where a straight line through two points of ln ε against ln value meets the target: on a smooth
// curve three or four evaluations come within a few percent. Nothing when the curve is not like
// that; only a starting point.
struct RoughRoot {
  double value, toward_unsafe;  // the sign of the slope
};
std::optional<RoughRoot> rough_root(Target& f, double start) {
  double x = std::log(start), last_x = x - std::log(2.0);
  const auto first = f.excess(std::exp(last_x));
  auto excess = f.excess(start);
  double last_excess = first.value_or(50);
  for (int i = 0; i < 6; ++i) {
    if (!excess || std::abs(*excess) >= 50 || std::abs(last_excess) >= 50) return std::nullopt;
    const double slope = (*excess - last_excess) / (x - last_x);
    if (!std::isfinite(slope) || slope == 0) return std::nullopt;
    if (std::abs(*excess) < 0.15)
      return RoughRoot{std::exp(x - *excess / slope), slope > 0 ? 1.0 : -1.0};
    last_x = x, last_excess = *excess;
    x -= std::clamp(*excess / slope, -3.0, 3.0);
    excess = f.excess(std::exp(x));
  }
  return std::nullopt;
}

// Narrows to the given relative width by secant steps on ln ε against ln value, kept inside the
// bracket.
void refine(Target& f, Crossing& c, double width) {
  for (int i = 0; i < 200; ++i) {
    const double a = std::log(c.safe), b = std::log(c.unsafe), gap = std::abs(b - a);
    if (gap <= width) return;
    double t = -c.safe_excess / (c.unsafe_excess - c.safe_excess);  // where a straight line crosses
    if (!(t > 0 && t < 1) || i % 4 == 3) t = 0.5;
    // Land a little on the other side of the root, so that the bracket shrinks from both ends.
    const double nudge = std::min(0.1, 0.3 * width / gap);
    t = std::clamp(t < 0.5 ? t + nudge : t - nudge, 0.01 * std::min(1.0, width / gap) + 1e-6,
                   1 - 1e-6);
    const double x = std::exp(a + t * (b - a));
    const double e = f.excess(x).value_or(50);
    if (e > 0) {
      c.unsafe = x, c.unsafe_excess = e;
    } else {
      c.safe = x, c.safe_excess = e;
    }
  }
}

// The last digits: the curve is a power of the value over a narrow bracket, so its slope tells both
// where to step and, once the excess is a hair below 0, how far the root is. Falls back to the
// bracket when the steps do not settle.
// A numerical accountant is asked coarsely first (warm_up, falling), where an answer costs a tenth.
// Its claim exceeds the truth by about a power of its tolerance, so that two coarse answers
// foretell the fine one.
double polish(Target& f, Crossing c, std::span<const double> warm_up, double tolerance) {
  double slope = (c.unsafe_excess - c.safe_excess) / std::log(c.unsafe / c.safe);
  const bool from_safe = std::abs(c.safe_excess) < std::abs(c.unsafe_excess);
  double last_x = std::log(from_safe ? c.safe : c.unsafe),
         last_excess = from_safe ? c.safe_excess : c.unsafe_excess;
  double x = last_x - last_excess / slope;
  const auto step_from = [&](double excess) {
    // A long step renews the slope; over a short one the accountant's own grid would disturb it.
    const double chord = (excess - last_excess) / (x - last_x);
    if (std::abs(x - last_x) > 1e-3 && std::abs(chord / slope - 1) < 0.5) slope = chord;
    last_x = x, last_excess = excess;
  };
  const auto claimed = [](double t) { return std::pow(t, 0.935); };
  double surplus = 0;  // of the claim, in units of claimed()
  for (std::size_t i = 0; i < warm_up.size(); ++i) {
    f.options().tolerance = warm_up[i];
    const double excess = f.excess(std::exp(x)).value_or(50);
    if (std::abs(excess) >= 0.1) break;
    if (i > 0) {
      surplus = std::max(0.0, -excess / (claimed(warm_up[i - 1]) - claimed(warm_up[i])));
    } else {
      step_from(excess);
    }
    const double next = i + 1 < warm_up.size() ? warm_up[i + 1] : tolerance;
    x -= (excess - surplus * (claimed(warm_up[i]) - claimed(next))) / slope;
    if (i + 1 == warm_up.size()) x -= 0.4 * kPrecision * std::abs(slope) / slope;
  }
  f.options().tolerance = tolerance;
  last_x = x;
  for (int i = 0; i < 10 && std::isfinite(slope) && slope != 0; ++i) {
    const double excess = f.excess(std::exp(x)).value_or(50);
    if (excess <= 0 && excess >= -std::abs(slope) * kPrecision) return std::exp(x);
    if (std::abs(excess) > 1) break;
    if (i > 0) step_from(excess);
    last_x = x, last_excess = excess;
    x -= (excess + 0.4 * kPrecision * std::abs(slope)) / slope;
  }
  refine(f, c, kPrecision);
  return c.safe;
}

double refine_whole(Target& f, Crossing c) {
  while (std::abs(c.safe - c.unsafe) > 1) {
    const double middle = std::floor(std::min(c.safe, c.unsafe) + std::abs(c.safe - c.unsafe) / 2);
    (f.fits(middle) ? c.safe : c.unsafe) = middle;
  }
  return c.safe;
}

// A value that the specification takes: what is usual first, then whatever its other numbers allow.
double starting_value(const Unknown& spec) {
  const bool share = spec.name == "rate" || spec.name == "delta";
  const double usual = spec.whole ? 64 : share ? 0.01 : 1;
  for (double start : {usual, 1.0, 8.0, 1e3, 1e5, 1e7, 1e9, 1e-3, 1e-6}) {
    if (spec.whole && start < 1) break;
    try {
      (void)spec.at(least_value(spec) + start);
      return start;
    } catch (const DataError&) {
    } catch (const InvalidArgument&) {
    }
  }
  return usual;
}

// From a rough answer to a bracket of the wanted accountant around it.
Crossing around(const Unknown& spec, Target& f, double guess, double toward_unsafe, double step) {
  const bool whole = spec.whole;
  const auto move = [&](double from, double direction) {
    const double x = from * std::exp(direction * step);
    if (!whole) return x;
    return direction > 0 ? std::max(from + 1, std::ceil(x))
                         : std::max(1.0, std::min(from - 1, std::floor(x)));
  };
  auto e = f.excess(guess);
  double at = guess, at_excess = e.value_or(50);
  for (int i = 0; i < 60; ++i, step *= 2) {
    const double next = move(at, at_excess > 0 ? -toward_unsafe : toward_unsafe);
    if (next == at) break;
    const auto found = f.excess(next);
    if (!found) break;
    if ((*found > 0) != (at_excess > 0)) {
      return *found > 0 ? Crossing{at, next, at_excess, *found}
                        : Crossing{next, at, *found, at_excess};
    }
    at = next, at_excess = *found;
  }
  return find_crossing(spec, f, guess);
}

void check_weights(std::span<const double> weights) {
  if (weights.empty()) throw InvalidArgument("a budget needs at least one weight to be split by");
  for (double w : weights) {
    if (!(w > 0) || !std::isfinite(w))
      throw InvalidArgument(fmt::format("a weight is {}; it must be a finite number above 0", w));
  }
}

// total·w/Σw, rounded down, and lowered further if the rounded-up sum of shares would pass the
// total.
std::vector<double> shares(std::span<const double> weights, double total) {
  check_weights(weights);
  double sum = 0;
  for (double w : weights) sum += w;
  std::vector<double> out;
  for (double w : weights)
    out.push_back(
        widen_down(total * (w / sum), 8 * kUlp * static_cast<double>(weights.size() + 1)));
  return out;
}

}  // namespace

Calibration calibrate(const Unknown& spec, Epsilon target, Delta delta,
                      const AccountOptions& options) {
  const bool whole = spec.whole;
  const bool numerical =
      options.accountant == Accountant::automatic || options.accountant == Accountant::pld;
  int evaluations = 0;
  Target f(spec, target, delta, options);
  std::optional<Crossing> crossing;
  if (numerical && !options.fully_adaptive) {
    // A Rényi answer within a few percent is cheap; the numerical accountant then starts close to
    // its own.
    AccountOptions cheap = options;
    cheap.accountant = Accountant::rdp;
    Target g(spec, target, delta, cheap);
    try {
      std::optional<RoughRoot> guess;
      if (!whole) guess = rough_root(g, starting_value(spec));
      if (!guess) {
        Crossing rough = find_crossing(spec, g, starting_value(spec));
        if (!whole) refine(g, rough, 0.1);
        guess = {whole ? rough.safe : std::sqrt(rough.safe * rough.unsafe),
                 rough.unsafe > rough.safe ? 1.0 : -1.0};
      }
      evaluations = g.evaluations;
      f.options().tolerance = std::max(options.tolerance, 1e-3);
      // Where the loss distribution decides, only its claim is asked for: half the work, and no
      // look at the others.
      if (!whole && f.epsilon(guess->value) && f.last.accountant == Accountant::pld) {
        f.options().accountant = Accountant::pld;
        f.options().upper_only = true;
      }
      crossing = around(spec, f, guess->value, guess->toward_unsafe, 0.06);
    } catch (const Error& e) {
      if (e.code() == ErrorCode::internal || e.code() == ErrorCode::interrupted) throw;
      evaluations = g.evaluations;
    }
  }
  if (!crossing) crossing = find_crossing(spec, f, starting_value(spec));
  double value = 0;
  if (whole) {
    if (numerical) f.options().tolerance = options.tolerance;
    value = refine_whole(f, *crossing);
  } else if (numerical && !options.fully_adaptive) {
    value = polish(f, *crossing, kWarmUp, options.tolerance);
  } else {
    refine(f, *crossing, 0.02);
    value = polish(f, *crossing, {}, options.tolerance);
  }
  // The last word is the accountant's, at this very value.
  for (int i = 0; !(f.at == value && f.last.upper <= target.value()) && !f.fits(value) && i < 60;
       ++i) {
    const double away = value > crossing->unsafe ? 1 : -1;
    value = whole ? value + away : value * std::exp(away * kPrecision * std::ldexp(1.0, i));
  }
  Calibration out{spec.name, least_value(spec) + value, f.last, evaluations + f.evaluations};
  if (f.options().upper_only) {
    // What is attained at this value, to the tolerance the caller asked for.
    f.options() = options;
    if (f.epsilon(value))
      out.epsilon.lower = consistent_lower(f.last.lower, out.epsilon.upper, "epsilon");
  }
  if (!(out.epsilon.upper <= target.value()))
    invariant_broken("a calibrated value misses its target");
  return out;
}

Calibration calibrate(const SpecTemplate& spec, Epsilon target, Delta delta,
                      const AccountOptions& options) {
  return calibrate(Unknown{.name = spec.unknown(),
                           .whole = spec.unknown_is_whole(),
                           .at = [&](double value) { return spec.with(value); }},
                   target, delta, options);
}

Calibration confirm(const Unknown& unknown, double guess, Safer safer, Epsilon target, Delta delta,
                    const AccountOptions& options) {
  Calibration found;
  found.unknown = unknown.name;
  const auto meets = [&](double value) {
    ++found.evaluations;
    const Bound bound = epsilon(unknown.at(value), delta, options);
    if (!(bound.upper <= target.value())) return false;
    found.value = value;
    found.epsilon = bound;
    return true;
  };
  double refused = guess, value = guess;
  for (int attempt = 0; attempt < 24; ++attempt) {
    if (meets(value)) {
      for (int i = 0; i < 8 && std::fabs(std::log(refused / found.value)) > 0.005; ++i) {
        const double middle = std::sqrt(refused * found.value);
        if (!meets(middle)) refused = middle;
      }
      return found;
    }
    refused = value;
    const double factor = 1 - std::min(0.5, 1e-6 * std::pow(8.0, attempt));
    value = safer == Safer::smaller ? value * factor : value / factor;
  }
  throw AccountingError(
      fmt::format("no {} near {:.6g} meets epsilon {}", unknown.name, guess, target.value()),
      "choose a larger epsilon");
}

std::vector<ApproximateDp> split_budget(std::span<const double> weights, Epsilon epsilon,
                                        double delta) {
  if (!(delta >= 0 && delta < 1))
    throw InvalidArgument(fmt::format("delta is {}; it must be 0 or more and below 1", delta));
  const auto e = shares(weights, epsilon.value());
  const auto d = delta == 0 ? std::vector<double>(weights.size(), 0.0) : shares(weights, delta);
  std::vector<ApproximateDp> out;
  for (std::size_t i = 0; i < e.size(); ++i) out.push_back({e[i], d[i], 1});
  return out;
}

std::vector<double> split_rho(std::span<const double> weights, Rho rho) {
  return shares(weights, rho.value());
}

std::vector<double> split_gaussian(std::span<const double> weights, Epsilon epsilon, Delta delta) {
  const double mu = gaussian_mu(epsilon, delta);
  std::vector<double> out;
  for (double square : shares(weights, widen_down(mu * mu, 1e-13)))
    out.push_back(widen_up(1 / std::sqrt(square), 4 * kUlp));
  return out;
}

}  // namespace sotto
