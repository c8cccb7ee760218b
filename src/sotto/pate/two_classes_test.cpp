#include "sotto/pate/two_classes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <ctime>

#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numeric/mills.hpp"
#include "sotto/pate/vote_renyi.hpp"

namespace sotto::pate::two_classes_test {

LabelOptions options(double sigma = 40, std::uint64_t teachers = 250, std::uint64_t queries = 400) {
  return {.aggregator = Aggregator::gnmax,
          .teachers = teachers,
          .queries = queries,
          .classes = 2,
          .sigma = sigma};
}

double cost_at(const LabelOptions& o, std::size_t lead, double order) {
  return two_class_renyi(o, order).at(lead);
}

// The class behind wins, continuous noise.
long double behind(double lead, double sigma) {
  return std::erfc(static_cast<long double>(lead) / (2 * static_cast<long double>(sigma))) / 2;
}

long double divergence(long double a, long double b, long double order) {
  return std::log(std::pow(a, order) * std::pow(b, 1 - order) +
                  std::pow(1 - a, order) * std::pow(1 - b, 1 - order)) /
         (order - 1);
}

TEST(TwoClasses, CostsAreTheDivergencesOfTheAnswer) {
  for (const double sigma : {3., 40., 200.})
    for (const double order : {1.01, 2., 15., 60.})
      for (const std::size_t lead : {0, 1, 2, 30, 100, 250}) {
        const long double a = behind(static_cast<double>(lead), sigma);
        long double worst = 0;
        for (const double move : {-2., 2.}) {
          const long double b = behind(static_cast<double>(lead) + move, sigma);
          worst = std::max({worst, divergence(a, b, order), divergence(b, a, order)});
        }
        const double counts = gnmax_renyi(0, sigma, order);
        const double cost = cost_at(options(sigma), lead, order);
        EXPECT_LE(cost, counts);
        EXPECT_GE(cost, std::min<double>(counts, static_cast<double>(worst) * (1 - 1e-7)))
            << sigma << ' ' << order << ' ' << lead;
        // Where long doubles have the digits to say so.
        if (worst > 1e-12L && cost < counts) {
          EXPECT_LE(cost, static_cast<double>(worst) * 1.001 + 1e-14);
        }
      }
}

// Divergences of continuous noise, computed with 60 digits: where tails underflow and powers
// overflow, the cost neither vanishes nor stops being a number.
TEST(TwoClasses, CostsAreRightWhereTailsUnderflow) {
  struct Known {
    Aggregator aggregator;
    double sigma, order;
    std::uint64_t teachers;
    std::size_t lead;
    double least;
  };
  for (const Known& k : {Known{Aggregator::gnmax, 5, 80, 269, 269, 1.6459222928},
                         Known{Aggregator::gnmax, 5, 80, 300, 300, .6666741500},
                         Known{Aggregator::gnmax, 5, 80, 300, 200, 2.9536647930},
                         Known{Aggregator::gnmax, 7.87608, 188.396, 16'384, 423, 2.9715700175},
                         Known{Aggregator::gnmax, .2, 2, 3, 0, 26.5077423649},
                         Known{Aggregator::gnmax, .3, 3, 3, 1, 20.8630116556},
                         Known{Aggregator::lnmax, .184, 80, 135, 135, 1.7708013377}}) {
    LabelOptions o = options(k.sigma, k.teachers, 1);
    o.aggregator = k.aggregator;
    const double cost = cost_at(o, k.lead, k.order);
    EXPECT_GE(cost, k.least) << k.sigma << ' ' << k.lead;
    EXPECT_LE(cost, k.least * 1.001) << k.sigma << ' ' << k.lead;
  }
}

// A panel that agrees pays little, however many teachers it has.
TEST(TwoClasses, ConfidentPanelsStayCheap) {
  for (const Aggregator aggregator : {Aggregator::gnmax, Aggregator::lnmax})
    for (const double order : {6., 15., 40.}) {
      LabelOptions o = options(aggregator == Aggregator::gnmax ? 15 : 2, 1000, 100);
      o.aggregator = aggregator;
      const std::vector<double> costs = two_class_renyi(o, order);
      const double counts =
          aggregator == Aggregator::gnmax ? gnmax_renyi(0, 15, order) : lnmax_renyi(0, 2, order);
      for (std::size_t lead = 900; lead < costs.size(); ++lead) {
        EXPECT_GT(costs[lead], 0);
        EXPECT_LT(costs[lead], 1e-6 * counts) << lead;
      }
    }
}

// Ranges of leads are bounded without looking at each; a law that needed every lead and order of
// this would take minutes.
TEST(TwoClasses, TheLawIsFoundQuickly) {
  const std::clock_t start = std::clock();
  for (const double sigma : {50., 13'257., 1e6})
    EXPECT_TRUE(answer_law(options(sigma, 16'384, 1000)).has_value());
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 5);
}

TEST(TwoClasses, AnUndecidedAnswerCostsTwoPisOfTheCounts) {
  EXPECT_NEAR(cost_at(options(), 0, 2) / (2. / 1600), 2 / M_PI, .005);
  EXPECT_LT(cost_at(options(), 200, 15), .05 * 15. / 1600);
}

TEST(TwoClasses, LaplaceNoiseCostsLessThanTheTheoremSays) {
  LabelOptions o = options(20);
  o.aggregator = Aggregator::lnmax;
  for (const std::int64_t lead : {0, 1, 20, 100, 250}) {
    const std::vector<std::int64_t> votes = {(250 + lead) / 2, (250 - lead) / 2};
    EXPECT_LE(cost_at(o, static_cast<std::size_t>(lead), 8),
              lnmax_renyi(log_q_laplace(votes, 20, kVoteStep), 20, 8) * (1 + 1e-3));
  }
}

// ε at δ of two binomial laws, both directions.
double epsilon_of_binomials(int n, long double a, long double b, double delta) {
  const auto law = [n](long double p) {
    std::vector<long double> mass;
    for (int k = 0; k <= n; ++k)
      mass.push_back(std::exp(std::lgamma(n + 1.0L) - std::lgamma(k + 1.0L) -
                              std::lgamma(n - k + 1.0L) + k * std::log(p) +
                              (n - k) * std::log1p(-p)));
    return mass;
  };
  const auto p = law(a), q = law(b);
  const auto delta_at = [&](double epsilon) {
    long double one = 0, other = 0;
    for (std::size_t k = 0; k < p.size(); ++k) {
      one += std::max(0.0L, p[k] - std::exp(epsilon) * q[k]);
      other += std::max(0.0L, q[k] - std::exp(epsilon) * p[k]);
    }
    return static_cast<double>(std::max(one, other));
  };
  double low = 0, high = 20;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (delta_at(middle) > delta ? low : high) = middle;
  }
  return low;
}

// An adversary who has chosen the votes of all queries: how many answers of each class there were
// tells everything. The mutant is a vote that moves the lead by 3.
TEST(TwoClasses, TheGuaranteeHoldsForTheWorstVotes) {
  LabelOptions o = options(30, 250, 300);
  ASSERT_TRUE(answer_law(o).has_value());
  EXPECT_EQ(LabelPlan(o).event(),  // of the counts, unless bits are asked for
            Event(repeat(DiscreteGaussianEvent{30, std::nextafter(std::sqrt(2.0), 2), kVoteStep, 2},
                         300)));
  o.as_bits = true;
  const Event event = LabelPlan(o).event();
  const double claimed = epsilon(Spec{Relation::add_remove, {event}}, Delta(1e-5)).upper;
  const Event counts = repeat(DiscreteGaussianEvent{30, std::sqrt(2.0), kVoteStep, 2}, 300);
  EXPECT_LT(claimed, .9 * epsilon(Spec{Relation::add_remove, {counts}}, Delta(1e-5)).upper);
  double worst = 0, mutant = 0;
  for (int lead = -30; lead <= 150; lead += 3) {
    const long double a = behind(lead, 30);
    worst = std::max(worst, epsilon_of_binomials(300, a, behind(lead + 2, 30), 1e-5));
    mutant = std::max(mutant, epsilon_of_binomials(300, a, behind(lead + 3, 30), 1e-5));
  }
  EXPECT_LE(worst, claimed);
  EXPECT_GE(worst, .85 * claimed);
  EXPECT_GT(mutant, claimed);
}

TEST(TwoClasses, TheLawCoversEveryLeadAndOrder) {
  for (const double sigma : {10., 52., 300.}) {
    const LabelOptions o = options(sigma);
    const auto law = answer_law(o);
    if (!law) continue;
    for (double order = 1.003; order < law->omega; order *= 1.03)
      for (const double cost : two_class_renyi(o, order))
        ASSERT_LE(cost, law->rho * order) << order;
  }
  EXPECT_TRUE(answer_law(options(52)).has_value());
  EXPECT_FALSE(answer_law(options(52, 100'000)).has_value());  // too many leads to look at
  LabelOptions three = options();
  three.classes = 3;
  EXPECT_FALSE(answer_law(three).has_value());
  three.as_bits = true;
  EXPECT_THROW(LabelPlan{three}, InvalidArgument);
}

}  // namespace sotto::pate::two_classes_test
