#include "sotto/mechanisms/norm_mechanism.hpp"

#include <gtest/gtest.h>

#include <boost/math/distributions/gamma.hpp>
#include <cmath>

#include "sotto/core/plan.hpp"
#include "sotto/core/record_replay.hpp"
#include "support/statistics.hpp"

namespace sotto::norm_mechanism_test {

using test::kAlpha;
static_assert(Plan<NormMechanism>);

double norm_of(const std::vector<double>& v, Norm norm) {
  double r = 0;
  for (double x : v)
    r = norm == Norm::l1   ? r + std::fabs(x)
        : norm == Norm::l2 ? std::hypot(r, x)
                           : std::max(r, std::fabs(x));
  return r;
}

class EveryNorm : public testing::TestWithParam<Norm> {};
INSTANTIATE_TEST_SUITE_P(, EveryNorm, testing::Values(Norm::l1, Norm::l2, Norm::linf));

// ‖Z‖ has a Gamma(d, Δ/ε) law in every norm: the density at radius r is ∝ r^{d−1} e^{−rε/Δ}. α =
// 1e-6.
TEST_P(EveryNorm, RadiusIsGamma) {
  Rng rng = Rng::insecure_seed(2);
  for (std::size_t d : {1u, 2u, 5u, 20u}) {
    const NormMechanism mechanism(Relation::replace_one, Sensitivity(3, GetParam()), Epsilon(1.5),
                                  d);
    std::vector<double> radii;
    const std::vector<double> zero(d);
    for (int i = 0; i < 10000; ++i)
      radii.push_back(norm_of(mechanism.run(zero, rng).value, GetParam()));
    auto cdf = [&](double scale) {
      return [&, scale](double r) {
        return r <= 0 ? 0
                      : boost::math::cdf(
                            boost::math::gamma_distribution<>(static_cast<double>(d), scale), r);
      };
    };
    EXPECT_GT(test::ks_p(radii, cdf(2)), kAlpha) << d;
    EXPECT_LT(test::ks_p(radii, cdf(1.85)), kAlpha) << "mutant: scale off by 7.5 %, d = " << d;
  }
}

// Coordinates in the ball: for ℓ2 a coordinate over the radius is (Beta-)distributed as on the
// sphere, for ℓ∞ as on the cube's surface.
TEST_P(EveryNorm, DirectionsAreSymmetricAndSpreadLikeTheBall) {
  Rng rng = Rng::insecure_seed(4);
  const std::size_t d = 3;
  const NormMechanism mechanism(Relation::add_remove, Sensitivity(1, GetParam()), Epsilon(1), d);
  const std::vector<double> zero(d);
  std::vector<double> share;
  for (int i = 0; i < 20000; ++i) {
    const std::vector<double> z = mechanism.run(zero, rng).value;
    share.push_back(z[1] / norm_of(z, GetParam()));
  }
  auto cdf = [&](double x) {
    switch (GetParam()) {
      case Norm::l1:
        return x < 0 ? (1 + x) * (1 + x) / 2
                     : 1 - (1 - x) * (1 - x) / 2;  // Dirichlet(1,1,1), signed
      case Norm::l2: return (1 + x) / 2;           // Archimedes: uniform on [−1, 1]
      case Norm::linf:
        return x >= 1 ? 1.0
                      : 1.0 / 6 + (1 + x) / 2 * (2.0 / 3);  // atoms of 1/6 at ±1, uniform between
    }
    return 0.0;
  };
  if (GetParam() == Norm::linf) {
    std::uint64_t low = 0, high = 0, middle = 0;
    for (double s : share) low += s <= -1, high += s >= 1, middle += s > -1 && s <= 0;
    EXPECT_GT(test::binomial_p(low, share.size(), 1.0 / 6), kAlpha);
    EXPECT_GT(test::binomial_p(high, share.size(), 1.0 / 6), kAlpha);
    EXPECT_GT(test::binomial_p(middle, share.size(), 1.0 / 3), kAlpha);
    EXPECT_LT(test::binomial_p(high, share.size(), 0.14), kAlpha) << "mutant";
  } else {
    EXPECT_GT(test::ks_p(share, cdf), kAlpha);
    EXPECT_LT(test::ks_p(share, [&](double x) { return cdf(std::min(1.0, x + 0.05)); }), kAlpha)
        << "mutant";
  }
}

TEST_P(EveryNorm, ReplayOnNeighboursDiffersByAtMostTheSensitivityAndCostsNoMore) {
  Rng pick = Rng::insecure_seed(8);
  auto uniform = [&] { return std::ldexp(static_cast<double>(pick.next_u64()), -64); };
  for (double epsilon : {0.01, 0.5, 30.0}) {
    for (std::size_t d : {1u, 3u, 40u}) {
      for (int trial = 0; trial < 20; ++trial) {
        const double sensitivity = std::ldexp(1 + uniform(), trial * 5 - 50);
        const NormMechanism mechanism(Relation::replace_one, Sensitivity(sensitivity, GetParam()),
                                      Epsilon(epsilon), d);
        EXPECT_LE(mechanism.epsilon(), epsilon);
        std::vector<double> a(d), b(d), step(d);
        for (double& s : step) s = uniform() - 0.5;
        const double length = norm_of(step, GetParam());
        for (std::size_t i = 0; i < d; ++i) {
          a[i] = (uniform() - 0.5) * sensitivity;
          b[i] = a[i] + step[i] / length * sensitivity * (1 - 1e-12);
        }
        auto run = [&](const std::vector<double>& q) {
          return [&](Rng& rng) -> std::optional<Event> { return mechanism.run(q, rng).event; };
        };
        EXPECT_EQ(replay::check_neighbours(run(a), run(b)), "");
      }
    }
  }
}

TEST_P(EveryNorm, OutputsLieOnTheGrid) {
  Rng rng = Rng::insecure_seed(14);
  const NormMechanism mechanism(Relation::add_remove, Sensitivity(1, GetParam()), Epsilon(1), 2);
  for (double input : {0.0, 0.1, 1.0 / 3, 5e-324}) {
    for (double v : mechanism.run(std::vector{input, -input}, rng).value)
      EXPECT_EQ(std::fmod(v, mechanism.granularity()), 0);
  }
}

// The joint law of two coordinates, on cells of T/2 by T/2.
TEST(NormMechanism, InfinityNormLawHoldsCellByCell) {
  Rng rng = Rng::insecure_seed(15);
  const NormMechanism mechanism(Relation::add_remove, Sensitivity(1, Norm::linf), Epsilon(1), 2);
  const int n = 100000, half = 6;  // cells of side 1/2 from −3 to 3
  std::vector<std::uint64_t> counts(4 * half * half);
  const std::vector<double> zero(2);
  for (int i = 0; i < n; ++i) {
    const std::vector<double> z = mechanism.run(zero, rng).value;
    const double x = std::floor(z[0] * 2) + half, y = std::floor(z[1] * 2) + half;
    if (x >= 0 && y >= 0 && x < 2 * half && y < 2 * half)
      ++counts[static_cast<std::size_t>(x * 2 * half + y)];
  }
  // ∫ over a cell of e^{−max(|x|,|y|)}/8 by the midpoint rule on 50×50 points.
  std::vector<double> law;
  for (int i = -half; i < half; ++i) {
    for (int j = -half; j < half; ++j) {
      double p = 0;
      for (int a = 0; a < 50; ++a) {
        for (int b = 0; b < 50; ++b) {
          p += std::exp(-std::max(std::fabs(i / 2.0 + (a + 0.5) / 100),
                                  std::fabs(j / 2.0 + (b + 0.5) / 100)));
        }
      }
      law.push_back(p / 8 / 10000);
    }
  }
  EXPECT_GT(test::chi_square_p(counts, law, n), kAlpha);
}

// A vector is paid for by the spherical law and by lattice noise for what is computed of it.
TEST(NormMechanism, EuclideanNormPaysForItsRounding) {
  const NormMechanism mechanism(Relation::add_remove, Sensitivity(1, Norm::l2), Epsilon(1), 8);
  const Event event = mechanism.event();
  const auto& parts = std::get<ComposeEvent>(event.kind()).events;
  ASSERT_EQ(parts.size(), 2u);
  const auto& cover = std::get<DiscreteLaplaceEvent>(parts[1].kind());
  const double total =
      std::get<PureEvent>(parts[0].kind()).epsilon + cover.sensitivity / cover.scale;
  EXPECT_LE(total, 1);
  EXPECT_GT(total, 0.999);
}

TEST(NormMechanism, RefusesSenselessDimensionsAndValues) {
  Rng rng = Rng::insecure_seed(1);
  EXPECT_THROW(NormMechanism(Relation::add_remove, Sensitivity(1, Norm::l2), Epsilon(1), 0),
               InvalidArgument);
  EXPECT_THROW(NormMechanism(Relation::add_remove, Sensitivity(1, Norm::l2), Epsilon(1), 2)
                   .run(std::vector{1.0}, rng),
               InvalidArgument);
  EXPECT_THROW(NormMechanism(Relation::add_remove, Sensitivity(1, Norm::l2), Epsilon(1), 1)
                   .run(std::vector<double>{NAN}, rng),
               InvalidArgument);
}

}  // namespace sotto::norm_mechanism_test
