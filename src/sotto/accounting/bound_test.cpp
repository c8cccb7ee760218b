#include "sotto/accounting/bound.hpp"

#include <gtest/gtest.h>

#include "sotto/accounting/composition/run_length.hpp"
#include "sotto/core/error.hpp"

namespace sotto::bound_test {

TEST(Bound, EveryAccountantIsFoundByItsName) {
  for (Accountant a :
       {Accountant::automatic, Accountant::pld, Accountant::rdp, Accountant::zcdp, Accountant::gdp,
        Accountant::basic, Accountant::advanced, Accountant::optimal}) {
    EXPECT_EQ(parse_accountant(name(a)), a);
  }
  EXPECT_THROW(parse_accountant("magic"), InvalidArgument);
}

TEST(Bound, BoundsThatExcludeEachOtherAreAnInternalError) {
  EXPECT_EQ(consistent_lower(0.5, 1, "epsilon"), 0.5);
  EXPECT_EQ(consistent_lower(1 + 1e-13, 1, "epsilon"), 1);  // rounding
  EXPECT_EQ(consistent_lower(1e-300, 0, "delta"), 0);
  for (double lower : {1.001, 7.077, 1 + 1e-7}) {
    try {
      (void)consistent_lower(lower, 1, "epsilon");
      ADD_FAILURE() << lower;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::internal);
    }
  }
}

TEST(RunLengths, CountsMultiplyThroughNestedRepeatsAndEqualEventsMerge) {
  const Event g = GaussianEvent::from_multiplier(2);
  const auto runs = run_lengths(compose({repeat(compose({g, PureEvent{1}, repeat(g, 3)}), 10), g}));
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].count, 41u);
  EXPECT_EQ(runs[1].count, 10u);
}

// Beyond a few they are looked up by their text.
TEST(RunLengths, ManyDifferentEventsKeepTheirOrderAndMerge) {
  std::vector<Event> events;
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < 300; ++i) events.push_back(repeat(GdpEvent{1.0 / (3 + i)}, 1 + i));
  const auto runs = run_lengths(compose(std::move(events)));
  ASSERT_EQ(runs.size(), 300u);
  for (std::uint64_t i = 0; i < runs.size(); ++i) {
    EXPECT_EQ(runs[i].event, Event(GdpEvent{1.0 / (3 + static_cast<double>(i))}));
    EXPECT_EQ(runs[i].count, 2 * (1 + i));
  }
}

TEST(RunLengths, RefusesACountBeyond64Bits) {
  const Event big = RepeatEvent{1ull << 40, share(repeat(PureEvent{1}, 1ull << 40))};
  EXPECT_THROW(run_lengths(big), AccountingError);
}

}  // namespace sotto::bound_test
