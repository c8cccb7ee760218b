#include "sotto/models/linear/loss.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sotto::loss_test {

constexpr Loss kLosses[] = {Loss::logistic, Loss::huber_hinge, Loss::squared};

TEST(Loss, SlopeAndCurvatureAreTheDerivatives) {
  for (Loss loss : kLosses) {
    for (double y : {-1.0, 1.0}) {
      for (double z = -4.03; z < 4; z += 0.11) {
        const double h = 1e-5;
        // The Huberised hinge has no second derivative at the ends of its parabola.
        if (loss == Loss::huber_hinge && std::fabs(std::fabs(1 - y * z) - kHuberHalfWidth) < 2 * h)
          continue;
        const double slope = (loss_value(loss, z + h, y) - loss_value(loss, z - h, y)) / (2 * h);
        const double curvature =
            (loss_slope(loss, z + h, y) - loss_slope(loss, z - h, y)) / (2 * h);
        EXPECT_NEAR(loss_slope(loss, z, y), slope, 1e-8) << name(loss) << " at " << z;
        EXPECT_NEAR(loss_curvature(loss, z, y), curvature, 1e-5) << name(loss) << " at " << z;
      }
    }
  }
}

TEST(Loss, ConstantsOfTheProofsHoldAndAreAttained) {
  for (Loss loss : kLosses) {
    double slope = 0, curvature = 0;
    for (double z = -50; z <= 50; z += 0.01) {
      slope = std::max(slope, std::fabs(loss_slope(loss, z, 1)));
      curvature = std::max(curvature, loss_curvature(loss, z, 1));
      EXPECT_GE(loss_curvature(loss, z, 1), 0);
    }
    EXPECT_LE(curvature, curvature_bound(loss));
    EXPECT_GE(curvature, 0.999 * curvature_bound(loss));
    if (loss == Loss::squared) continue;
    EXPECT_LE(slope, lipschitz_bound(loss));
    EXPECT_GE(slope, 0.999 * lipschitz_bound(loss));
  }
}

TEST(Loss, HugeMarginsDoNotOverflow) {
  for (double z : {-1e300, -1e4, 1e4, 1e300}) {
    for (double y : {-1.0, 1.0}) {
      EXPECT_TRUE(std::isfinite(loss_value(Loss::logistic, z, y)));
      EXPECT_LE(std::fabs(loss_slope(Loss::logistic, z, y)), 1);
      EXPECT_TRUE(std::isfinite(loss_curvature(Loss::logistic, z, y)));
    }
  }
}

}  // namespace sotto::loss_test
