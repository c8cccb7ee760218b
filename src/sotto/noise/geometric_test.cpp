#include "sotto/noise/geometric.hpp"

#include <gtest/gtest.h>

#include "sotto/core/error.hpp"
#include "sotto/noise/sampler_checks_test.hpp"

namespace sotto::geometric_test {
using test::kAlpha;

double geometric_p(const std::function<std::uint64_t(Rng&)>& draw, double failure) {
  Rng rng = Rng::insecure_seed(1);
  constexpr std::uint64_t kN = 300000;
  std::vector<std::uint64_t> counts(200);
  std::vector<double> probabilities;
  for (std::size_t k = 0; k < counts.size(); ++k)
    probabilities.push_back((1 - failure) * std::pow(failure, k));
  for (std::uint64_t i = 0; i < kN; ++i) {
    const std::uint64_t x = draw(rng);
    if (x < counts.size()) ++counts[x];
  }
  return test::chi_square_p(counts, probabilities, kN);
}

TEST(Geometric, CountsFailuresOfACoin) {
  EXPECT_GT(geometric_p([](Rng& r) { return geometric(r, 1, 3); }, 2.0 / 3), kAlpha);
  EXPECT_GT(geometric_p([](Rng& r) { return geometric(r, 1, 1); }, 0), kAlpha);
  EXPECT_LT(geometric_p([](Rng& r) { return geometric(r, 35, 100); }, 2.0 / 3), kAlpha);  // mutant
}

TEST(GeometricExp, HasTheLawItSays) {
  for (std::uint64_t t : {1u, 2u, 3u, 10u, 77u}) {
    EXPECT_GT(geometric_p([&](Rng& r) { return geometric_exp(r, t); },
                          std::exp(-1.0 / static_cast<double>(t))),
              kAlpha)
        << t;
  }
  EXPECT_LT(geometric_p([](Rng& r) { return geometric_exp(r, 78); }, std::exp(-1.0 / 75)),
            kAlpha);  // mutant
}

TEST(GeometricExp, ReachesTheLargestScale) {
  const std::uint64_t t = std::uint64_t{1} << 53;
  EXPECT_GT(test::frequency_p([&](Rng& r) { return geometric_exp(r, t) >= 2 * t; }, std::exp(-2),
                              100000, 2),
            kAlpha);
}

TEST(Geometric, RefusesParametersOutsideTheirRange) {
  Rng rng = Rng::insecure_seed(3);
  EXPECT_THROW(geometric(rng, 0, 3), InvalidArgument);
  EXPECT_THROW(geometric(rng, 4, 3), InvalidArgument);
  EXPECT_THROW(geometric_exp(rng, 0), InvalidArgument);
  EXPECT_THROW(geometric_exp(rng, (std::uint64_t{1} << 53) + 1), InvalidArgument);
}

}  // namespace sotto::geometric_test
