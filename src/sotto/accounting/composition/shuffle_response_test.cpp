#include "sotto/accounting/composition/shuffle_response.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <vector>

#include "sotto/accounting/account.hpp"
#include "sotto/accounting/composition/detail/shuffle_account.hpp"
#include "sotto/accounting/composition/shuffle.hpp"

namespace sotto::shuffle_response_test {

using Law = std::vector<double>;        // of one report
using Counts = std::vector<int>;        // how often each report was made
using View = std::map<Counts, double>;  // probabilities of what a shuffler shows

View view_of(const std::vector<const Law*>& users) {
  View view{{Counts(users[0]->size()), 1.0}};
  for (const Law* law : users) {
    View next;
    for (const auto& [counts, probability] : view)
      for (std::size_t y = 0; y < law->size(); ++y) {
        Counts more = counts;
        ++more[y];
        next[more] += probability * (*law)[y];
      }
    view = std::move(next);
  }
  return view;
}

double hockey_stick(const View& a, const View& b, double epsilon) {
  double sum = 0;
  for (const auto& [counts, probability] : a)
    sum += std::max(0.0, probability - std::exp(epsilon) * b.at(counts));
  return sum;
}

// The largest over all answers of the one user and of the others, both directions.
double true_delta(const std::vector<Law>& randomizer, int n, double epsilon) {
  const int k = static_cast<int>(randomizer.size());
  double worst = 0;
  Counts others(n - 1);
  const std::function<void(int, int)> choose = [&](int at, int least) {
    if (at == n - 1) {
      std::vector<View> views;
      for (int x = 0; x < k; ++x) {
        std::vector<const Law*> users{&randomizer[x]};
        for (int o : others) users.push_back(&randomizer[o]);
        views.push_back(view_of(users));
      }
      for (int x = 0; x < k; ++x)
        for (int y = 0; y < k; ++y)
          if (x != y) worst = std::max(worst, hockey_stick(views[x], views[y], epsilon));
      return;
    }
    for (int x = least; x < k; ++x) others[at] = x, choose(at + 1, x);
  };
  choose(0, 0);
  return worst;
}

std::vector<Law> response(int k, double local) {
  const double q = 1 / (std::exp(local) + k - 1);
  std::vector<Law> laws(k, Law(k, q));
  for (int x = 0; x < k; ++x) laws[x][x] = std::exp(local) * q;
  return laws;
}

// E[(ΣZ)₊]/n over the counts of four values.
double by_counts(const std::vector<std::pair<double, double>>& draw, int n) {
  double sum = 0;
  const std::function<void(std::size_t, int, double, double)> go = [&](std::size_t at, int left,
                                                                       double total, double p) {
    if (at + 1 == draw.size()) {
      sum += std::max(0.0, total + left * draw[at].first) * p * std::pow(draw[at].second, left);
      return;
    }
    double choices = 1;
    for (int i = 0; i <= left; ++i) {
      go(at + 1, left - i, total + i * draw[at].first, p * choices * std::pow(draw[at].second, i));
      choices *= static_cast<double>(left - i) / (i + 1);
    }
  };
  go(0, n, 0, 1);
  return sum / n;
}

TEST(ShuffledResponse, EnclosesTheWorstAnswersOfAllOthers) {
  for (int k : {2, 3, 4}) {
    for (int n : {1, 2, 3, 5}) {
      for (double local : {0.3, 1.0, 2.5}) {
        const auto laws = response(k, local);
        const ShuffledResponse known(local, k, n, true);
        for (double share : {0.0, 0.2, 0.5, 0.8}) {
          const double eps = share * local, truth = true_delta(laws, n, eps);
          EXPECT_LE(truth, known.delta_upper(eps) * (1 + 1e-12)) << k << ' ' << n << ' ' << eps;
          EXPECT_GE(truth, known.delta_lower(eps) * (1 - 1e-12)) << k << ' ' << n << ' ' << eps;
          EXPECT_GE(known.delta_lower(eps), 0.7 * truth) << k << ' ' << n << ' ' << eps;
          // The worst randomizer of its ε₀ is no better.
          EXPECT_LE(known.delta_upper(eps), shuffle_delta(local, n, eps).upper * (1 + 1e-6));
        }
      }
    }
  }
}

// Counting only the two answers of the one user, as if all others were told apart, is not enough
// once the others hold one of them: the claim that a third answer is always the worst.
TEST(ShuffledResponse, AThirdAnswerIsNotAlwaysTheWorst) {
  const double q = 1 / (std::exp(1.0) + 2), x = std::exp(0.7), odds = std::exp(1.0);
  const double third =
      by_counts({{odds - x, q}, {1 - x * odds, q}, {(1 - x) * q / (1 - 2 * q), 1 - 2 * q}}, 2);
  const double truth = true_delta(response(3, 1), 2, 0.7);
  EXPECT_GT(truth, 1.15 * third);
  EXPECT_GE(ShuffledResponse(1, 3, 2, true).delta_upper(0.7), truth * (1 - 1e-12));
}

TEST(ShuffledResponse, IsTheSumOfItsFormula) {
  for (int k : {3, 7}) {
    for (int n : {4, 12, 30}) {
      const double local = 1.7, eps = 0.4, q = 1 / (std::exp(local) + k - 1);
      const double odds = std::exp(local), x = std::exp(eps);
      const double upper =
          by_counts({{odds - x, q}, {1 - x * odds, q}, {1 - x, (k - 2) * q}, {0, 1 - k * q}}, n);
      const ShuffledResponse known(local, k, n, true);
      EXPECT_GE(known.delta_upper(eps), upper);
      EXPECT_NEAR(known.delta_upper(eps), upper, 1e-4 * upper);
      const double m = 1 - 2 * q, same = 1 - x;
      const double third =
          by_counts({{odds - x, q}, {1 - x * odds, q}, {(1 - x) * (k - 2) * q / m, m}}, n);
      const double second =
          by_counts({{odds - x, q}, {1 / odds - x, odds * q}, {same, (k - 2) * q}}, n);
      EXPECT_LE(known.delta_lower(eps), std::max(third, second));
      EXPECT_GE(known.delta_lower(eps), std::max(third, second) * (1 - 1e-6));
    }
  }
}

TEST(ShuffledResponse, BothSidesMeetInLargePopulations) {
  for (std::uint64_t n : {1000ull, 20000ull}) {
    for (std::uint64_t k : {2ull, 3ull, 200ull}) {
      const Spec spec{Relation::replace_one,
                      {ShuffledEvent{n, share(RandomizedResponseEvent{1, k})}}};
      const Bound b = epsilon(spec, Delta(1e-8));
      EXPECT_GT(b.lower, 0.99 * b.upper) << n << ' ' << k << ' ' << b.lower << ' ' << b.upper;
      EXPECT_LE(b.upper, shuffle_epsilon(1, n, Delta(1e-8)).upper * (1 + 1e-6));
      // δ at that ε is the δ asked for.
      const Bound d = delta(spec, b.upper);
      EXPECT_LE(d.upper, 1.001e-8);
      EXPECT_GE(d.upper, 0.97e-8);
    }
  }
}

// By the plain sum of both binomials, for some numbers of others who answer "one": beside few of
// the one answer many of the other have coins whose probabilities leave the range of doubles.
TEST(ShuffledResponse, TwoCategoriesCoverMixedAnswers) {
  const double local = 1, p = 1 / (1 + std::exp(-local)), q = 1 - p, eps = 0.06;
  constexpr int kOthers = 6000;
  const ShuffledResponse known(local, 2, kOthers + 1, true);
  const double upper = known.delta_upper(eps), lower = known.delta_lower(eps);
  EXPECT_LT(upper, 1.03 * lower);
  const auto coins = [](int n, double r) {
    Law law(n + 1);
    for (int i = 0; i <= n; ++i)
      law[i] = std::exp(std::lgamma(n + 1.0) - std::lgamma(i + 1.0) - std::lgamma(n - i + 1.0) +
                        i * std::log(r) + (n - i) * std::log1p(-r));
    return law;
  };
  for (int ones : {0, 3, 900, 3000, 5100, 5999, 6000}) {
    const Law a = coins(ones, p), b = coins(kOthers - ones, q);
    Law x(kOthers + 3);  // shifted by one
    for (int i = 0; i <= ones; ++i)
      if (a[i] > 1e-25)
        for (int j = 0; j <= kOthers - ones; ++j) x[i + j + 1] += a[i] * b[j];
    double there = 0, back = 0;
    for (int j = 1; j < kOthers + 3; ++j) {
      const double zero = q * x[j - 1] + (1 - q) * x[j], one = p * x[j - 1] + (1 - p) * x[j];
      there += std::max(0.0, one - std::exp(eps) * zero);
      back += std::max(0.0, zero - std::exp(eps) * one);
    }
    EXPECT_LE(std::max(there, back), upper) << ones;
  }
}

// Large local ε: probabilities of the others' coins leave the range of doubles.
TEST(ShuffledResponse, TwoCategoriesOfLargeEpsilonKeepTheirTails) {
  for (double local : {8.0, 20.0, 29.0}) {
    for (std::uint64_t n : {20ull, 1000ull, 20000ull}) {
      const ShuffledResponse known(local, 2, n, false);
      for (double share : {0.1, 0.5, 0.9}) {
        const double eps = share * local, lower = known.delta_lower(eps);
        EXPECT_GE(known.delta_upper(eps), lower) << local << ' ' << n << ' ' << share;
        EXPECT_LE(known.delta_upper(eps), shuffle_delta(local, n, eps).upper * 1.05)
            << local << ' ' << n << ' ' << share;
      }
    }
  }
}

// Under zero_out the null answer may have a law of its own, and nothing is attained.
TEST(ShuffledResponse, IsUsedForReplacedAnswersOnly) {
  const Event event = ShuffledEvent{500, share(RandomizedResponseEvent{2, 50})};
  const Bound null = epsilon(Spec{Relation::zero_out, {event}}, Delta(1e-6));
  const Bound replaced = epsilon(Spec{Relation::replace_one, {event}}, Delta(1e-6));
  EXPECT_NEAR(null.upper, shuffle_epsilon(2, 500, Delta(1e-6)).upper, 1e-9);
  EXPECT_EQ(null.lower, 0);
  EXPECT_LT(replaced.upper, 0.7 * null.upper);
  EXPECT_THROW(epsilon(Spec{Relation::add_remove, {event}}, Delta(1e-6)), Error);
}

// A certificate of 10 000 reports that was written when clones had probability e^(−ε₀) claims this;
// its event, read as it is now, costs no more, and what is attained is not far below.
TEST(Shuffle, CertificatesOfBeforeStillHold) {
  constexpr double kClaim = 0.05528;
  for (const Event& inner : {Event(PureEvent{1}), Event(RandomizedResponseEvent{1, 3})}) {
    const Spec spec{Relation::replace_one, {ShuffledEvent{10'000, share(inner)}}};
    const Bound now = epsilon(spec, Delta(1e-6));
    EXPECT_LE(now.upper, kClaim);
    EXPECT_GT(now.lower, kClaim / 4);
  }
}

// Any ε₀-DP randomizer: clones with probability 2/(e^ε₀ + 1).
TEST(Shuffle, CoversRandomRandomizers) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform;
  double closest = 0;
  for (int trial = 0; trial < 150; ++trial) {
    const double local = 0.2 + 2 * uniform(random);
    const int inputs = 2 + trial % 2, outputs = 2 + trial % 3;
    std::vector<Law> laws(inputs, Law(outputs));
    for (int y = 0; y < outputs; ++y) {
      const double base = 0.1 + uniform(random);
      for (Law& law : laws) {
        const double tilt = uniform(random) < 0.6 ? std::round(uniform(random)) : uniform(random);
        law[y] = base * std::exp((tilt - 0.5) * local);
      }
    }
    for (Law& law : laws) {
      double sum = 0;
      for (double p : law) sum += p;
      for (double& p : law) p /= sum;
    }
    double worst = 0;  // the ε₀ that they have
    for (const Law& a : laws)
      for (const Law& b : laws)
        for (int y = 0; y < outputs; ++y) worst = std::max(worst, std::log(a[y] / b[y]));
    for (int n : {2, 4}) {
      for (double share : {0.05, 0.4, 0.75}) {
        const double truth = true_delta(laws, n, share * worst),
                     upper = shuffle_delta(worst, n, share * worst).upper;
        EXPECT_LE(truth, upper * (1 + 1e-9) + 1e-15) << trial << ' ' << n << ' ' << share;
        if (truth > 1e-9) closest = std::max(closest, truth / upper);
      }
    }
  }
  EXPECT_GT(closest, 0.9);  // and cannot be much less
}

ShuffledEvent shuffled_response(double local, std::uint64_t categories, std::uint64_t population) {
  return {population, std::make_shared<const Event>(RandomizedResponseEvent{local, categories})};
}

// Truths by enumeration with 60 digits. Each was missed, or did not end, before ε₀ was kept from 0
// and ε from ε₀.
TEST(ShuffledResponse, IsOnTheRightSideOfTheTruthWhereDoublesCancel) {
  struct Case {
    double local;
    std::uint64_t categories, population;
    double epsilon, truth;
  };
  for (const Case& c :
       {Case{0.5253140944343242, 2, 5, 0.5253140944337988, 5.14754e-14},
        Case{3.6829183351810407e-11, 3, 3, 3.6829183314981224e-11, 1.364e-21},
        Case{4.6665594150964555e-09, 2, 5, 4.661892855681359e-09, 1.458300e-13},
        Case{8.37442179686581e-13, 2, 3, 0, 2.09361e-13},
        Case{5.035157994761532e-10, 2, 2, 4.5316421952853786e-10, 1.25878950e-11}}) {
    const ShuffledEvent event = shuffled_response(c.local, c.categories, c.population);
    const ShuffledGuarantee known(event, Relation::replace_one, true);
    EXPECT_GE(known.delta_upper(c.epsilon), c.truth * (1 - 1e-5)) << c.local;
    EXPECT_LE(known.delta_lower(c.epsilon), c.truth * (1 + 1e-5)) << c.local;
  }
  const ShuffledGuarantee ends(shuffled_response(1.0, 2, 5), Relation::replace_one, true);
  EXPECT_LE(ends.delta_lower(0.9999999999999999), ends.delta_upper(0.9999999999999999));
  const ShuffledGuarantee tiny(shuffled_response(1e-10, 2, 2), Relation::replace_one, true);
  EXPECT_LE(tiny.epsilon_upper(1e-20), 1e-10);
}

TEST(ShuffledResponse, LowerBoundsOfOtherProtocolsAreAttained) {
  // Two answers told apart by one question, and by two.
  const double p = 0.5, q = 0.2;
  const std::vector<Law> one{{p, 1 - p}, {q, 1 - q}};
  const auto bits = [&](double a, double b) {
    return Law{a * b, a * (1 - b), (1 - a) * b, (1 - a) * (1 - b)};
  };
  const std::vector<Law> two{bits(p, q), bits(q, p), bits(q, q)};
  for (int n : {2, 5}) {
    for (double d : {0.2, 0.05, 0.01}) {
      const double e1 = shuffled_binary_lower(p, q, n, Delta(d)),
                   e2 = shuffled_unary_lower(p, q, n, Delta(d));
      EXPECT_GE(true_delta(one, n, e1) * (1 + 1e-9), e1 > 0 ? d : 0) << n << ' ' << d;
      EXPECT_GE(true_delta(two, n, e2) * (1 + 1e-9), e2 > 0 ? d : 0) << n << ' ' << d;
    }
  }
  EXPECT_GT(shuffled_unary_lower(p, q, 1000, Delta(1e-6)),
            shuffled_binary_lower(p, q, 1000, Delta(1e-6)));
}

// Responses whose ε₀ is too small to be computed cost no more than those of a larger one.
TEST(ShuffledResponse, TinyLocalLossesCostNoMoreThanLargerOnes) {
  const auto cost = [](double local, std::uint64_t categories) {
    const Spec spec{Relation::replace_one,
                    {ShuffledEvent{41'000, share(RandomizedResponseEvent{local, categories})}}};
    return epsilon(spec, Delta(3.66e-11)).upper;
  };
  for (const std::uint64_t categories : {2, 3, 36}) {
    double before = 0;
    for (const double local : {1e-6, 1e-5, 1e-4, 1.8e-4, 9.99e-4, 1e-3, 1.6e-3}) {
      const double now = cost(local, categories);
      EXPECT_LE(before, now * (1 + 1e-6)) << local << " " << categories;
      EXPECT_LE(now, local);
      before = now;
    }
  }
}

}  // namespace sotto::shuffle_response_test
