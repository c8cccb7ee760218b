#include "sotto/accounting/budget/adaptive_budget.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"

namespace sotto::adaptive_budget_test {

BudgetCap cap(Accountant accountant, double epsilon = 3, double delta = 1e-6) {
  return {.accountant = accountant, .epsilon = epsilon, .delta = delta, .own_delta = delta / 4};
}

// How many copies of the event the budget admits one after the other.
int admitted(const AdaptiveBudget& budget, const Event& event, int limit = 100000) {
  const Spend one = budget.cost(event);
  Spend spent = budget.nothing();
  for (int n = 0; n < limit; ++n) {
    spent.add(one);
    if (!budget.covers(spent)) return n;
  }
  return limit;
}

TEST(AdaptiveBudget, TenChargesOfATenthFillACapOfOne) {
  for (Accountant a : {Accountant::rdp, Accountant::zcdp, Accountant::gdp}) {
    const AdaptiveBudget budget(cap(a, 1));
    EXPECT_EQ(admitted(budget, PureEvent{0.1}), 10);
    EXPECT_EQ(admitted(budget, LaplaceEvent{10, 1}), 10);
    EXPECT_EQ(admitted(budget, LaplaceEvent{std::nextafter(10.0, 0.0), 1}), 9);
  }
  const AdaptiveBudget three(cap(Accountant::rdp, 3));
  EXPECT_EQ(admitted(three, PureEvent{0.3}), 10);
  EXPECT_EQ(admitted(three, PureEvent{0.30000000000000004}), 9);
  const AdaptiveBudget rho({.accountant = Accountant::zcdp, .rho = 0.5});
  EXPECT_EQ(admitted(rho, ZcdpEvent{0.05}), 10);
  EXPECT_EQ(admitted(rho, GaussianEvent{1, 1}), 1);
}

TEST(AdaptiveBudget, ACapIsNotRoundedUp) {
  const double cap_value = 0.1000000000005, more = 0.1000000000009;  // half a step, and more
  const AdaptiveBudget pure(cap(Accountant::rdp, cap_value));
  EXPECT_TRUE(pure.covers(pure.cost(PureEvent{0.1})));
  EXPECT_FALSE(pure.covers(pure.cost(PureEvent{more})));
  EXPECT_FALSE(pure.covers(pure.cost(LaplaceEvent{1, more})));
  const AdaptiveBudget rho({.accountant = Accountant::zcdp, .rho = cap_value});
  EXPECT_TRUE(rho.covers(rho.cost(ZcdpEvent{0.1})));
  EXPECT_FALSE(rho.covers(rho.cost(ZcdpEvent{more})));
  EXPECT_FALSE(rho.covers(rho.cost(GaussianEvent{std::sqrt(0.5 / more), 1})));
  // A third is no decimal: noise of scale 3 costs a hair more than the nearest double.
  const AdaptiveBudget third(cap(Accountant::rdp, 1.0 / 3));
  EXPECT_FALSE(third.covers(third.cost(LaplaceEvent{3, 1})));
  const AdaptiveBudget tiny({.accountant = Accountant::rdp, .epsilon = 1e-13});
  EXPECT_FALSE(tiny.covers(tiny.cost(PureEvent{1e-13})));
}

TEST(AdaptiveBudget, ASpendTooSmallForADoubleIsNotLost) {
  const AdaptiveBudget budget(cap(Accountant::rdp));
  Spend spent = budget.cost(PureEvent{3});
  ASSERT_TRUE(budget.covers(spent));
  spent.add(budget.cost(PureEvent{1e-300}));
  EXPECT_FALSE(budget.covers(spent));
  EXPECT_GT(budget.epsilon(spent), 3);
}

TEST(AdaptiveBudget, GaussiansGetNearlyAllOfTheTightNumber) {
  const GaussianEvent event{20, 1};
  for (Accountant a : {Accountant::rdp, Accountant::zcdp, Accountant::gdp}) {
    BudgetCap c = cap(a);
    c.own_delta = 0;
    const AdaptiveBudget budget(c);
    const int n = admitted(budget, event);
    const auto needed = [&](int copies) {
      return epsilon(Spec{Relation::add_remove, {repeat(event, copies)}}, Delta(1e-6)).upper;
    };
    EXPECT_LE(needed(n), 3);
    // Rényi at one order with 0.8 of δ: within 8 % of the exact ε; GDP is exact.
    EXPECT_GT(needed(n + 1), a == Accountant::gdp ? 3 : 3 * 0.92) << name(a);
  }
}

TEST(AdaptiveBudget, TheStatedEpsilonIsAnUpperBoundAndReachesTheCapOnlyAtTheEnd) {
  const Event event = poisson_sampled(GaussianEvent::from_multiplier(1.1), 0.01);
  const AdaptiveBudget budget(cap(Accountant::rdp));
  Spend spent = budget.nothing();
  EXPECT_EQ(budget.epsilon(spent), 0);
  double before = 0;
  for (int n = 1000; budget.covers(spent); n += 1000) {
    spent.add(budget.cost(repeat(event, 1000)));
    const double stated = budget.epsilon(spent);
    EXPECT_GE(stated, before);
    EXPECT_GE(stated, epsilon(Spec{Relation::add_remove, {repeat(event, n)}}, Delta(1e-6)).lower);
    EXPECT_EQ(stated <= 3, budget.covers(spent));
    before = stated;
  }
}

TEST(AdaptiveBudget, OwnFailureProbabilitiesComeFromWhatIsSetAside) {
  const AdaptiveBudget budget(cap(Accountant::rdp));
  EXPECT_TRUE(budget.covers(budget.cost(ApproximateEvent{0.1, 1.25e-7})));
  EXPECT_FALSE(budget.covers(budget.cost(ApproximateEvent{0.1, 1.26e-7})));
  EXPECT_TRUE(std::isinf(budget.epsilon(budget.cost(ApproximateEvent{0.1, 1e-3}))));
}

TEST(AdaptiveBudget, OneGaussianReleaseDoesNotShutTheGaugeOfPureEpsilon) {
  const AdaptiveBudget budget(cap(Accountant::rdp));
  Spend spent = budget.nothing();
  for (int i = 0; i < 8; ++i) spent.add(budget.cost(PureEvent{0.3}));
  spent.add(budget.cost(GaussianEvent{15, 1}));
  EXPECT_TRUE(budget.covers(spent));
  EXPECT_GT(budget.epsilon(spent), 2.4);
}

// Somebody may have written it; nothing may be left then, and nothing may fail.
TEST(AdaptiveBudget, ASpendBeyondAllDoublesIsWithoutEnd) {
  for (const Accountant accountant : {Accountant::rdp, Accountant::zcdp, Accountant::gdp}) {
    const AdaptiveBudget budget(cap(accountant));
    nlohmann::ordered_json json = budget.nothing().to_json();
    for (auto& gauge : json) gauge[0] = "fz535";
    const Spend spent = Spend::from_json(json, budget);
    EXPECT_FALSE(budget.covers(spent));
    EXPECT_EQ(budget.epsilon(spent), std::numeric_limits<double>::infinity());
  }
}

TEST(AdaptiveBudget, AStoredCountIsAWholeNumber) {
  const AdaptiveBudget budget(cap(Accountant::rdp));
  using Json = nlohmann::ordered_json;
  for (const Json& bad : {Json(-1), Json(0.5), Json(1e300), Json("1")}) {
    Json json = budget.nothing().to_json();
    json[0][2] = bad;
    EXPECT_THROW(Spend::from_json(json, budget), DataError) << bad;
  }
}

// 2^63 and 2^63 Gaussian releases, which have no pure ε, would be none: the sum of pure ε covers
// whatever comes with the last of them.
TEST(AdaptiveBudget, RepetitionsDoNotRunOver) {
  for (const Accountant accountant : {Accountant::rdp, Accountant::gdp}) {
    const AdaptiveBudget budget({.accountant = accountant, .epsilon = 1, .delta = 1e-6});
    const Event tiny = GaussianEvent{1e12, 1};
    EXPECT_THROW(budget.cost(repeat(tiny, std::uint64_t{1} << 63)), AccountingError);
    Spend spent = budget.cost(repeat(tiny, 9'999'999'999'999'999));
    EXPECT_TRUE(budget.covers(spent));
    const Spend before = spent;
    EXPECT_THROW(spent.add(budget.cost(GaussianEvent{1e-3, 1})), AccountingError);
    EXPECT_EQ(spent, before);
    nlohmann::ordered_json json = spent.to_json();
    json[0][2] = ~std::uint64_t{0};
    Spend stored = Spend::from_json(json, budget);
    EXPECT_THROW(stored.add(budget.cost(GaussianEvent{1e-3, 1})), AccountingError);
  }
}

TEST(AdaptiveBudget, WhatIsTakenAwayAgainLeavesNoTrace) {
  const AdaptiveBudget budget(cap(Accountant::rdp));
  const Spend a = budget.cost(PureEvent{0.1}), b = budget.cost(GaussianEvent{5, 1});
  Spend s = a;
  s.add(b);
  EXPECT_EQ(Spend::from_json(s.to_json(), budget), s);
  s.subtract(b);
  EXPECT_EQ(s, a);
  EXPECT_THROW(s.subtract(b), DataError);
}

TEST(AdaptiveBudget, WrongCapsAreRefused) {
  EXPECT_THROW(AdaptiveBudget({.epsilon = 0}), InvalidArgument);
  EXPECT_THROW(AdaptiveBudget({.epsilon = 1, .rho = 1}), InvalidArgument);
  EXPECT_THROW(AdaptiveBudget({.accountant = Accountant::rdp, .rho = 1}), InvalidArgument);
  EXPECT_THROW(AdaptiveBudget(cap(Accountant::pld)), Unsupported);
  EXPECT_THROW(AdaptiveBudget({.epsilon = 1, .delta = 1e-6, .own_delta = 1e-6}), InvalidArgument);
  // A zCDP budget cannot say what a sampled Gaussian costs.
  const AdaptiveBudget z({.accountant = Accountant::zcdp, .rho = 1});
  EXPECT_THROW(z.cost(poisson_sampled(GaussianEvent{1, 1}, 0.1)), Unsupported);
  EXPECT_THROW(z.epsilon(z.cost(ZcdpEvent{0.1})), InvalidArgument);
}

}  // namespace sotto::adaptive_budget_test
