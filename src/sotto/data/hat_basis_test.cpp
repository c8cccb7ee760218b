#include "sotto/data/hat_basis.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

namespace sotto::hat_basis_test {

using Hats = std::array<double, HatBasis::kWidth>;

Hats at(const HatBasis& basis, double t, double factor = 1) {
  Hats hats;
  basis.write(t, factor, hats);
  return hats;
}

const std::vector<Bounds> kBounds = {{0, 100000}, {-5, 5},     {17, 90},
                                     {-90, -17},  {-1, 1e300}, {1, 1 + 1e-12}};

TEST(HatBasis, HatsOfAScaleAddUpToTheirHeightAndAtMostTwoAreNotZero) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (const Bounds& bounds : kBounds) {
    const HatBasis basis(bounds);
    for (int i = 0; i < 2000; ++i) {
      const Hats hats = at(basis, i == 0 ? -1 : i == 1 ? 1 : uniform(random));
      for (std::size_t scale = 0; scale < 2; ++scale) {
        double sum = 0;
        int active = 0;
        for (std::size_t k = 0; k < HatBasis::kHats; ++k) {
          const double hat = hats[scale * HatBasis::kHats + k];
          EXPECT_GE(hat, 0);
          sum += hat;
          active += hat != 0;
        }
        EXPECT_NEAR(sum, HatBasis::kHatHeight, 1e-15);
        EXPECT_LE(active, 2);
      }
    }
  }
}

TEST(HatBasis, SquaresAddUpToAtMostOneAsRealNumbers) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (const Bounds& bounds : kBounds) {
    const HatBasis basis(bounds);
    for (int i = 0; i < 5000; ++i) {
      // Peaks are the worst places, and those next to them where rounding shows.
      const auto hat = static_cast<std::size_t>(i) % HatBasis::kWidth;
      const double t = i % 3 == 0   ? uniform(random)
                       : i % 3 == 1 ? basis.peak(hat)
                                    : std::nextafter(basis.peak(hat), uniform(random));
      long double square = 0;
      for (const double v : at(basis, t)) square += static_cast<long double>(v) * v;
      EXPECT_LE(square, 1 + 0x1p-50L);
      EXPECT_NEAR(static_cast<double>(square), basis.square(t), 1e-14);
    }
  }
}

TEST(HatBasis, PeaksAreWhereTheirHatIsHighest) {
  for (const Bounds& bounds : kBounds) {
    const HatBasis basis(bounds);
    for (std::size_t hat = 0; hat < HatBasis::kWidth; ++hat) {
      EXPECT_NEAR(at(basis, basis.peak(hat))[hat], HatBasis::kHatHeight, 1e-9);
    }
  }
}

TEST(HatBasis, TheLogarithmicScaleIsFineNearZeroOrTheBoundNearestToIt) {
  const double width = 0.01;
  const auto moves = [&](Bounds bounds, double t) {
    const HatBasis basis(bounds);
    const Hats a = at(basis, t), b = at(basis, t + width);
    double sum = 0;
    for (std::size_t k = HatBasis::kHats; k < HatBasis::kWidth; ++k) sum += std::fabs(a[k] - b[k]);
    return sum;
  };
  EXPECT_GT(moves({0, 1}, -1), 10 * moves({0, 1}, 0.9));       // near 0, the lower bound
  EXPECT_GT(moves({-1, 0}, 0.99), 10 * moves({-1, 0}, -0.9));  // near 0, the upper bound
  EXPECT_GT(moves({-1, 1}, 0), 10 * moves({-1, 1}, 0.9));      // near 0 in the middle
  EXPECT_GT(moves({-1, 1}, 0), 10 * moves({-1, 1}, -0.9));
}

TEST(HatBasis, AFactorScalesEveryHat) {
  const HatBasis basis({-2, 7});
  const Hats whole = at(basis, 0.3), half = at(basis, 0.3, 0.5);
  for (std::size_t k = 0; k < HatBasis::kWidth; ++k) EXPECT_EQ(half[k], 0.5 * whole[k]);
}

}  // namespace sotto::hat_basis_test
