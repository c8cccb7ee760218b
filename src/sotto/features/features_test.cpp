#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "sotto/core/error.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/features/medoids.hpp"
#include "sotto/features/neighbour_graph.hpp"
#include "sotto/features/principal.hpp"

namespace sotto::features {
namespace {

float uniform(Rng& rng) { return static_cast<float>(rng.next_u64() >> 40) * 0x1p-24F; }

// Two groups of points, far apart.
Points groups(std::size_t each, std::size_t width) {
  Rng rng = Rng::insecure_seed(5);
  Points p{.width = width, .values = {}};
  for (std::size_t i = 0; i < 2 * each; ++i)
    for (std::size_t j = 0; j < width; ++j)
      p.values.push_back(uniform(rng) + (j == 0 && i >= each ? 10.F : 0.F));
  return p;
}

TEST(NeighbourGraph, CarriesLabelsToTheirOwnGroup) {
  const NeighbourGraph graph(groups(50, 3), 5);
  std::vector<double> f(100 * 2, 0.0);
  f[0] = 1, f[2 * 99 + 1] = 1;
  graph.smooth(f, 2, 60, .95);
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_GT(f[2 * i + (i >= 50)], 0) << i;
    EXPECT_EQ(f[2 * i + (i < 50)], 0) << i;
  }
}

TEST(NeighbourGraph, KeepsConstantsRoughlyAndRefusesOtherSizes) {
  const NeighbourGraph graph(groups(20, 2), 4);
  std::vector<double> f(40, 1.0);
  graph.smooth(f, 1, 0, .7);
  EXPECT_EQ(f, std::vector<double>(40, 1.0));
  std::vector<double> other(39);
  EXPECT_THROW(graph.smooth(other, 1, 1, .5), InvalidArgument);
  EXPECT_THROW(NeighbourGraph(Points{.width = 1, .values = {1}}, 3), InvalidArgument);
  // Equal points, and more neighbours than there are points.
  EXPECT_NO_THROW(NeighbourGraph(Points{.width = 1, .values = {2, 2, 2}}, 10));
}

TEST(Medoids, AreDifferentRowsFromEveryGroup) {
  const Points p = groups(40, 3);
  const auto chosen = medoids(p, 6);
  EXPECT_EQ(std::set<std::size_t>(chosen.begin(), chosen.end()).size(), 6U);
  EXPECT_LT(chosen.front(), 40U);
  EXPECT_GE(chosen.back(), 40U);
  EXPECT_EQ(chosen, medoids(p, 6));
  EXPECT_EQ(medoids(p, 100).size(), 80U);
  EXPECT_TRUE(medoids(p, 0).empty());
}

TEST(PublicComponents, FindTheDirectionOfLargestVariance) {
  Rng rng = Rng::insecure_seed(2);
  Points p{.width = 3, .values = {}};
  for (int i = 0; i < 500; ++i) {
    const float t = uniform(rng) - .5F, e = .01F * (uniform(rng) - .5F);
    p.values.insert(p.values.end(), {t + e, t - e, .3F});  // the last column is constant
  }
  const auto fitted = PublicComponents::fit(p, 2);
  const Points y = fitted.apply(p);
  ASSERT_EQ(y.width, 2U);
  double main = 0;
  for (std::size_t i = 0; i < y.rows(); ++i) {
    EXPECT_NEAR(std::hypot(y.row(i)[0], y.row(i)[1]), 1, 1e-5);
    main += std::abs(y.row(i)[0]);
  }
  EXPECT_GT(main / 500, .95);
}

TEST(PublicComponents, ManyColumnsByIterationSpanTheSame) {
  Rng rng = Rng::insecure_seed(9);
  constexpr std::size_t kWidth = 700;
  Points p{.width = kWidth, .values = {}};
  for (int i = 0; i < 200; ++i) {
    const float a = uniform(rng) - .5F, b = uniform(rng) - .5F;
    for (std::size_t j = 0; j < kWidth; ++j)
      p.values.push_back(a * (j < 350 ? 1.F : .1F) + b * (j < 350 ? .1F : 1.F) +
                         .02F * (uniform(rng) - .5F));
  }
  const Points y = PublicComponents::fit(p, 5).apply(p);
  double kept = 0;
  for (std::size_t i = 0; i < y.rows(); ++i)
    kept += y.row(i)[0] * y.row(i)[0] + y.row(i)[1] * y.row(i)[1];
  EXPECT_GT(kept / 200, .9);  // two directions carry almost everything
}

TEST(PublicComponents, ARecordDoesNotDependOnItsCompanyAndHostileOnesStayBounded) {
  const Points p = groups(300, 4);
  const auto fitted = PublicComponents::fit(p, 3, 2);
  const Points all = fitted.apply(p);
  Points one{.width = 4, .values = {p.row(17).begin(), p.row(17).end()}};
  const Points alone = fitted.apply(one);
  for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(alone.row(0)[j], all.row(17)[j]);
  Points hostile{.width = 4, .values = {1e30F, -1e30F, INFINITY, NAN, 0, 0, 0, 0}};
  for (const float v : fitted.apply(hostile).values) {
    EXPECT_GE(v, -1);
    EXPECT_LE(v, 1);
  }
  EXPECT_THROW(PublicComponents::fit(p, 5), InvalidArgument);
  EXPECT_THROW(PublicComponents::fit(p, 2, 3), InvalidArgument);
  EXPECT_THROW(fitted.apply(Points{.width = 3, .values = {1, 2, 3}}), InvalidArgument);
}

}  // namespace
}  // namespace sotto::features
