#include "sotto/accounting/renyi/renyi_conversion.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/numeric/outward.hpp"
#include "sotto/core/numeric/search.hpp"

namespace sotto {

double renyi_epsilon(double order, double divergence, Delta delta) {
  if (!std::isfinite(divergence)) return kInfinity;
  const double d = delta.value();
  if (d >= std::sqrt(-std::expm1(-divergence)) * (1 + 4 * kUlp)) return 0;
  const double gain = std::log1p(-1 / order), price = std::log(d * order) / (order - 1);
  const double error =
      4 * kUlp * (std::abs(divergence) + std::abs(gain) + std::abs(price) * 2 + 1 / (order - 1));
  return std::max(0.0, next_up(divergence + gain - price + error));
}

double renyi_epsilon_mironov(double order, double divergence, Delta delta) {
  if (!std::isfinite(divergence)) return kInfinity;
  const double price = std::log(delta.value()) / (order - 1);
  return std::max(0.0, widen_up(divergence - price, 8 * kUlp));
}

double renyi_delta(double order, double divergence, double epsilon) {
  if (!std::isfinite(divergence)) return 1;
  const double gain = std::log1p(-1 / order),
               exponent = (order - 1) * (divergence - epsilon + gain);
  const double error =
      4 * kUlp *
      ((order - 1) * (std::abs(divergence) + epsilon + std::abs(gain)) + std::log(order) + 2);
  double delta = next_up(std::exp(exponent - std::log(order) + error));
  if (epsilon >= 0)
    delta = std::min(delta, widen_up(std::sqrt(-std::expm1(-divergence)), 8 * kUlp));
  return std::min(1.0, delta);
}

OrderChoice best_order(const std::function<double(double)>& f, double largest_order) {
  const auto order = [&](double x) { return std::min(largest_order, 1 + std::exp(x)); };
  const double top = std::log(largest_order - 1), bottom = std::log(1e-9);
  double low = std::min(std::log(0.05), top - 2), high = std::min(std::log(1000.0), top);
  const auto at = [&](double x) { return f(order(x)); };
  LeastPoint m = minimise(at, low, high, 24, 1e-4);
  while (m.at_edge) {
    const bool down = m.x < 0.5 * (low + high);
    if ((down && low <= bottom) || (!down && high >= top)) break;
    const double from = down ? std::max(bottom, low - 5) : high - (high - low) / 23;
    const double to = down ? low + (high - low) / 23 : std::min(top, high + 5);
    const LeastPoint next = minimise(at, from, to, 14, 1e-4);
    (down ? low : high) = down ? from : to;
    const bool inside = !next.at_edge || (down ? next.x > from + 1e-3 : next.x < to - 1e-3);
    if (next.value < m.value) m = next;
    m.at_edge = !inside && next.value <= m.value;
  }
  // The smaller of two bounds may have a second valley beyond the first.
  for (double x = high + 1, far = std::min(top, high + 7); x <= far; ++x) {
    if (at(x) >= m.value) continue;
    m = minimise(at, x - 1, std::min(top, x + 1), 6, 1e-4);
    m.at_edge = false;
  }
  OrderChoice best{m.value, order(m.x), m.at_edge};
  // Bounds known at whole orders only have kinks there.
  for (double whole : {std::floor(best.order), std::ceil(best.order)}) {
    if (whole < 2 || whole > std::min(largest_order, 1e6)) continue;
    const double value = f(whole);
    if (value < best.value) best.value = value, best.order = whole;
  }
  return best;
}

OrderChoice best_epsilon(const RenyiBound& divergence, Delta delta, double largest_order) {
  return best_order([&](double a) { return renyi_epsilon(a, divergence(a), delta); },
                    largest_order);
}

OrderChoice best_epsilon_mironov(const RenyiBound& divergence, Delta delta, double largest_order) {
  return best_order([&](double a) { return renyi_epsilon_mironov(a, divergence(a), delta); },
                    largest_order);
}

OrderChoice best_delta(const RenyiBound& divergence, double epsilon, double largest_order) {
  // On a log scale, so that the search also finds the way among tiny values.
  OrderChoice c = best_order(
      [&](double a) {
        const double d = renyi_delta(a, divergence(a), epsilon);
        return d > 0 ? std::log(d) : -1e5;
      },
      largest_order);
  c.value = renyi_delta(c.order, divergence(c.order), epsilon);
  return c;
}

}  // namespace sotto
