// Single-mechanism formulas against 600-bit arithmetic.
#include <gtest/gtest.h>

#include <cmath>

#include "sotto/accounting/composition/optimal.hpp"
#include "sotto/accounting/renyi/detail/renyi_sampled.hpp"
#include "sotto/accounting/renyi/renyi_mechanisms.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"
#include "sotto/core/numeric/mills.hpp"
#include "support/real.hpp"

namespace sotto::oracle_test {

using test::Real;
using test::upper_tail;

double gaussian_delta(double mu, double epsilon) {
  const Real m(mu), e(epsilon), u = e / m - m / Real(2);
  return (upper_tail(u) - exp(e) * upper_tail(u + m)).value();
}

TEST(Oracle, GaussianDeltaIsBracketedWithinTwelveDigitsDownTo1e250) {
  for (double mu : {1e-4, 0.01, 0.3, 1.0, 3.0, 20.0}) {
    for (double z : {-3.0, -0.5, 0.0, 1.0, 4.0, 12.0, 30.0}) {
      const double eps = mu * z + mu * mu / 2;
      if (eps < 0) continue;
      const double exact = gaussian_delta(mu, eps);
      EXPECT_GE(gaussian_delta_upper(mu, eps), exact) << mu << " " << z;
      EXPECT_LE(gaussian_delta_lower(mu, eps), exact) << mu << " " << z;
      EXPECT_LE(gaussian_delta_upper(mu, eps) - gaussian_delta_lower(mu, eps), 1e-11 * exact)
          << mu << " " << z;
    }
  }
}

TEST(Oracle, GaussianEpsilonBracketsTheRoot) {
  for (double mu : {0.01, 0.5, 1.0, 10.0}) {
    for (double delta : {0.1, 1e-5, 1e-30, 1e-60, 1e-200}) {
      const double high = gaussian_epsilon_upper(mu, Delta(delta)),
                   low = gaussian_epsilon_lower(mu, Delta(delta));
      EXPECT_LE(gaussian_delta(mu, high), delta);
      if (low > 0) {
        EXPECT_GE(gaussian_delta(mu, low), delta);
      }
      EXPECT_LE(high - low, 1e-11 * high + 1e-13);
    }
  }
}

TEST(Oracle, LogOfTheNormalTail) {
  for (double x : {-8.0, -1.0, 0.0, 1.9, 2.1, 5.0, 20.0, 37.0}) {
    const double exact = log(upper_tail(Real(x))).value();
    EXPECT_NEAR(log_normal_sf(x), exact, 4e-15 * std::abs(exact) + 1e-16) << x;
    EXPECT_NEAR(normal_quantile_upper(exact), x, 1e-12 + (x < -5 ? 0.2 : 0)) << x;
  }
}

// ln Σ_k C(α,k) q^k (1−q)^(α−k) e^(k(k−1)/2s²) / (α−1)
double sampled_gaussian(double q, double s, int order) {
  Real sum(0), choose(1);
  for (int k = 0; k <= order; ++k) {
    const Real kk(k);
    sum = sum + choose * pow(Real(q), kk) * pow(Real(1) - Real(q), Real(order - k)) *
                    exp(kk * (kk - Real(1)) / (Real(2) * Real(s) * Real(s)));
    choose = choose * Real(order - k) / Real(k + 1);
  }
  return (log(sum) / Real(order - 1)).value();
}

TEST(Oracle, SampledGaussianAtIntegersBySumAndBesideThemByQuadrature) {
  for (double q : {1e-6, 0.001, 0.05, 0.5, 0.99}) {
    for (double s : {0.1, 0.5, 1.0, 4.0, 30.0}) {
      for (int order : {2, 3, 7, 40}) {
        const double exact = sampled_gaussian(q, s, order);
        const double sum = renyi_sampled_gaussian(q, s, order);
        EXPECT_GE(sum, exact) << q << " " << s << " " << order;
        EXPECT_LE(sum, exact * (1 + 1e-9)) << q << " " << s << " " << order;
        // Just beside the integer the quadrature takes over; the curve is continuous.
        const double beside = renyi_sampled_gaussian(q, s, order * (1 + 1e-12));
        EXPECT_GE(beside, exact * (1 - 1e-13)) << q << " " << s << " " << order;
        EXPECT_LE(beside, exact * (1 + 1e-8)) << q << " " << s << " " << order;
      }
    }
  }
}

TEST(Oracle, LaplaceAndPureDivergencesKeepTheirDigitsWhenTheyAreTiny) {
  for (double t : {1e-9, 1e-4, 0.09, 0.11, 1.0, 20.0}) {
    for (double order : {1.0001, 1.5, 2.0, 17.0, 900.0}) {
      const Real a(order), x(t), one(1);
      const Real laplace = log(a / (Real(2) * a - one) * exp((a - one) * x) +
                               (a - one) / (Real(2) * a - one) * exp(Real(0) - a * x)) /
                           (a - one);
      const double exact = laplace.value();
      EXPECT_GE(renyi_laplace(t, order), exact * (1 - 1e-15)) << t << " " << order;
      EXPECT_LE(renyi_laplace(t, order), exact * (1 + 1e-10)) << t << " " << order;
      const Real p = one / (one + exp(Real(0) - x)), q = one - p;
      const double pure =
          (log(pow(p, a) * pow(q, one - a) + pow(q, a) * pow(p, one - a)) / (a - one)).value();
      EXPECT_GE(renyi_pure(t, order), pure * (1 - 1e-15)) << t << " " << order;
      EXPECT_LE(renyi_pure(t, order), pure * (1 + 1e-10)) << t << " " << order;
    }
  }
}

TEST(Oracle, DiscreteLaplaceByDirectSummation) {
  for (double unit : {0.01, 0.3, 2.0}) {
    for (int steps : {1, 3, 50}) {
      for (double order : {1.5, 6.0}) {
        Real sum(0);
        const Real x = exp(Real(-unit)), norm = (Real(1) - x) / (Real(1) + x);
        const int reach = static_cast<int>(60 / unit) + steps;
        for (int z = -reach; z <= reach; ++z) {
          sum =
              sum + norm * exp(Real(-unit) * (Real(order) * Real(std::abs(z)) +
                                              (Real(1) - Real(order)) * Real(std::abs(z - steps))));
        }
        const double exact = (log(sum) / Real(order - 1)).value();
        EXPECT_NEAR(renyi_discrete_laplace(unit, steps, order), exact, 1e-10 * exact)
            << unit << " " << steps << " " << order;
      }
    }
  }
}

TEST(Oracle, OptimalCompositionOfEqualParts) {
  for (double e0 : {0.05, 1.0}) {
    for (int k : {1, 10, 200}) {
      for (double fraction : {0.0, 0.3, 0.9}) {
        const double eps = fraction * k * e0;
        Real sum(0), choose(1);
        const Real p = Real(1) / (Real(1) + exp(Real(-e0)));
        for (int i = 0; i <= k; ++i) {
          const Real loss = Real(2 * i - k) * Real(e0);
          if (loss.value() > eps)
            sum = sum + choose * pow(p, Real(i)) * pow(Real(1) - p, Real(k - i)) *
                            (Real(1) - exp(Real(eps) - loss));
          choose = choose * Real(k - i) / Real(i + 1);
        }
        const Enclosure d = optimal_delta_equal(e0, k, eps);
        EXPECT_GE(d.upper, sum.value() * (1 - 1e-15));
        EXPECT_LE(d.lower, sum.value() * (1 + 1e-15));
        EXPECT_LE(d.upper - d.lower, 1e-11 * d.upper);
      }
    }
  }
}

}  // namespace sotto::oracle_test
