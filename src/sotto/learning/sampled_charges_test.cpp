#include "sotto/learning/sampled_charges.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/accounting/renyi/renyi.hpp"

namespace sotto::sampled_charges_test {

constexpr auto kFull = static_cast<double>(IndividualBudget::kFullStep);

TEST(SampledCharges, CoverTheDivergenceOfEveryNormAtEveryOrder) {
  for (const double rate : {0.001, 0.05, 0.5, 1.0}) {
    for (const double noise : {0.7, 1.1, 4.0}) {
      const SampledCharges charges(rate, noise);
      const auto curve = [&](double multiplier) {
        const Event e = GaussianEvent::from_multiplier(multiplier);
        return RenyiCurve(rate < 1 ? poisson_sampled(e, rate) : e, Relation::add_remove);
      };
      const RenyiCurve full = curve(noise);
      for (const double norm : {0.03, 0.0625, 0.3, 0.501, 0.99}) {
        const RenyiCurve own = curve(noise / norm);
        const double charge =
            static_cast<double>(charges.charge(SampledCharges::level_of(norm))) / kFull;
        for (const double order : {2.0, 5.0, 8.0, 32.0, 256.0}) {
          if (!std::isfinite(full(order))) continue;
          EXPECT_GE(charge * full(order), own(order)) << rate << " " << noise << " " << norm;
        }
      }
    }
  }
}

TEST(SampledCharges, GrowWithTheLevelAndEndAtAFullStep) {
  const SampledCharges charges(0.02, 1.2);
  EXPECT_EQ(charges.charge(0), 0u);
  for (std::size_t level = 1; level <= SampledCharges::kLevels; ++level)
    EXPECT_GT(charges.charge(level), charges.charge(level - 1));
  EXPECT_EQ(charges.charge(SampledCharges::kLevels), IndividualBudget::kFullStep);
  EXPECT_EQ(SampledCharges::level_of(0), 0u);
  EXPECT_EQ(SampledCharges::level_of(1e-9), 1u);
  EXPECT_EQ(SampledCharges::level_of(0.5), 8u);
  EXPECT_EQ(SampledCharges::level_of(std::nextafter(0.5, 1)), 9u);
  EXPECT_EQ(SampledCharges::level_of(std::nan("")), SampledCharges::kLevels);
}

TEST(SampledCharges, WithoutSamplingAChargeIsTheSquareOfTheNorm) {
  const SampledCharges charges(1, 3);
  const double half = (0.5 + 0.01) / 1.01;
  EXPECT_NEAR(static_cast<double>(charges.charge(8)) / kFull, half * half, 1e-8);
}

TEST(SampledCharges, EpsilonIsThatOfTheRenyiAccountant) {
  const SampledCharges charges(0.02, 1.1);
  const Event steps = repeat(poisson_sampled(GaussianEvent::from_multiplier(1.1), 0.02), 500);
  const double exact = rdp_epsilon(Spec{Relation::add_remove, {steps}}, Delta(1e-5)).upper;
  EXPECT_GE(charges.epsilon(500, Delta(1e-5)), exact * (1 - 1e-9));
  EXPECT_LE(charges.epsilon(500, Delta(1e-5)), exact * 1.02);
}

}  // namespace sotto::sampled_charges_test
