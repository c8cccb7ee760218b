#include "sotto/mechanisms/sparse_vector.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/core/plan.hpp"
#include "sotto/core/record_replay.hpp"
#include "support/statistics.hpp"

namespace sotto::sparse_vector_test {

using test::kAlpha;
static_assert(Plan<SparseVectorPlan>);

// Exact law of the place of the first positive answer among k queries (k: none), sensitivity 1, by
// quadrature over ρ.
std::vector<double> first_positive_law(const std::vector<double>& gaps, double threshold_scale,
                                       double query_scale) {
  auto tail = [&](double x) {
    return x > 0 ? std::exp(-x / query_scale) / 2 : 1 - std::exp(x / query_scale) / 2;
  };  // P(ν ≥ x)
  std::vector<double> law(gaps.size() + 1);
  const double step = threshold_scale / 200;
  for (double rho = -40 * threshold_scale; rho <= 40 * threshold_scale; rho += step) {
    double mass = std::exp(-std::fabs(rho) / threshold_scale) / (2 * threshold_scale) * step;
    for (std::size_t i = 0; i < gaps.size(); ++i) {
      const double yes = tail(rho - gaps[i]);
      law[i] += mass * yes;
      mass *= 1 - yes;
    }
    law.back() += mass;
  }
  return law;
}

struct Scales {
  double threshold, query;
};
Scales scales(double epsilon, double c, bool monotonic) {
  const double factor = monotonic ? 1 : 2, first = epsilon / (1 + std::pow(factor * c, 2.0 / 3));
  return {1 / first, factor * c / (epsilon - first)};
}

TEST(SparseVector, LawIsExactByChiSquare) {
  Rng rng = Rng::insecure_seed(1);
  const std::vector<double> gaps{-1, 0.5, -2, 1};
  for (bool monotonic : {false, true}) {
    const SparseVectorPlan plan({Relation::add_remove, Budget::pure(1), 1, monotonic});
    const auto [threshold, query] = scales(1, 1, monotonic);
    const int n = 100000;
    std::vector<std::uint64_t> counts(gaps.size() + 1);
    for (int i = 0; i < n; ++i) {
      SparseVectorStream stream = plan.start(rng);
      std::size_t at = 0;
      // Thresholds and sensitivities of their own: only the normalised gap matters.
      while (at < gaps.size() && !stream.ask({gaps[at] * 8 + 100, 100, 8}, rng).above) ++at;
      ++counts[at];
    }
    EXPECT_GT(test::chi_square_p(counts, first_positive_law(gaps, threshold, query), n), kAlpha);
    EXPECT_LT(test::chi_square_p(counts, first_positive_law(gaps, threshold, query * 0.8), n),
              kAlpha)
        << "mutant";
    EXPECT_LT(test::chi_square_p(counts, first_positive_law(gaps, 1e-3, query), n), kAlpha)
        << "mutant: threshold without noise";
  }
}

// Every neighbour of some query vectors over {−1, 0, 1}^3, exact law, both directions.
TEST(SparseVector, ExactLikelihoodRatiosStayWithinEpsilon) {
  const double epsilon = 1;
  for (bool monotonic : {false, true}) {
    const auto [threshold, query] = scales(epsilon, 1, monotonic);
    double worst = 0;
    for (int shift = 0; shift < 27; ++shift) {
      const std::vector<double> move{shift % 3 - 1.0, shift / 3 % 3 - 1.0, shift / 9 - 1.0};
      if (monotonic && *std::min_element(move.begin(), move.end()) < 0) continue;
      for (const std::vector<double>& gaps :
           {std::vector<double>{0, 0, 0}, {-3, -3, 2}, {1, -1, 0.5}}) {
        std::vector<double> other = gaps;
        for (int i = 0; i < 3; ++i) other[i] += move[i];
        const auto a = first_positive_law(gaps, threshold, query),
                   b = first_positive_law(other, threshold, query);
        for (std::size_t i = 0; i < a.size(); ++i)
          worst = std::max(worst, std::fabs(std::log(a[i] / b[i])));
      }
    }
    EXPECT_LE(worst, epsilon + 1e-6);
    EXPECT_GT(worst, 0.4 * epsilon);
  }
}

TEST(SparseVector, RefusesMoreThanTheAgreedPositiveAnswers) {
  Rng rng = Rng::insecure_seed(2);
  const SparseVectorPlan plan({Relation::add_remove, Budget::pure(100), 2});
  SparseVectorStream stream = plan.start(rng);
  EXPECT_TRUE(stream.ask({1000, 0}, rng).above);
  for (int i = 0; i < 200; ++i)
    EXPECT_FALSE(stream.ask({-1000, 0}, rng).above);  // negative answers are free
  EXPECT_TRUE(stream.ask({1000, 0}, rng).above);
  EXPECT_TRUE(stream.exhausted());
  EXPECT_THROW(stream.ask({1000, 0}, rng), BudgetExceeded);
  const std::vector<SparseQuery> queries(10, {1000, 0});
  EXPECT_EQ(plan.run(queries, rng).value.size(), 2u);
}

TEST(SparseVector, NumericAnswersUseFreshNoiseAndArePaidFor) {
  Rng rng = Rng::insecure_seed(3);
  const SparseVectorPlan plan({.relation = Relation::replace_one,
                               .budget = Budget::pure(2),
                               .answers = 4,
                               .numeric = true});
  const Event event = plan.event();
  const auto* parts = event.get_if<ComposeEvent>();
  ASSERT_NE(parts, nullptr);
  const double comparison = parts->events[0].get_if<PureEvent>()->epsilon;
  const auto* values = parts->events[1].get_if<RepeatEvent>();
  EXPECT_EQ(values->count, 4u);
  const double each = values->event->get_if<PureEvent>()->epsilon;
  EXPECT_LE(static_cast<long double>(comparison) + 4 * static_cast<long double>(each), 2.0L);
  EXPECT_NEAR(comparison + 4 * each, 2, 1e-9);
  // The released value is unbiased given that the answer was positive; noise from the comparison
  // would push it up.
  double total = 0, squares = 0;
  int n = 0;
  for (int i = 0; i < 40000; ++i) {
    const SparseAnswer a = plan.start(rng).ask({0, 0}, rng);
    EXPECT_EQ(a.above, a.value.has_value());
    if (a.above) total += *a.value, squares += *a.value * *a.value, ++n;
  }
  const double deviation = std::sqrt(squares / n);
  EXPECT_NEAR(deviation, std::sqrt(2.0) / each, 0.1 / each);
  EXPECT_LT(std::fabs(total / n), 5 * deviation / std::sqrt(n));
}

TEST(SparseVector, EventCostsAtMostTheBudget) {
  for (double epsilon : {1e-3, 0.1, 1.0, 30.0}) {
    for (std::uint64_t c : {1u, 2u, 10u, 1000u}) {
      for (bool monotonic : {false, true}) {
        const Event event =
            SparseVectorPlan({Relation::add_remove, Budget::pure(epsilon), c, monotonic}).event();
        EXPECT_LE(event.get_if<PureEvent>()->epsilon, epsilon);
        EXPECT_GT(event.get_if<PureEvent>()->epsilon, epsilon * (1 - 1e-9));
      }
    }
  }
}

TEST(SparseVector, ReplayOnHostileNeighboursMovesEachQueryByAtMostItsSensitivity) {
  Rng pick = Rng::insecure_seed(4);
  auto uniform = [&] { return std::ldexp(static_cast<double>(pick.next_u64()), -64); };
  const SparseVectorPlan plan({Relation::add_remove, Budget::pure(0.3), 1000});
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<SparseQuery> a, b;
    for (int i = 0; i < 8; ++i) {
      const double sensitivity =
          std::ldexp(1 + uniform(), static_cast<int>(pick.next_u64() % 120) - 60);
      const double value =
          (uniform() - 0.5) * std::ldexp(sensitivity, static_cast<int>(pick.next_u64() % 60) - 30);
      const double threshold = (uniform() - 0.5) * sensitivity * 3;
      double moved = value + (uniform() < 0.5 ? sensitivity : -sensitivity);
      if (std::fabs(static_cast<long double>(moved) - value) > sensitivity) moved = value;
      a.push_back({value, threshold, sensitivity});
      b.push_back({moved, threshold, sensitivity});
    }
    a.push_back({1e308, 0, 1e-100});  // saturates
    b.push_back({1e308, 0, 1e-100});
    auto run = [&](const std::vector<SparseQuery>& q) {
      return [&](Rng& rng) -> std::optional<Event> { return plan.run(q, rng).event; };
    };
    ASSERT_EQ(replay::check_neighbours(run(a), run(b)), "");
  }
}

TEST(SparseVector, AuditStaysBelowTheClaim) {
  // The pattern ⊥⊥⊥⊥⊤ that breaks the published variants without threshold noise or with too little
  // query noise.
  const double epsilon = 1;
  Rng rng = Rng::insecure_seed(5);
  const SparseVectorPlan plan({Relation::add_remove, Budget::pure(epsilon), 1});
  auto rate = [&](double before, double last, std::uint64_t n) {
    std::uint64_t hits = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      SparseVectorStream stream = plan.start(rng);
      bool quiet = true;
      for (int j = 0; j < 4 && quiet; ++j) quiet = !stream.ask({before, 0}, rng).above;
      hits += quiet && stream.ask({last, 0}, rng).above;
    }
    return hits;
  };
  const std::uint64_t n = 100000;
  const double bound = std::log(test::clopper_pearson_lower(rate(0, 1, n), n, kAlpha / 2) /
                                test::clopper_pearson_upper(rate(1, 0, n), n, kAlpha / 2));
  EXPECT_LE(bound, epsilon);
  EXPECT_GT(bound, 0.2) << "the audit must see something";
}

TEST(SparseVector, RefusesSenselessOptionsAndQueries) {
  Rng rng = Rng::insecure_seed(6);
  EXPECT_THROW(SparseVectorPlan({Relation::add_remove, Budget::pure(1), 0}), InvalidArgument);
  SparseVectorOptions all_numeric{.relation = Relation::add_remove, .budget = Budget::pure(1)};
  all_numeric.numeric = true;
  all_numeric.numeric_share = 1;
  EXPECT_THROW(SparseVectorPlan{all_numeric}, InvalidArgument);
  SparseVectorStream stream = SparseVectorPlan({Relation::add_remove, Budget::pure(1)}).start(rng);
  EXPECT_THROW(stream.ask({NAN, 0}, rng), InvalidArgument);
  EXPECT_THROW(stream.ask({0, 0, 0}, rng), InvalidArgument);
}

}  // namespace sotto::sparse_vector_test
