#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sotto/noise/discrete_gaussian.hpp"
#include "sotto/noise/discrete_laplace.hpp"

namespace sotto {

TEST(Noise, HasTheVarianceItClaims) {
  Rng rng = Rng::insecure_seed(1);
  for (double s : {0.7, 10.0, 0x1.23p39}) {
    std::vector<std::int64_t> z(200000);
    DiscreteGaussian(s).fill(rng, z);
    double sum = 0;
    for (auto v : z) sum += static_cast<double>(v) * static_cast<double>(v) / (s * s);
    EXPECT_NEAR(sum / 200000, 1, 0.03) << s;
  }
}

}  // namespace sotto
