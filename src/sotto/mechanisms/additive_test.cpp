#include "sotto/mechanisms/additive.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "sotto/core/numeric/gaussian_dp.hpp"
#include "sotto/core/plan.hpp"
#include "sotto/core/record_replay.hpp"
#include "support/statistics.hpp"

namespace sotto::additive_test {

using test::kAlpha;
static_assert(Plan<AdditiveMechanism> && Plan<GeometricMechanism>);

const Relation kRelations[] = {Relation::add_remove, Relation::replace_one, Relation::zero_out};
std::vector<Budget> budgets() {
  return {Budget::pure(0.5),
          Budget::pure(7.3),
          Budget::zcdp(0.1),
          Budget::zcdp(3),
          Budget::approximate(1, 1e-6),
          Budget::approximate(0.5, 1e-9, GaussianCalibration::classic)};
}

TEST(AdditiveMechanism, EventCostsAtMostTheBudgetAndAlmostAllOfIt) {
  for (double sensitivity : {1e-200, 1e-3, 1.0, 1.0 / 3, 73.0, 1e200}) {
    for (double epsilon : {1e-3, 0.1, 0.5, 1.0, 20.0}) {
      const Event event =
          AdditiveMechanism(Relation::add_remove, Sensitivity(sensitivity, Norm::l1),
                            Budget::pure(epsilon))
              .event();
      const auto* e = event.get_if<DiscreteLaplaceEvent>();
      ASSERT_NE(e, nullptr);
      EXPECT_GE(e->sensitivity, sensitivity);
      EXPECT_LE(e->sensitivity / e->scale, epsilon);
      EXPECT_GT(e->sensitivity / e->scale, epsilon * (1 - 1e-10));
    }
    for (double rho : {1e-4, 0.1, 4.0}) {
      const Event event = AdditiveMechanism(Relation::add_remove,
                                            Sensitivity(sensitivity, Norm::l2), Budget::zcdp(rho))
                              .event();
      const auto* e = event.get_if<DiscreteGaussianEvent>();
      ASSERT_NE(e, nullptr);
      const double ratio = e->sensitivity / e->sigma;
      EXPECT_GE(e->sensitivity, sensitivity);
      EXPECT_LE(ratio * ratio / 2, rho);
      EXPECT_GT(ratio * ratio / 2, rho * (1 - 1e-10));
    }
  }
}

TEST(AdditiveMechanism,
     AnalyticGaussianOnTheLatticePaysAFewUnitsInTheLastPlaceOverTheContinuousOne) {
  const double exact = 7.031826675582491;  // epsilon 0.5, delta 1e-5
  const Event event = AdditiveMechanism(Relation::add_remove, Sensitivity(1, Norm::l2),
                                        Budget::approximate(0.5, 1e-5))
                          .event();
  const auto* e = event.get_if<DiscreteGaussianEvent>();
  ASSERT_NE(e, nullptr);
  EXPECT_GE(e->sigma / e->sensitivity, exact);
  EXPECT_NEAR(e->sigma / e->sensitivity / exact, 1, 1e-10);
}

// The exact δ of one-dimensional discrete Gaussian noise [CKS20, Thm 7] must not exceed what was
// asked for.
TEST(AdditiveMechanism, ExactDeltaOfTheDiscreteGaussianStaysWithinTheBudgetOnACoarseLattice) {
  // σ = 2^20 steps is the coarsest lattice LatticeNoise accepts, where the difference to the
  // continuous law is largest.
  const double epsilon = 1, delta = 1e-4;
  const double steps = std::ceil(0x1p20 / gaussian_sigma(Epsilon(epsilon), Delta(delta))) + 1;
  const LatticeNoise noise(Relation::add_remove, Budget::approximate(epsilon, delta), 1,
                           {steps, steps}, 1);
  const double s = noise.scale_in_steps();
  ASSERT_LT(s, 0x1.01p20);
  // δ = Σ_z max(0, P(z) − e^ε P(z + Δ)); the terms are positive from z = εs²/Δ − Δ/2 on. Σ_z
  // e^{−z²/2s²} = √(2π)·s to 10^12 digits.
  long double total = 0;
  const double first = std::floor(epsilon * s * s / steps - steps / 2) - 1;
  for (double z = first; z <= 10 * s; z += 1) {
    const double p = std::exp(-0.5 * (z / s) * (z / s));
    const double loss = (z + steps / 2) / s * (steps / s);
    total += p * std::max(0.0, -std::expm1(epsilon - loss));
  }
  const long double mass = std::sqrt(2 * std::acos(-1.0L)) * s;
  EXPECT_LE(total / mass, delta);
  EXPECT_GT(total / mass, delta * (1 - 1e-6));
}

TEST(LatticeNoise, RefusesAnApproximateBudgetOnALatticeTooCoarseForItsProof) {
  EXPECT_THROW(LatticeNoise(Relation::add_remove, Budget::approximate(1, 1e-6), 1, {1, 1}, 1),
               InvalidArgument);
  EXPECT_THROW(LatticeNoise(Relation::add_remove, Budget::pure(1), 0.3, {1, 1}, 1),
               InvalidArgument);
  EXPECT_THROW(LatticeNoise(Relation::add_remove, Budget::pure(1), 1, {1, 1}, 0), InvalidArgument);
}

TEST(SensitivityIn, ConvertsNormsUpwards) {
  EXPECT_EQ(sensitivity_in(Sensitivity(2, Norm::linf), Norm::l1, 1), 2);
  EXPECT_NEAR(sensitivity_in(Sensitivity(2, Norm::linf), Norm::l1, 9), 18, 1e-12);
  EXPECT_NEAR(sensitivity_in(Sensitivity(2, Norm::linf), Norm::l2, 9), 6, 1e-12);
  EXPECT_NEAR(sensitivity_in(Sensitivity(2, Norm::l2), Norm::l1, 9), 6, 1e-12);
  EXPECT_EQ(sensitivity_in(Sensitivity(2, Norm::l1), Norm::l2, 9), 2);
}

// The law. α = 1e-6; n = 40 000 per law.
TEST(AdditiveMechanism, NoiseHasTheLawItClaims) {
  Rng rng = Rng::insecure_seed(11);
  const AdditiveMechanism laplace(Relation::add_remove, Sensitivity(2, Norm::l1),
                                  Budget::pure(0.8));
  const AdditiveMechanism gaussian(Relation::add_remove, Sensitivity(2, Norm::l2),
                                   Budget::zcdp(0.3));
  std::vector<double> l, g;
  for (int i = 0; i < 40000; ++i) {
    l.push_back(laplace.run(10.0, rng).value - 10);
    g.push_back(gaussian.run(-3.0, rng).value + 3);
  }
  auto laplace_cdf = [](double b) {
    return [b](double x) { return x < 0 ? std::exp(x / b) / 2 : 1 - std::exp(-x / b) / 2; };
  };
  auto normal_cdf = [](double s) {
    return [s](double x) { return std::erfc(-x / s / std::sqrt(2.0)) / 2; };
  };
  EXPECT_GT(test::ks_p(l, laplace_cdf(2.5)), kAlpha);
  EXPECT_LT(test::ks_p(l, laplace_cdf(2.5 * 1.08)), kAlpha) << "mutant: scale off by 8 %";
  const double sigma = 2 / std::sqrt(0.6);
  EXPECT_GT(test::ks_p(g, normal_cdf(sigma)), kAlpha);
  EXPECT_LT(test::ks_p(g, normal_cdf(sigma * 0.95)), kAlpha) << "mutant: sigma off by 5 %";
}

TEST(GeometricMechanism, LawIsExactByChiSquare) {
  Rng rng = Rng::insecure_seed(12);
  const GeometricMechanism mechanism(Relation::add_remove, 3, Epsilon(1.2));
  const int n = 200000;
  std::vector<std::uint64_t> counts(41);
  for (int i = 0; i < n; ++i) {
    const auto z = mechanism.run(100, rng).value - 100;
    if (z >= -20 && z <= 20) ++counts[z + 20];
  }
  auto law = [](double b) {
    std::vector<double> p;
    const double q = std::exp(-1 / b);
    for (int z = -20; z <= 20; ++z) p.push_back((1 - q) / (1 + q) * std::pow(q, std::abs(z)));
    return p;
  };
  EXPECT_GT(test::chi_square_p(counts, law(2.5), n), kAlpha);
  EXPECT_LT(test::chi_square_p(counts, law(2.5 * 0.97), n), kAlpha) << "mutant: scale off by 3 %";
}

// Exact likelihood ratios on a small domain: q, q' ∈ {0..3}, |q − q'| ≤ 3, outputs −60..60.
TEST(GeometricMechanism, LikelihoodRatiosNeverExceedEpsilon) {
  for (double epsilon : {0.1, 0.7, 1.2, 5.0}) {
    const Event event = GeometricMechanism(Relation::add_remove, 3, Epsilon(epsilon)).event();
    const long double b = event.get_if<DiscreteLaplaceEvent>()->scale;
    for (int q = 0; q <= 3; ++q) {
      for (int other = 0; other <= 3; ++other) {
        for (int o = -60; o <= 60; ++o) {
          const long double loss =
              (std::abs(o - other) - std::abs(o - q)) / b;  // ln P(o | q) − ln P(o | other)
          ASSERT_LE(loss, static_cast<long double>(epsilon));
        }
      }
    }
  }
}

TEST(AdditiveMechanism, ReplayOnNeighboursDiffersByAtMostTheSensitivity) {
  Rng pick = Rng::insecure_seed(3);
  auto uniform = [&] { return std::ldexp(static_cast<double>(pick.next_u64()), -64); };
  for (Relation relation : kRelations) {
    for (const Budget& budget : budgets()) {
      for (Norm norm : {Norm::l1, Norm::l2, Norm::linf}) {
        for (std::size_t d : {1u, 2u, 7u}) {
          const double sensitivity =
              std::ldexp(1 + uniform(), static_cast<int>(pick.next_u64() % 200) - 100);
          const AdditiveMechanism mechanism(relation, Sensitivity(sensitivity, norm), budget, d);
          // A random direction of norm just below the sensitivity, at a random offset that makes
          // rounding as bad as can be.
          std::vector<double> a(d), step(d), b(d);
          long double length = 0;
          for (std::size_t i = 0; i < d; ++i) {
            a[i] = (uniform() - 0.5) *
                   std::ldexp(sensitivity, static_cast<int>(pick.next_u64() % 40) - 20);
            step[i] = uniform() - 0.5;
            const long double s = std::fabs(step[i]);
            length = norm == Norm::l1   ? length + s
                     : norm == Norm::l2 ? std::hypot(length, s)
                                        : std::max(length, s);
          }
          for (std::size_t i = 0; i < d; ++i) {
            b[i] = a[i] + static_cast<double>(step[i] / length * sensitivity * (1 - 1e-12L));
          }
          auto run = [&](const std::vector<double>& q) {
            return [&](Rng& rng) -> std::optional<Event> { return mechanism.run(q, rng).event; };
          };
          // The sum a + step is rounded; keep only pairs that are neighbours as doubles.
          std::vector<long double> la(a.begin(), a.end()), lb(b.begin(), b.end());
          if (replay::norm_of_difference(la, lb, norm) > sensitivity) continue;
          EXPECT_EQ(replay::check_neighbours(run(a), run(b)), "");
        }
      }
    }
  }
}

// Floating-point attacks: the set of possible outputs must not depend on the input [Mir12].
TEST(AdditiveMechanism, OutputsLieOnTheSameGridWhateverTheInput) {
  Rng rng = Rng::insecure_seed(5);
  for (const Budget& budget : budgets()) {
    const AdditiveMechanism mechanism(Relation::add_remove, Sensitivity(1, Norm::l1), budget);
    const double g = mechanism.noise().granularity();
    for (double input : {0.0, 0.1, 1.0 / 3, 5e-324, -1e-310, 0.5 + 0x1p-52, 1.0, 12345.678}) {
      for (int i = 0; i < 50; ++i)
        EXPECT_EQ(std::fmod(mechanism.run(input, rng).value, g), 0) << input;
    }
    EXPECT_TRUE(std::isfinite(mechanism.run(1e308, rng).value));  // saturates
  }
}

TEST(AdditiveMechanism, LowBitsOfTheOutputAreTheSameForEveryInput) {
  Rng rng = Rng::insecure_seed(6);
  const AdditiveMechanism mechanism(Relation::add_remove, Sensitivity(1, Norm::l1),
                                    Budget::pure(1));
  const double g = mechanism.noise().granularity();
  for (double input : {0.0, 1.0, 1.0 / 3, 0x1p-45}) {
    std::vector<std::uint64_t> counts(16);
    const int n = 20000;
    for (int i = 0; i < n; ++i) {
      const auto steps = static_cast<std::int64_t>(mechanism.run(input, rng).value / g);
      ++counts[static_cast<std::size_t>(steps & 15)];
    }
    EXPECT_GT(test::chi_square_p(counts, std::vector<double>(16, 1.0 / 16), n), kAlpha) << input;
  }
}

// An attacker's lower bound on ε must stay below the claim, and above it for a mechanism with half
// the noise.
TEST(AdditiveMechanism, AuditStaysBelowTheClaimAndCatchesHalvedNoise) {
  auto audit = [](double epsilon) {
    Rng rng = Rng::insecure_seed(9);
    const AdditiveMechanism mechanism(Relation::add_remove, Sensitivity(1, Norm::l1),
                                      Budget::pure(epsilon));
    const std::uint64_t n = 100000;
    std::uint64_t on_one = 0, on_zero = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      on_one += mechanism.run(1.0, rng).value > 1;
      on_zero += mechanism.run(0.0, rng).value > 1;
    }
    return std::log(test::clopper_pearson_lower(on_one, n, kAlpha / 2) /
                    test::clopper_pearson_upper(on_zero, n, kAlpha / 2));
  };
  EXPECT_LE(audit(1.0), 1.0);
  EXPECT_GT(audit(1.0), 0.9) << "the audit must have power";
  EXPECT_GT(audit(2.0), 1.0) << "mutant: half the noise";
}

TEST(AdditiveMechanism, RefusesValuesThatAreNotFiniteAndOtherDimensions) {
  Rng rng = Rng::insecure_seed(1);
  const AdditiveMechanism mechanism(Relation::add_remove, Sensitivity(1, Norm::l1), Budget::pure(1),
                                    2);
  EXPECT_THROW(mechanism.run(std::vector{1.0, std::nan("")}, rng), InvalidArgument);
  EXPECT_THROW(mechanism.run(std::vector<double>{1, INFINITY}, rng), InvalidArgument);
  EXPECT_THROW(mechanism.run(1.0, rng), InvalidArgument);
}

TEST(NoiseInfo, IntervalHoldsTheStatedShareOfTheNoise) {
  Rng rng = Rng::insecure_seed(21);
  for (const Budget& budget : {Budget::pure(2), Budget::pure(0.01), Budget::zcdp(0.5)}) {
    const LatticeNoise noise(Relation::add_remove, budget, 1, {1, 1}, 1);
    const NoiseInfo info = noise.info();
    const int n = 20000;
    std::uint64_t inside = 0;
    double squares = 0;
    for (int i = 0; i < n; ++i) {
      const int128 zero = 0;
      const auto z = static_cast<double>(noise.add({&zero, 1}, rng)[0]);
      inside += std::fabs(z) <= *info.half_width_95;
      squares += z * z;
    }
    EXPECT_GT(test::clopper_pearson_upper(inside, n, kAlpha), 0.95);
    EXPECT_NEAR(std::sqrt(squares / n) / *info.standard_deviation, 1, 0.06);
  }
}

}  // namespace sotto::additive_test
