#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sotto/core/error.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/features/kernel_components.hpp"
#include "sotto/features/medoids.hpp"
#include "sotto/features/neighbour_graph.hpp"
#include "sotto/features/principal.hpp"
#include "sotto/features/ridge_scores.hpp"
#include "sotto/features/upright.hpp"

namespace sotto::features::features_test {

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

// Points of length 1.
Points directions(std::size_t rows, std::size_t width) {
  Rng rng = Rng::insecure_seed(11);
  Points p{.width = width, .values = {}};
  for (std::size_t i = 0; i < rows; ++i) {
    double square = 0;
    std::vector<float> row;
    for (std::size_t j = 0; j < width; ++j) {
      row.push_back(uniform(rng) - .5F);
      square += row.back() * row.back();
    }
    for (const float v : row) p.values.push_back(v / static_cast<float>(std::sqrt(square)));
  }
  return p;
}

TEST(KernelComponents, WithEnoughOfThemTheirProductsAreThoseOfTheKernel) {
  // Products of two of four numbers and an offset: 15 dimensions, so 15 components say everything.
  const Points p = directions(60, 4);
  const auto fitted = KernelComponents::fit(p, 15, 60);
  const auto& parts = fitted.parts();
  const auto mapped = [&](std::size_t i) {
    std::vector<double> y(15, 0.0);
    for (std::size_t l = 0; l < 60; ++l) {
      double inner = .5;
      for (std::size_t j = 0; j < 4; ++j) inner += p.row(i)[j] * parts.landmarks.row(l)[j];
      for (std::size_t c = 0; c < 15; ++c) y[c] += inner * inner * parts.projection[l * 15 + c];
    }
    return y;
  };
  for (std::size_t i = 0; i < 10; ++i)
    for (std::size_t k = 0; k < 10; ++k) {
      double inner = .5, product = 0;
      for (std::size_t j = 0; j < 4; ++j) inner += p.row(i)[j] * p.row(k)[j];
      const auto a = mapped(i), b = mapped(k);
      for (std::size_t c = 0; c < 15; ++c) product += a[c] * b[c];
      EXPECT_NEAR(product, inner * inner, 1e-3) << i << " " << k;
    }
  // What apply() gives is that, centred and of length 1.
  const auto y = mapped(3);
  double square = 0;
  for (std::size_t c = 0; c < 15; ++c) square += std::pow(y[c] - parts.centre[c], 2);
  const Points applied = fitted.apply(p);
  for (std::size_t c = 0; c < 15; ++c)
    EXPECT_NEAR(applied.row(3)[c], (y[c] - parts.centre[c]) / std::sqrt(square), 1e-4);
}

TEST(KernelComponents, ARecordDoesNotDependOnItsCompanyAndHostileOnesStayBounded) {
  const Points p = directions(700, 5);
  const auto fitted = KernelComponents::fit(p, 12, 100);
  const Points all = fitted.apply(p);
  Points one{.width = 5, .values = {p.row(613).begin(), p.row(613).end()}};
  const Points alone = fitted.apply(one);
  for (std::size_t j = 0; j < 12; ++j) EXPECT_EQ(alone.row(0)[j], all.row(613)[j]);
  Points hostile{.width = 5,
                 .values = {1e30F, -1e30F, INFINITY, NAN, 0, 0, 0, 0, 0, 0, NAN, 1, 1, 1, 1}};
  hostile.values.insert(hostile.values.end(), one.values.begin(), one.values.end());
  const Points bounded = fitted.apply(hostile);
  for (const float v : bounded.values) {
    EXPECT_GE(v, -1);
    EXPECT_LE(v, 1);
  }
  for (std::size_t j = 0; j < 12; ++j) EXPECT_EQ(bounded.row(3)[j], all.row(613)[j]);
  EXPECT_THROW(KernelComponents::fit(p, 20, 10), InvalidArgument);
  EXPECT_THROW(fitted.apply(Points{.width = 3, .values = {1, 2, 3}}), InvalidArgument);
  auto broken = fitted.parts();
  broken.projection.pop_back();
  EXPECT_THROW(KernelComponents{broken}, InvalidArgument);
  broken = fitted.parts();
  broken.centre[0] = NAN;
  EXPECT_THROW(KernelComponents{broken}, InvalidArgument);
}

TEST(KernelComponents, EqualRecordsAndMoreComponentsThanDimensionsAreHarmless) {
  Points same{.width = 2, .values = {}};
  for (int i = 0; i < 30; ++i) same.values.insert(same.values.end(), {.6F, .8F});
  for (const float v : KernelComponents::fit(same, 10, 30).apply(same).values)
    EXPECT_TRUE(std::isfinite(v));
}

TEST(RidgeScores, FindALinearRuleDespiteAWrongLabelAndWhateverTheUnit) {
  Points p = groups(40, 3);
  std::vector<std::size_t> known;
  std::vector<double> targets;
  for (std::size_t i = 0; i < 80; i += 4) {
    const bool second = (i >= 40) != (i == 12);  // one label is wrong
    known.push_back(i);
    targets.insert(targets.end(), {second ? 0.0 : 1.0, second ? 1.0 : 0.0});
  }
  const auto scores = ridge_scores(p, known, targets, 2, .1);
  for (std::size_t i = 0; i < 80; ++i) EXPECT_EQ(scores[2 * i + 1] > scores[2 * i], i >= 40) << i;
  for (float& v : p.values) v *= 1000;
  const auto others = ridge_scores(p, known, targets, 2, .1);
  for (std::size_t i = 0; i < scores.size(); ++i) EXPECT_NEAR(scores[i], others[i], 1e-3);
  // Points that are all 0 have a constant only.
  std::fill(p.values.begin(), p.values.end(), 0.0F);
  for (const double v : ridge_scores(p, known, targets, 2, .1)) EXPECT_NEAR(v, .5, .1);
}

TEST(RidgeScores, RefuseWhatDoesNotFitTogether) {
  const Points p = groups(5, 2);
  const std::vector<std::size_t> known = {0, 9}, beyond = {0, 10};
  const std::vector<double> targets = {1, 0, 0, 1};
  EXPECT_THROW(ridge_scores(p, {}, {}, 2, 1), InvalidArgument);
  EXPECT_THROW(ridge_scores(p, beyond, targets, 2, 1), InvalidArgument);
  EXPECT_THROW(ridge_scores(p, known, targets, 3, 1), InvalidArgument);
  EXPECT_THROW(ridge_scores(p, known, targets, 2, 0), InvalidArgument);
}

constexpr std::size_t kSide = 28;

// A bar of some width and height around a centre, leaning by so many columns a row.
std::vector<std::uint8_t> bar(double x, double y, double wide, double high, double lean) {
  std::vector<std::uint8_t> image(kSide * kSide);
  for (std::size_t r = 0; r < kSide; ++r)
    for (std::size_t c = 0; c < kSide; ++c) {
      const double dy = static_cast<double>(r) - y, dx = static_cast<double>(c) - x - lean * dy;
      if (std::abs(dy) <= high && std::abs(dx) <= wide) image[r * kSide + c] = 200;
    }
  return image;
}

double difference(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(int{a[i]} - int{b[i]}) / 255.0;
  return sum;
}

TEST(Upright, BarsThatLeanOrLieElsewhereBecomeTheSame) {
  const auto straight = bar(13.5, 13.5, 2.5, 8.5, 0);
  const auto of_straight = upright(straight, kSide);
  for (const auto& other : {bar(10.5, 15.5, 2.5, 8.5, 0), bar(13.5, 13.5, 2.5, 8.5, .5),
                            bar(15.5, 12.5, 2.5, 8.5, -.4)})
    EXPECT_LT(difference(of_straight, upright(other, kSide)), .35 * difference(straight, other));
}

TEST(Upright, AnImageDoesNotDependOnItsCompanyAndEmptyOnesStay) {
  auto both = bar(9, 14, 2, 6, .3);
  const auto alone = upright(both, kSide);
  both.insert(both.end(), kSide * kSide, 0);
  const auto together = upright(both, kSide);
  EXPECT_TRUE(std::equal(alone.begin(), alone.end(), together.begin()));
  EXPECT_TRUE(std::all_of(together.begin() + kSide * kSide, together.end(),
                          [](std::uint8_t v) { return v == 0; }));
  // One pixel, in a corner, and all ink: drawn without reading elsewhere.
  std::vector<std::uint8_t> corner(kSide * kSide);
  corner[0] = 255;
  EXPECT_EQ(upright(corner, kSide).size(), corner.size());
  EXPECT_EQ(upright(std::vector<std::uint8_t>(kSide * kSide, 255), kSide).size(), corner.size());
  EXPECT_THROW(upright(std::vector<std::uint8_t>(10), 3), InvalidArgument);
  EXPECT_THROW(upright(corner, 0), InvalidArgument);
}

}  // namespace sotto::features::features_test
