#include "sotto/mechanisms/selection.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/core/plan.hpp"
#include "sotto/core/record_replay.hpp"
#include "support/statistics.hpp"

namespace sotto::selection_test {

using test::kAlpha;
static_assert(Plan<SelectionPlan> && Plan<TopKPlan>);

const Selector kSelectors[] = {Selector::exponential, Selector::permute_and_flip,
                               Selector::noisy_max_geometric, Selector::noisy_max_laplace};

// Exact laws for scores and a weight e^{−gap/t}. The continuous laws differ from the lattice's by
// about 2^-40.
std::vector<double> exponential_law(const std::vector<double>& s, double t) {
  std::vector<double> p;
  double total = 0;
  for (double x : s) p.push_back(std::exp(x / t)), total += p.back();
  for (double& x : p) x /= total;
  return p;
}

// Permute-and-flip by its definition: over all orders of the candidates left.
void flip(const std::vector<double>& w, unsigned left, double mass, std::vector<double>& law) {
  int count = 0;
  for (std::size_t i = 0; i < w.size(); ++i) count += (left >> i) & 1;
  for (std::size_t i = 0; i < w.size(); ++i) {
    if (((left >> i) & 1) == 0) continue;
    law[i] += mass / count * w[i];
    if (w[i] < 1) flip(w, left & ~(1u << i), mass / count * (1 - w[i]), law);
  }
}
std::vector<double> permute_and_flip_law(const std::vector<double>& s, double t) {
  const double best = *std::max_element(s.begin(), s.end());
  std::vector<double> w, law(s.size());
  for (double x : s) w.push_back(std::exp((x - best) / t));
  flip(w, (1u << s.size()) - 1, 1, law);
  return law;
}

// argmax of s + Laplace noise by quadrature: ∫ f(x − s_i) Π F(x − s_j) dx.
std::vector<double> noisy_max_laplace_law(const std::vector<double>& s, double t) {
  std::vector<double> law(s.size());
  const double step = t / 400;
  for (double x = -40 * t; x <= 40 * t; x += step) {
    for (std::size_t i = 0; i < s.size(); ++i) {
      double p = std::exp(-std::fabs(x - s[i]) / t) / (2 * t) * step;
      for (std::size_t j = 0; j < s.size(); ++j) {
        const double y = (x - s[j]) / t;
        if (j != i) p *= y < 0 ? std::exp(y) / 2 : 1 - std::exp(-y) / 2;
      }
      law[i] += p;
    }
  }
  return law;
}

std::vector<double> law_of(Selector selector, const std::vector<double>& scores, double t) {
  switch (selector) {
    case Selector::exponential: return exponential_law(scores, t);
    case Selector::permute_and_flip:
    case Selector::noisy_max_geometric: return permute_and_flip_law(scores, t);  // the same law
    case Selector::noisy_max_laplace: return noisy_max_laplace_law(scores, t);
  }
  return {};
}

class EverySelector : public testing::TestWithParam<Selector> {};
INSTANTIATE_TEST_SUITE_P(, EverySelector, testing::ValuesIn(kSelectors),
                         [](const auto& selector) { return std::string(name(selector.param)); });

TEST_P(EverySelector, LawIsExactByChiSquare) {
  Rng rng = Rng::insecure_seed(1);
  const std::vector<double> scores{3, 0, 2.5, 2.5, -1};
  for (bool monotonic : {false, true}) {
    const SelectionPlan plan({Relation::add_remove, 1, Budget::pure(1), GetParam(), monotonic});
    const double t = monotonic ? 1 : 2;
    const int n = 100000;
    std::vector<std::uint64_t> counts(scores.size());
    for (int i = 0; i < n; ++i) ++counts[plan.run(scores, rng).value];
    EXPECT_GT(test::chi_square_p(counts, law_of(GetParam(), scores, t), n), kAlpha);
    EXPECT_LT(test::chi_square_p(counts, law_of(GetParam(), scores, t * 1.1), n), kAlpha)
        << "mutant: scale off by 10 %";
  }
}

// Every pair of score vectors over {0, ½, 1}^3 whose entries differ by at most 1: all of them, for
// the exact laws.
TEST_P(EverySelector, ExactLikelihoodRatiosStayWithinEpsilon) {
  const double epsilon = 1.5,
               slack = GetParam() == Selector::noisy_max_laplace ? 1e-4 : 1e-12;  // quadrature
  double worst = 0;
  for (bool monotonic : {false, true}) {
    const double t = (monotonic ? 1 : 2) / epsilon;
    std::vector<std::vector<double>> scores, laws;
    for (int i = 0; i < 27; ++i) {
      scores.push_back({(i % 3) / 2.0, (i / 3 % 3) / 2.0, (i / 9) / 2.0});
      laws.push_back(law_of(GetParam(), scores.back(), t));
    }
    for (int i = 0; i < 27; ++i) {
      for (int j = 0; j < 27; ++j) {
        bool up = true;
        for (int c = 0; c < 3; ++c) up = up && scores[i][c] >= scores[j][c];
        if (monotonic && !up) continue;
        for (int c = 0; c < 3; ++c) {
          const double loss = std::fabs(std::log(laws[i][c] / laws[j][c]));
          worst = std::max(worst, loss);
          ASSERT_LE(loss, epsilon + slack);
        }
      }
    }
  }
  EXPECT_GT(worst, epsilon * 0.6);
}

// The reason for the events: the exponential mechanism keeps max loss − min loss within ε,
// permute-and-flip does not.
TEST(Selection, PermuteAndFlipIsNotOfBoundedRangeAndDoesNotClaimIt) {
  const double epsilon = 1, t = 2 / epsilon;
  auto range = [&](Selector selector) {
    const auto a = law_of(selector, {1, 0}, t), b = law_of(selector, {0, 1}, t);
    return std::fabs(std::log(a[0] / b[0]) - std::log(a[1] / b[1]));
  };
  EXPECT_LE(range(Selector::exponential), epsilon * (1 + 1e-12));
  EXPECT_GT(range(Selector::permute_and_flip), 1.3 * epsilon);
  auto event = [](Selector s) {
    return SelectionPlan({Relation::add_remove, 1, Budget::pure(1), s}).event();
  };
  EXPECT_NE(event(Selector::exponential).get_if<ExponentialEvent>(), nullptr);
  EXPECT_NE(event(Selector::permute_and_flip).get_if<PureEvent>(), nullptr);
  EXPECT_NE(event(Selector::noisy_max_geometric).get_if<PureEvent>(), nullptr);
  EXPECT_NE(event(Selector::noisy_max_laplace).get_if<PureEvent>(), nullptr);
}

TEST_P(EverySelector, SurvivesScoresNoExponentialCanHold) {
  Rng rng = Rng::insecure_seed(2);
  const SelectionPlan plan({Relation::add_remove, 1, Budget::pure(1), GetParam()});
  EXPECT_EQ(plan.run(std::vector{-1e308, 1e308, 0.0}, rng).value, 1u);
  EXPECT_EQ(plan.run(std::vector{-HUGE_VAL, 0.0, -1e6}, rng).value, 1u);
  EXPECT_LT(plan.run(std::vector(3, -HUGE_VAL), rng).value, 3u);
  EXPECT_EQ(plan.run(std::vector{5.0}, rng).value, 0u);
  EXPECT_THROW(plan.run(std::vector<double>{}, rng), InvalidArgument);
  EXPECT_THROW(plan.run(std::vector<double>{1, NAN}, rng), InvalidArgument);
}

TEST_P(EverySelector, ReplayOnNeighboursMovesScoresByAtMostTheSensitivityAndCostsNoMore) {
  Rng pick = Rng::insecure_seed(3);
  auto uniform = [&] { return std::ldexp(static_cast<double>(pick.next_u64()), -64); };
  for (double epsilon : {1e-3, 0.3, 1.0, 25.0}) {
    for (int trial = 0; trial < 100; ++trial) {
      const double sensitivity = std::ldexp(1 + uniform(), trial - 50);
      const SelectionPlan plan(
          {Relation::replace_one, sensitivity, Budget::pure(epsilon), GetParam()});
      EXPECT_LE(plan.epsilon(), epsilon);
      EXPECT_GT(plan.epsilon(), epsilon * (1 - 1e-9));
      std::vector<double> a(6), b(6);
      for (int i = 0; i < 6; ++i) {
        a[i] = uniform() * sensitivity * 10;
        b[i] = a[i] + sensitivity * (i % 2 == 0 ? 1 : -1);
        if (std::fabs(static_cast<long double>(a[i]) - b[i]) > sensitivity) b[i] = a[i];
      }
      auto run = [&](const std::vector<double>& s) {
        return [&](Rng& rng) -> std::optional<Event> { return plan.run(s, rng).event; };
      };
      ASSERT_EQ(replay::check_neighbours(run(a), run(b)), "");
    }
  }
}

TEST(Selection, RefusesMonotonicScoresUnderReplaceOne) {
  EXPECT_THROW(
      SelectionPlan({Relation::replace_one, 1, Budget::pure(1), Selector::exponential, true}),
      Unsupported);
  EXPECT_THROW(SelectionPlan({Relation::add_remove, 0, Budget::pure(1)}), InvalidArgument);
}

TEST(Selection, RhoBuysMoreWhereTheRangeIsBounded) {
  EXPECT_NEAR(
      SelectionPlan({Relation::add_remove, 1, Budget::zcdp(0.5), Selector::exponential}).epsilon(),
      2, 1e-9);
  EXPECT_NEAR(
      SelectionPlan({Relation::add_remove, 1, Budget::zcdp(0.5), Selector::permute_and_flip})
          .epsilon(),
      1, 1e-9);
}

TEST(Selection, PermuteAndFlipIsNeverWorseThanTheExponentialMechanism) {
  const std::vector<double> scores{4, 3, 1, 0};
  const auto pf = permute_and_flip_law(scores, 2), em = exponential_law(scores, 2);
  double better = 0, worse = 0;
  for (std::size_t i = 0; i < 4; ++i) better += pf[i] * scores[i], worse += em[i] * scores[i];
  EXPECT_GT(better, worse);
}

TEST(TopK, PeelsDistinctCandidatesAndCostsKRounds) {
  Rng rng = Rng::insecure_seed(5);
  const TopKPlan plan(3, {Relation::add_remove, 1, Budget::pure(3), Selector::exponential, true});
  const Event event = plan.event();
  const auto* rounds = event.get_if<RepeatEvent>();
  ASSERT_NE(rounds, nullptr);
  EXPECT_EQ(rounds->count, 3u);
  EXPECT_LE(3 * rounds->event->get_if<ExponentialEvent>()->epsilon, 3);
  const std::vector<double> scores{10, 90, 50, 70, 0};
  EXPECT_EQ(plan.run(scores, rng).value, (std::vector<std::size_t>{1, 3, 2}));
  EXPECT_THROW(plan.run(std::vector{1.0, 2.0}, rng), InvalidArgument);
  EXPECT_THROW(TopKPlan(0, {Relation::add_remove, 1, Budget::pure(3)}), InvalidArgument);
}

// Peeling two of three: the law of the ordered pair is the product of two exponential mechanisms.
TEST(TopK, LawOfTheOrderedPairIsThatOfPeeling) {
  Rng rng = Rng::insecure_seed(6);
  const std::vector<double> scores{1, 0, 2};
  const TopKPlan plan(2, {Relation::add_remove, 1, Budget::pure(2), Selector::exponential, true});
  std::vector<std::uint64_t> counts(9);
  const int n = 50000;
  for (int i = 0; i < n; ++i) {
    const auto chosen = plan.run(scores, rng).value;
    ++counts[chosen[0] * 3 + chosen[1]];
  }
  std::vector<double> law(9);
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) {
      if (a == b) continue;
      const double total = std::exp(scores[0]) + std::exp(scores[1]) + std::exp(scores[2]);
      law[a * 3 + b] =
          std::exp(scores[a]) / total * std::exp(scores[b]) / (total - std::exp(scores[a]));
    }
  }
  EXPECT_GT(test::chi_square_p(counts, law, n), kAlpha);
}

TEST_P(EverySelector, AuditStaysBelowTheClaimAndCatchesHalvedNoise) {
  auto audit = [](double epsilon) {
    Rng rng = Rng::insecure_seed(8);
    const SelectionPlan plan({Relation::add_remove, 1, Budget::pure(epsilon), GetParam()});
    const std::vector<double> a{1, 0, 0, 0, 0, 0}, b{0, 1, 1, 1, 1, 1};
    const std::uint64_t n = 60000;
    std::uint64_t on_a = 0, on_b = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      on_a += plan.run(a, rng).value == 0;
      on_b += plan.run(b, rng).value == 0;
    }
    return std::log(test::clopper_pearson_lower(on_a, n, kAlpha / 2) /
                    test::clopper_pearson_upper(on_b, n, kAlpha / 2));
  };
  EXPECT_LE(audit(1), 1);
  EXPECT_GT(audit(3), 1) << "mutant: a third of the noise";
}

}  // namespace sotto::selection_test
