// Fixed-size sampling without replacement [WBK19]; declared in renyi_sampled.hpp.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "sotto/accounting/numeric/detail/log_math.hpp"
#include "sotto/accounting/numeric/detail/quadrature.hpp"
#include "sotto/accounting/renyi/detail/renyi_sampled.hpp"
#include "sotto/core/numeric/outward.hpp"

namespace sotto {
namespace {

constexpr std::uint64_t kTable = 512;      // even central moments kept up to here
constexpr double kLargestOrderHere = 1e4;  // beyond it the unsampled curve is returned

// ln E_Q[(P/Q − 1)^l] at index l/2, for even l up to `largest`; P/Q = e^(cz − c²/2) under z ~
// N(0,1). All terms positive.
// The integrand peaks near z = lc when c is large and near ±√l when it is small.
std::vector<double> log_central_moments(double c, std::uint64_t largest) {
  std::vector<LogSum> sums(largest / 2 + 1);
  const double l_max = static_cast<double>(largest);
  const double panel = panel_width(c), low = -13 - std::sqrt(l_max),
               high = l_max * c + std::sqrt(l_max) + 13;
  const auto panels = static_cast<long>(std::ceil((high - low) / panel));
  const double width = (high - low) / static_cast<double>(panels);
  const auto log_size = [c](double z) {
    const double x = c * z - 0.5 * c * c;
    return x > 30 ? log_expm1(x) : std::log(std::abs(std::expm1(x)));
  };
  // What is e^−60 of a value that a moment has for certain, at its likely peaks, is not added.
  std::vector<double> nothing(sums.size());
  for (std::size_t h = 1; h < sums.size(); ++h) {
    const double l = 2 * static_cast<double>(h);
    double value = -1e308;
    for (const double z : {l * c, std::sqrt(l), l * c + std::sqrt(l)})
      value = std::max(value, log_normal_density(z) + l * log_size(z));
    nothing[h] = value - 60;
  }
  const GaussLegendre& rule = gauss_legendre();
  for (long i = 0; i < panels; ++i) {
    for (int j = 0; j < 12; ++j) {
      const double z = low + width * (static_cast<double>(i) + 0.5 * (1 + rule.node[j]));
      const double size = log_size(z);
      if (!std::isfinite(size)) continue;  // the one point where P = Q
      const double base = std::log(0.5 * width * rule.weight[j]) + log_normal_density(z);
      for (std::size_t h = 1; h < sums.size(); ++h) {
        const double x = base + 2 * static_cast<double>(h) * size;
        if (x > nothing[h]) sums[h].add(x);
      }
    }
  }
  std::vector<double> out(sums.size());
  for (std::size_t h = 1; h < sums.size(); ++h) out[h] = sums[h].log();
  return out;
}

// ln(1 + Σ_j C(α,j) q^j e^(term_j)) / (α − 1).
template <class Term>
double binomial_sum(double rate, std::uint64_t order, Term log_term) {
  const auto a = static_cast<double>(order);
  const double log_q = std::log(rate);
  const LogChoice log_choice(order);
  LogSum sum;
  for (std::uint64_t j = 2; j <= order; ++j) {
    const auto k = static_cast<double>(j);
    const double t = log_term(j);
    if (t == kInfinity) return kInfinity;
    sum.add(log_choice(j) + k * log_q + t);
  }
  const double s = sum.log();
  const double log_a = s < 30 ? std::log1p(std::exp(s)) : s + std::log1p(std::exp(-s));
  return widen_up(log_a / (a - 1), 1e-10 + 4e-14 * a);
}

}  // namespace

RenyiBound renyi_without_replacement_gaussian(double rate, double s) {
  const double v = 1 / (2 * s * s);
  auto moments = std::make_shared<std::vector<double>>();
  return [rate, s, v, moments](double order) {
    const double plain = widen_up(order * v, 4 * kUlp);
    if (rate == 1 || order > kLargestOrderHere) return plain;
    const double convex = renyi_sampled_convex(rate, plain, order);
    std::uint64_t wanted = 32;
    while (wanted < kTable && static_cast<double>(wanted) < order + 2) wanted *= 2;
    if (1 / s <= 10 && moments->size() < wanted / 2 + 1)
      *moments = log_central_moments(1 / s, wanted);
    const auto at = [&](std::uint64_t a) {
      return binomial_sum(rate, a, [&](std::uint64_t j) {
        const auto k = static_cast<double>(j);
        const double by_moment = std::log(2.0) + (k - 1) * k * v;
        if (j == 2) return std::min(std::log(4.0) + log_expm1(2 * v), by_moment);
        const std::uint64_t low = j / 2, high = (j + 1) / 2;
        if (high >= moments->size()) return by_moment;
        return std::min(by_moment,
                        std::log(4.0) + 0.5 * ((*moments)[low] + (*moments)[high]) + 1e-12);
      });
    };
    return std::min({plain, convex, interpolate_integer_orders(at, order)});
  };
}

RenyiBound renyi_without_replacement(double rate, RenyiBound inner, double pure_epsilon) {
  const auto moments = std::make_shared<WholeMoments>(inner);
  return [rate, inner = std::move(inner), moments, pure_epsilon](double order) {
    const double plain = inner(order);
    if (rate == 1 || !std::isfinite(plain) || order > kLargestOrderHere) return plain;
    // ln min(2, (e^ε∞ − 1)^j)
    const double log_range = pure_epsilon < 1 ? log_expm1(pure_epsilon) : kInfinity;
    const auto at = [&](std::uint64_t a) {
      return binomial_sum(rate, a, [&](std::uint64_t j) {
        const auto k = static_cast<double>(j);
        const double moment = (*moments)[j];
        if (!std::isfinite(moment)) return kInfinity;
        const double general = moment + std::min(std::log(2.0), k * log_range);
        return j == 2 && moment > 0 ? std::min(general, std::log(4.0) + log_expm1(moment))
                                    : general;
      });
    };
    return std::min(
        {plain, renyi_sampled_convex(rate, plain, order), interpolate_integer_orders(at, order)});
  };
}

}  // namespace sotto
