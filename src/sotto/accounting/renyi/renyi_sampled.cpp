#include "sotto/accounting/renyi/detail/renyi_sampled.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "sotto/accounting/numeric/detail/log_math.hpp"
#include "sotto/accounting/numeric/detail/quadrature.hpp"
#include "sotto/accounting/renyi/renyi_mechanisms.hpp"
#include "sotto/core/numeric/outward.hpp"

namespace sotto {
namespace {

constexpr double kQuadratureOrder = 400;  // real orders up to here by quadrature
constexpr double kSteepest = 50;          // and shifts up to here

double slack(double order) { return 1e-10 + 4e-14 * order; }

// ln(1 − q + q e^x)
double log_mix(double rate, double x) {
  return x > 30 ? x + std::log(rate) + std::log1p((1 - rate) / rate * std::exp(-x))
                : std::log1p(rate * std::expm1(x));
}

double sampled_gaussian_integer(double rate, double s, std::uint64_t order) {
  const auto a = static_cast<double>(order);
  const double v = 1 / (2 * s * s), log_q = std::log(rate), log_p = std::log1p(-rate);
  const LogChoice log_choice(order);
  LogSum sum;
  for (std::uint64_t j = 2; j <= order; ++j) {
    const auto k = static_cast<double>(j);
    sum.add(log_choice(j) + k * log_q + (a - k) * log_p + log_expm1(k * (k - 1) * v));
  }
  const double rest = sum.log();
  const double log_a = rest < 30 ? std::log1p(std::exp(rest)) : rest + std::log1p(std::exp(-rest));
  return widen_up(log_a / (a - 1), slack(a));
}

}  // namespace

double interpolate_integer_orders(const std::function<double(std::uint64_t)>& divergence,
                                  double order) {
  const double low = std::floor(order), part = order - low;
  if (part == 0) return divergence(static_cast<std::uint64_t>(order));
  const auto below = static_cast<std::uint64_t>(low);
  const double at_low = below < 2 ? 0 : (low - 1) * divergence(below);
  const double at_high = low * divergence(below + 1);
  return widen_up(((1 - part) * at_low + part * at_high) / (order - 1), 8 * kUlp);
}

double renyi_sampled_gaussian(double rate, double s, double order) {
  const double plain = widen_up(order / (2 * s * s), 4 * kUlp);
  if (rate == 1) return plain;
  double value = 0;
  if (order == std::floor(order)) {
    value = sampled_gaussian_integer(rate, s, static_cast<std::uint64_t>(order));
  } else if (order > kQuadratureOrder || 1 / s > kSteepest) {
    value = interpolate_integer_orders(
        [&](std::uint64_t a) { return sampled_gaussian_integer(rate, s, a); }, order);
  } else {
    const double c = 1 / s;
    const double moment = log_power_moment(
        [&](double z) {
          return LossPoint{log_normal_density(z), log_mix(rate, c * z - 0.5 * c * c)};
        },
        log_normal_most, -13, order * c + 13, panel_width(c), order);
    value = widen_up(moment / (order - 1), slack(order));
  }
  return std::min(plain, value);
}

double renyi_gaussian_mixture(std::span<const double> shifts, std::span<const double> probabilities,
                              double order) {
  const double c = *std::ranges::max_element(shifts);
  const double plain = widen_up(order * c * c / 2, 4 * kUlp);
  if (c == 0) return 0;
  if (c > kSteepest || order * c > 2e4) return plain;
  std::vector<double> log_probabilities;
  for (const double p : probabilities) log_probabilities.push_back(std::log(p));
  const auto point = [&](double z) {
    const double density = log_normal_density(z);
    if (shifts.size() == 1) return LossPoint{density, c * z - 0.5 * c * c};
    double relative = 0;
    for (std::size_t i = 0; i < shifts.size(); ++i)
      if (shifts[i] != 0)
        relative += probabilities[i] * std::expm1(shifts[i] * (z - 0.5 * shifts[i]));
    // Where it fits a double, and is not what is left of 1.
    if (relative > -0.5 && relative < 1e300) return LossPoint{density, std::log1p(relative)};
    LogSum sum;
    for (std::size_t i = 0; i < shifts.size(); ++i)
      if (probabilities[i] > 0) sum.add(log_probabilities[i] + shifts[i] * (z - 0.5 * shifts[i]));
    return LossPoint{density, sum.log()};
  };
  const double panel = panel_width(c);
  const double forward =
      log_power_moment(point, log_normal_most, -13, order * c + 13, panel, order);
  const double backward =
      log_power_moment(point, log_normal_most, -13 - (order - 1) * c, 13, panel, 1 - order);
  return std::min(plain, widen_up(std::max(forward, backward) / (order - 1), slack(order)));
}

double renyi_sampled_gaussian_replace(double rate, double s, double order) {
  const double c = 1 / s, plain = widen_up(order * 2 * c * c,
                                           4 * kUlp);  // the means are 2 contributions apart
  if (rate == 1) return plain;
  const double convex = renyi_sampled_convex(rate, plain, order);
  if (c > kSteepest / 2 || order * c > 1e4) return std::min(plain, convex);
  const auto lower = [&](double z) { return log_mix(rate, -c * z - 0.5 * c * c); };
  const auto point = [&](double z) {
    const double up = log_mix(rate, c * z - 0.5 * c * c), down = lower(z);
    return LossPoint{log_normal_density(z) + down, up - down};
  };
  const auto most = [&](double l, double r) { return log_normal_most(l, r) + lower(l); };
  const double moment =
      log_power_moment(point, most, -13 - c, (2 * order - 1) * c + 13, panel_width(2 * c), order);
  return std::min({plain, convex, widen_up(moment / (order - 1), slack(order))});
}

double renyi_sampled_laplace(double rate, double t, double order) {
  if (rate == 1) return renyi_laplace(t, order);
  // Joint convexity loses at most ln(1/rate), little beside so large a loss.
  if (t > 700 || order * t > 2e4) return renyi_sampled_convex(rate, renyi_laplace(t, order), order);
  const double log_half = -std::numbers::ln2;
  std::vector<RatioAtom> atoms = {{0.5 * std::exp(-t), t, log_half - t}, {0.5, -t, log_half}};
  const double panel = std::min(0.25, 1 / order);
  const auto panels = static_cast<int>(std::ceil(t / panel));
  const GaussLegendre& rule = gauss_legendre();
  for (int i = 0; i < panels; ++i) {
    for (int j = 0; j < 12; ++j) {
      const double z = t / panels * (i + 0.5 * (1 + rule.node[j]));
      const double weight = 0.5 * t / panels * rule.weight[j];
      atoms.push_back({0.5 * std::exp(z - t) * 0.5 * t / panels * rule.weight[j], t - 2 * z,
                       log_half + std::log(weight) + z - t});
    }
  }
  return std::min(t, widen_up(renyi_of_atoms(atoms, rate, order), slack(order)));
}

double renyi_sampled_convex(double rate, double divergence, double order) {
  if (!std::isfinite(divergence)) return kInfinity;
  return std::min(divergence,
                  widen_up(log_mix(rate, (order - 1) * divergence) / (order - 1), 1e-13));
}

RenyiBound renyi_sampled_general(double rate, RenyiBound inner) {
  if (rate == 1) return inner;
  const auto moments = std::make_shared<WholeMoments>(inner);
  return [rate, inner = std::move(inner), moments](double order) {
    const double plain = inner(order);
    if (!std::isfinite(plain)) return plain;
    const auto at = [&](std::uint64_t n) {
      const auto a = static_cast<double>(n);
      const double log_q = std::log(rate), log_p = std::log1p(-rate);
      // (1−q)^(α−1)(αq − q + 1) = 1 − (something): keep 1 apart so that small divergences keep
      // their digits.
      const double first = std::expm1((a - 1) * log_p + std::log1p((a - 1) * rate));
      const LogChoice log_choice(n);
      LogSum sum;
      for (std::uint64_t j = 2; j <= n; ++j) {
        const auto k = static_cast<double>(j);
        const double moment = (*moments)[j];
        if (!std::isfinite(moment)) return kInfinity;
        sum.add((j == 2 ? 0 : std::log(3.0)) + log_choice(j) + k * log_q + (a - k) * log_p +
                moment);
      }
      const double rest = sum.log();
      const double log_a =
          rest < 600 ? std::log1p(std::max(0.0, first + std::exp(rest)) + 1e-15) : rest + 1e-12;
      return widen_up(log_a / (a - 1), slack(a));
    };
    double bound = renyi_sampled_convex(rate, plain, order);
    if (order <= kLargestSampledOrder / 10)
      bound = std::min(bound, interpolate_integer_orders(at, order));
    return std::min(plain, bound);
  };
}

}  // namespace sotto
