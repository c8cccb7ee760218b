// Moments of likelihood ratios by Gauss–Legendre panels.
//
// What       ln E_Q[(P/Q)^a] for densities on the line, given ln Q(z) and the loss ln(P/Q)(z), with
//            E_Q[P/Q] = 1.
// Method     E_Q[(P/Q)^a] − 1 = E_Q[power_excess(a, loss)], positive terms; when the moment is
//            astronomically large, ln of the sum.
//            The integrand may be anywhere in a range thousands of standard deviations long:
//            stretches whose bound (excess and density at their worst ends) is nothing beside the
//            largest value met are bounded, not integrated.
// Numerics   12 points a panel. A panel no longer than a quarter of a standard deviation and 2.5/c,
//            with singularities at distance π/c, leaves an error below 1e-13 of the integrand's
//            local size.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sotto/accounting/numeric/detail/log_math.hpp"
#include "sotto/core/numeric/search.hpp"

namespace sotto {

struct LossPoint {
  double log_q, loss;
};

inline double log_normal_density(double z) { return -0.5 * z * z - 0.9189385332046727; }  // ½ ln 2π
inline double panel_width(double steepness) { return std::min(0.25, 2.5 / steepness); }

// ln of power_excess, which is a·loss where it does not fit a double.
inline double log_power_excess(double a, double loss) {
  return a * loss < 500 ? std::log(power_excess(a, loss)) : a * loss;
}

// The excess grows with |loss|, and the loss with z: over a stretch both are largest at an end.
// log_q_most(l, r) bounds ln Q on [l, r].
template <class Point, class Most>
class PowerMoment {
 public:
  PowerMoment(Point point, Most log_q_most, double low, double high, double panel, double a)
      : point_(point), most_(log_q_most), low_(low), a_(a) {
    const auto panels = static_cast<long>(std::ceil((high - low) / panel));
    width_ = (high - low) / static_cast<double>(panels);
    least_ = largest_value(low, high) - kNothing;
    cover(0, panels, end_at(0), end_at(panels));
  }

  double log() const {
    if (!has_large_) return std::log1p(small_);
    const double big = large_.log();
    if (big < 500) return std::log1p(small_ + std::exp(big));
    return log_add_exp(big, std::log1p(small_));
  }

 private:
  static constexpr double kNothing = 45;  // e^−45 of the largest value

  double log_value(double z) const {
    const LossPoint p = point_(z);
    return p.log_q + log_power_excess(a_, p.loss);
  }

  // About the largest value: the best of some places, followed uphill. A wrong guess costs time
  // only.
  double largest_value(double low, double high) const {
    constexpr int kPlaces = 64;
    const double step = (high - low) / kPlaces;
    double best = low, top = -1e308;
    for (int i = 0; i <= kPlaces; ++i) {
      const double z = low + i * step, value = log_value(z);
      if (value > top) top = value, best = z;
    }
    for (double move = 0.5 * step; move > width_; move *= 0.5) {
      for (const double z : {best - move, best + move}) {
        const double value = log_value(z);
        if (value > top) top = value, best = z;
      }
    }
    return top;
  }

  void add(double log_density, double loss, double log_weight) {
    const double exponent = a_ * loss;
    if (exponent < 500) {
      small_ += std::exp(log_weight + log_density) * power_excess(a_, loss);
    } else {
      has_large_ = true;
      large_.add(log_weight + log_density + exponent);
    }
  }

  // Of a stretch: the loss there, and ln of its excess.
  struct End {
    double loss, log_excess;
  };
  double place(long panel) const { return low_ + width_ * static_cast<double>(panel); }
  End end_at(long panel) const {
    const double loss = point_(place(panel)).loss;
    return {loss, log_power_excess(a_, loss)};
  }

  void cover(long from, long to, const End& first, const End& last) {
    const double left = place(from), right = place(to);
    const End& worst = first.log_excess > last.log_excess ? first : last;
    const double log_length = std::log(right - left), density = most_(left, right);
    if (density + worst.log_excess + log_length < least_)
      return add(density, worst.loss, log_length);
    if (to - from > 1) {
      const long middle = from + (to - from) / 2;
      const End between = end_at(middle);
      cover(from, middle, first, between);
      return cover(middle, to, between, last);
    }
    const GaussLegendre& rule = gauss_legendre();
    for (int j = 0; j < 12; ++j) {
      const LossPoint p = point_(left + 0.5 * width_ * (1 + rule.node[j]));
      add(p.log_q, p.loss, std::log(0.5 * width_ * rule.weight[j]));
    }
  }

  Point point_;
  Most most_;
  double low_, a_, width_ = 0, least_ = 0;
  double small_ = 0;  // Σ of the excess while it fits a double
  LogSum large_;      // ln Σ e^(a·loss) Q, of the points where the excess does not
  bool has_large_ = false;
};

template <class Point, class Most>
double log_power_moment(Point point, Most log_q_most, double low, double high, double panel,
                        double a) {
  return PowerMoment<Point, Most>(point, log_q_most, low, high, panel, a).log();
}

// ln of the largest standard normal density on [l, r].
inline double log_normal_most(double l, double r) {
  return log_normal_density(l > 0 ? l : r < 0 ? r : 0);
}

}  // namespace sotto
