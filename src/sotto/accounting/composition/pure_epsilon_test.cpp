#include "sotto/accounting/composition/detail/pure_epsilon.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sotto::pure_epsilon_test {

TEST(PureEpsilon, AddsUpWhatIsPure) {
  const Spec spec{Relation::add_remove,
                  {repeat(PureEvent{0.25}, 4), LaplaceEvent{.scale = 2, .sensitivity = 1}}};
  EXPECT_NEAR(pure_epsilon(spec), 1.5, 1e-12);
  EXPECT_GE(pure_epsilon(spec), 1.5);
}

TEST(PureEpsilon, ReplacingARecordDoublesAContribution) {
  const LaplaceEvent event = LaplaceEvent::from_multiplier(2);
  EXPECT_NEAR(pure_epsilon(Spec{Relation::add_remove, {event}}), 0.5, 1e-12);
  EXPECT_NEAR(pure_epsilon(Spec{Relation::replace_one, {event}}), 1, 1e-12);
}

TEST(PureEpsilon, IsInfiniteForGaussianNoise) {
  EXPECT_TRUE(std::isinf(
      pure_epsilon(Spec{Relation::add_remove, {PureEvent{1}, GaussianEvent::from_multiplier(5)}})));
}

TEST(PureEpsilon, OfNothingIsZero) { EXPECT_EQ(pure_epsilon(Spec{}), 0); }

}  // namespace sotto::pure_epsilon_test
