#include "sotto/core/numeric/search.hpp"

#include <cmath>
#include <numbers>
#include <vector>

#include "sotto/core/numeric/outward.hpp"

namespace sotto {

Bracket narrow(const std::function<double(double)>& f, double low, double high, double tolerance) {
  // a is the newest point, b the end of opposite sign; below, c is the point before.
  double a = high, fa = f(high), b = low, fb = f(low), t = 0.5;
  if (fa > 0 || !(fb > 0)) return {low, high};
  tolerance = std::max(tolerance, 4.5e-16);  // two neighbouring doubles cannot be parted
  for (int i = 0; i < 400; ++i) {
    const double size = std::max(std::abs(a), std::abs(b));
    if (std::abs(a - b) <= tolerance * size) break;
    double x = a + t * (b - a);
    if (x == a || x == b)
      x = a + 0.5 * (b - a);  // a step below one rounding; never stop with a wide bracket
    if (x == a || x == b) break;
    const double fx = f(x);
    if (std::isnan(fx)) break;
    double c = a, fc = fa;
    if ((fx > 0) != (fa > 0)) {
      c = b, fc = fb;
      b = a, fb = fa;
    }
    a = x, fa = fx;
    const double xi = (a - b) / (c - b), phi = (fa - fb) / (fc - fb);
    t = 0.5;
    if (std::isfinite(phi) && phi * phi < xi && (1 - phi) * (1 - phi) < 1 - xi) {
      t = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb);
    }
    const double least = 0.5 * tolerance * size / std::abs(a - b);
    t = std::isfinite(t) ? std::min(1 - least, std::max(least, t)) : 0.5;
    if (!(t > 0 && t < 1)) t = 0.5;
  }
  return a > b ? Bracket{b, a} : Bracket{a, b};
}

LeastPoint minimise(const std::function<double(double)>& f, double low, double high, int points,
                    double width) {
  std::vector<double> value(points);
  int best = 0;
  const auto place = [&](int i) { return low + (high - low) * i / (points - 1); };
  for (int i = 0; i < points; ++i) {
    value[i] = f(place(i));
    if (value[i] < value[best]) best = i;
  }
  const bool edge = best == 0 || best == points - 1;
  double a = place(std::max(best - 1, 0)), b = place(std::min(best + 1, points - 1));
  constexpr double kGolden = 0.6180339887498949;
  double x1 = b - kGolden * (b - a), x2 = a + kGolden * (b - a), f1 = f(x1), f2 = f(x2);
  LeastPoint least{place(best), value[best], edge};
  const auto keep = [&](double x, double v) {
    if (v < least.value) least = {x, v, edge};
  };
  keep(x1, f1), keep(x2, f2);
  while (b - a > width) {
    if (f1 < f2) {
      b = x2, x2 = x1, f2 = f1, x1 = b - kGolden * (b - a), f1 = f(x1);
      keep(x1, f1);
    } else {
      a = x1, x1 = x2, f1 = f2, x2 = a + kGolden * (b - a), f2 = f(x2);
      keep(x2, f2);
    }
  }
  return least;
}

const GaussLegendre& gauss_legendre() {
  static const GaussLegendre rule = [] {
    GaussLegendre r{};
    constexpr int n = 12;
    for (int i = 0; i < n; ++i) {
      long double x = std::cos(std::numbers::pi_v<long double> * (i + 0.75L) / (n + 0.5L)),
                  derivative = 1;
      for (int newton = 0; newton < 50; ++newton) {
        long double p = 1, before = 0;
        for (int k = 1; k <= n; ++k) {
          const long double next = ((2 * k - 1) * x * p - (k - 1) * before) / k;
          before = p, p = next;
        }
        derivative = n * (x * p - before) / (x * x - 1);
        const long double step = p / derivative;
        x -= step;
        if (std::abs(step) < 1e-19L) break;
      }
      r.node[i] = static_cast<double>(x);
      r.weight[i] = static_cast<double>(2 / ((1 - x * x) * derivative * derivative));
    }
    return r;
  }();
  return rule;
}

}  // namespace sotto
