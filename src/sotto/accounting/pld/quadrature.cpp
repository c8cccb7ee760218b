#include "sotto/accounting/pld/detail/quadrature.hpp"

#include <numbers>

namespace sotto {
namespace {

// Nodes as roots of the Legendre polynomial, by Newton's method in extended precision.
GaussRule make_rule(int n) {
  GaussRule rule{n, {}, {}};
  for (int k = 0; k < n; ++k) {
    long double x = std::cos(std::numbers::pi_v<long double> * (k + 0.75L) / (n + 0.5L)), slope = 0;
    for (int step = 0; step < 50; ++step) {
      long double p0 = 1, p1 = x;
      for (int j = 2; j <= n; ++j) {
        const long double p2 = ((2 * j - 1) * x * p1 - (j - 1) * p0) / j;
        p0 = p1;
        p1 = p2;
      }
      slope = n * (x * p1 - p0) / (x * x - 1);
      const long double move = p1 / slope;
      x -= move;
      if (std::abs(move) < 1e-19L) break;
    }
    rule.node[n - 1 - k] = static_cast<double>((1 + x) / 2);
    rule.weight[n - 1 - k] = static_cast<double>(1 / ((1 - x * x) * slope * slope));
  }
  return rule;
}

}  // namespace

const GaussRule& gauss_rule(double g) {
  static const std::array<GaussRule, 5> rules{make_rule(2), make_rule(3), make_rule(4),
                                              make_rule(5), make_rule(8)};
  return g <= 0.001   ? rules[0]
         : g <= 0.025 ? rules[1]
         : g <= 0.14  ? rules[2]
         : g <= 0.45  ? rules[3]
                      : rules[4];
}

}  // namespace sotto
