// A modest number of random specifications with every run of the tests; sotto_specs asks as many as
// one likes.
#include <gtest/gtest.h>

#include "specs/contradictions.hpp"

namespace sotto::specs::specs_test {

constexpr std::uint64_t kSpecs = 60;

class Specs : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(Specs, AccountantsDoNotContradictEachOther) {
  Findings all;
  for (std::uint64_t i = 0; i < kSpecs; ++i) all.add(examine(GetParam() * kSpecs + i));
  for (const std::string& c : all.contradictions) ADD_FAILURE() << c;
  EXPECT_GT(all.answered, kSpecs);
  EXPECT_GT(all.two_sided, kSpecs / 2);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Specs, ::testing::Range<std::uint64_t>(0, 4));

TEST(SpecsHarness, FindsALowerBoundAboveAnUpperOne) {
  // The same question must be the same on every machine.
  EXPECT_EQ(random_question(7).delta, random_question(7).delta);
  EXPECT_EQ(random_question(7).spec.event(), random_question(7).spec.event());
  // A costlier specification is told from a cheaper one.
  Dice dice(1);
  const Spec spec{Relation::add_remove, {GaussianEvent::from_multiplier(2)}};
  EXPECT_FALSE(costlier_than(spec, dice, 5).empty());
  for (const Costlier& c : costlier_than(spec, dice, 20)) {
    EXPECT_NE(c.spec.event(), spec.event()) << c.change;
  }
}

}  // namespace sotto::specs::specs_test
