#include "sotto/mechanisms/budget.hpp"

#include <gtest/gtest.h>

namespace sotto::budget_test {

TEST(Budget, PartsNeverAddUpToMoreThanTheWhole) {
  for (int k = 1; k <= 50; ++k) {
    const Budget part = Budget::pure(0.7).part(1.0 / k);
    long double total = 0;
    for (int i = 0; i < k; ++i) total += part.pure_epsilon();
    EXPECT_LE(total, 0.7L);
    EXPECT_GT(total, 0.7L * (1 - 1e-13L));
  }
}

TEST(Budget, RhoBecomesTheLargestEpsilonItCovers) {
  for (double rho : {1e-8, 0.005, 0.1, 0.5, 2.0, 30.0}) {
    const long double pure = Budget::zcdp(rho).pure_epsilon(),
                      range = Budget::zcdp(rho).bounded_range_epsilon();
    EXPECT_LE(pure * pure / 2, rho);
    EXPECT_LE(range * range / 8, rho);
    EXPECT_NEAR(static_cast<double>(pure * pure / 2 / rho), 1, 1e-14);
    EXPECT_NEAR(static_cast<double>(range * range / 8 / rho), 1, 1e-14);
  }
}

TEST(Budget, RefusesWhatIsNotABudget) {
  EXPECT_THROW(Budget::pure(0), InvalidArgument);
  EXPECT_THROW(Budget::pure(-1), InvalidArgument);
  EXPECT_THROW(Budget::approximate(1, 0), InvalidArgument);
  EXPECT_THROW(Budget::approximate(1, 1), InvalidArgument);
  EXPECT_THROW(Budget::zcdp(0), InvalidArgument);
  EXPECT_THROW(Budget::approximate(1, 1e-6, GaussianCalibration::classic), InvalidArgument);
  EXPECT_NO_THROW(Budget::approximate(0.99, 1e-6, GaussianCalibration::classic));
  EXPECT_THROW(Budget::pure(1).part(1.5), InvalidArgument);
}

}  // namespace sotto::budget_test
