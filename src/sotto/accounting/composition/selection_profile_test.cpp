// The best of a random number of runs, by the profile of one run, against its exact law.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "sotto/accounting/account.hpp"
#include "sotto/accounting/renyi/detail/renyi_selection.hpp"

namespace sotto::selection_profile_test {

double normal(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

// φ' of the number of runs.
std::function<double(double)> slope_of(const PrivateSelectionEvent& e) {
  if (e.distribution == SelectionDistribution::poisson)
    return [m = e.mean](double x) { return m * std::exp(m * (x - 1)); };
  const double gamma = truncated_negative_binomial_gamma(e.shape, e.mean);
  return [=](double x) { return e.mean * std::pow(gamma / (1 - (1 - gamma) * x), e.shape + 1); };
}

// δ(ε) of the best of K runs of N(shift, 1) against those of N(0, 1), the larger output being the
// better (or the worse) one.
double exact_delta(const PrivateSelectionEvent& e, double shift, double epsilon, bool larger) {
  const auto slope = slope_of(e);
  constexpr double kStep = 1e-3;
  double sum = 0;
  for (double y = -12; y < 12; y += kStep) {
    const auto density = [&](double mean) {
      const double at_most = larger ? normal(y - mean) : 1 - normal(y - mean);
      return slope(at_most) * std::exp(-(y - mean) * (y - mean) / 2) / std::sqrt(2 * M_PI);
    };
    sum += std::max(0.0, density(shift) - std::exp(epsilon) * density(0)) * kStep;
  }
  return sum;
}

TEST(SelectionProfile, BoundsTheExactLawOfTheBestGaussian) {
  for (const double mu : {0.1, 0.5, 1.5}) {
    for (const PrivateSelectionEvent& e :
         {PrivateSelectionEvent{SelectionDistribution::truncated_negative_binomial, 0, 10,
                                share(GdpEvent{mu})},
          PrivateSelectionEvent{SelectionDistribution::truncated_negative_binomial, 1, 4,
                                share(GdpEvent{mu})},
          PrivateSelectionEvent{SelectionDistribution::truncated_negative_binomial, 0.5, 1.5,
                                share(GdpEvent{mu})},
          PrivateSelectionEvent{SelectionDistribution::poisson, 0, 3, share(GdpEvent{mu})}}) {
      for (const double delta : {1e-2, 1e-5}) {
        const double bound = epsilon(Spec{Relation::add_remove, {e}}, Delta(delta)).upper;
        for (const double shift : {mu, -mu})
          for (const bool larger : {true, false})
            EXPECT_LE(exact_delta(e, shift, bound, larger), delta * (1 + 1e-6))
                << mu << " " << e.mean << " " << e.shape << " " << delta;
        // A mutant: the cost of one run alone is not enough.
        const double one = epsilon(Spec{Relation::add_remove, {GdpEvent{mu}}}, Delta(delta)).upper;
        if (e.mean >= 3) {
          EXPECT_GT(std::max(exact_delta(e, mu, one, true), exact_delta(e, -mu, one, false)),
                    delta);
        }
      }
    }
  }
}

// δ(ε) of the best of K runs of N(mu, 1) against N(0, 1), for an order that an adversary chose: the
// best are what the neighbour makes more likely (below b), then what this one does (above t), then
// the rest.
double adversary(const PrivateSelectionEvent& e, double mu, double epsilon) {
  const auto slope = slope_of(e);
  // P[best is among the best s], by Simpson's rule on φ'.
  const auto among = [&](double from, double to) {
    constexpr int kPieces = 64;
    double sum = 0;
    for (int i = 0; i <= kPieces; ++i) {
      const double s = from + (to - from) * i / kPieces;
      sum += slope(1 - s) * (i == 0 || i == kPieces ? 1 : i % 2 == 1 ? 4 : 2);
    }
    return sum * (to - from) / (3 * kPieces);
  };
  double worst = 0;
  for (double b = -6; b < 6; b += 0.1)
    for (double t = b; t < 9; t += 0.1) {
      const double first = normal(b - mu), first_other = normal(b);
      const double last = normal(mu - t), last_other = normal(-t);
      worst = std::max(worst, among(first, first + last) -
                                  std::exp(epsilon) * among(first_other, first_other + last_other));
    }
  return worst;
}

TEST(SelectionProfile, IsCloseToWhatAnAdversarysOrderDoes) {
  for (const PrivateSelectionEvent& e :
       {PrivateSelectionEvent{SelectionDistribution::truncated_negative_binomial, 0, 10,
                              share(GdpEvent{0.1889})},
        PrivateSelectionEvent{SelectionDistribution::truncated_negative_binomial, 0, 2,
                              share(GdpEvent{0.2354})},
        PrivateSelectionEvent{SelectionDistribution::truncated_negative_binomial, 1, 5,
                              share(GdpEvent{0.3})},
        PrivateSelectionEvent{SelectionDistribution::poisson, 0, 4, share(GdpEvent{0.3})}}) {
    const double bound = epsilon(Spec{Relation::add_remove, {e}}, Delta(1e-5)).upper;
    const double mu = e.event->get_if<GdpEvent>()->mu;
    EXPECT_LE(adversary(e, mu, bound), 1e-5) << e.mean << ' ' << e.shape;
    EXPECT_GT(adversary(e, mu, bound * 0.97), 1e-5) << "not tight: " << e.mean << ' ' << e.shape;
  }
}

// Laws of K whose ratio of slopes overflows: the sharp bound says nothing, and nothing is cheap.
TEST(SelectionProfile, SaysNothingWhereNumbersOverflow) {
  const auto cost = [](SelectionDistribution law, double shape, double mean, double mu,
                       Accountant accountant) {
    try {
      return epsilon(Spec{Relation::add_remove,
                          {PrivateSelectionEvent{law, shape, mean, share(GdpEvent{mu})}}},
                     Delta(1e-5), {.accountant = accountant})
          .upper;
    } catch (const AccountingError&) {
      return std::numeric_limits<double>::infinity();
    }
  };
  const auto poisson = SelectionDistribution::poisson;
  const auto binomial = SelectionDistribution::truncated_negative_binomial;
  for (const Accountant accountant : {Accountant::automatic, Accountant::basic}) {
    double last = 0;
    for (const double mean : {1., 10., 100., 500., 700., 720., 1000., 1e4, 1e6, 1e300}) {
      const double now = cost(poisson, 0, mean, 0.2, accountant);
      EXPECT_GE(now, last * (1 - 1e-6)) << mean;
      last = now;
    }
    EXPECT_GT(cost(poisson, 0, 1e6, 0.001, accountant), 1e-3);
    EXPECT_GT(cost(poisson, 0, 1000, 2.2, accountant), 2);
    EXPECT_GT(cost(binomial, 1000, 1e5, 0.2, accountant), 0.5);
    EXPECT_GT(cost(binomial, 1, 1e300, 0.2, accountant), 0.5);
    EXPECT_GT(cost(binomial, 0, 1e300, 0.2, accountant), 0.5);
  }
}

TEST(SelectionProfile, CostsLessThanTheRenyiBoundForGaussians) {
  const Event e = PrivateSelectionEvent{SelectionDistribution::truncated_negative_binomial, 0, 10,
                                        share(GaussianEvent::from_multiplier(7.01587))};
  const Spec spec{Relation::add_remove, {e}};
  EXPECT_NEAR(epsilon(spec, Delta(1e-5), {.accountant = Accountant::rdp}).upper, 1, 1e-4);
  EXPECT_LT(epsilon(spec, Delta(1e-5)).upper, 0.76);
  EXPECT_GT(epsilon(spec, Delta(1e-5)).upper, 0.70);
}

TEST(SelectionProfile, OfPureRunsIsPure) {
  const auto best = [](double shape, double mean) {
    return PrivateSelectionEvent{SelectionDistribution::truncated_negative_binomial, shape, mean,
                                 share(repeat(PureEvent{0.1}, 2))};
  };
  EXPECT_NEAR(guarantee(Spec{Relation::add_remove, {best(0, 10)}}, 0).upper, 0.4, 1e-9);
  EXPECT_NEAR(guarantee(Spec{Relation::add_remove, {best(1, 10)}}, 0).upper, 0.6, 1e-9);
  EXPECT_NEAR(guarantee(Spec{Relation::add_remove, {best(1, 1)}}, 0).upper, 0.2, 1e-9);
  EXPECT_LE(epsilon(Spec{Relation::add_remove, {best(0, 10)}}, Delta(1e-30)).upper, 0.4 + 1e-9);
  PrivateSelectionEvent poisson = best(0, 10);
  poisson.distribution = SelectionDistribution::poisson;
  EXPECT_THROW(guarantee(Spec{Relation::add_remove, {poisson}}, 0), AccountingError);
}

// Next to one run the parameter is next to 1: what is lost in 1 − γ must not make it too cheap.
TEST(SelectionProfile, ParameterNextToOneRunIsRoundedUp) {
  for (const double shape : {0.0, 1e-6, 0.5, 1.0, 30.0}) {
    for (const double more : {1e-15, 1e-13, 1e-10, 1e-8, 1e-5, 1e-2, 1.0, 1e6}) {
      const double mean = 1 + more;
      const double cost = truncated_negative_binomial_cost(shape, mean);
      // The mean at γ = e^(−x) is 1 + x(1 + η)/2 + …, in long double.
      const long double x = cost, odds = std::expm1(x);
      const long double reached =
          shape == 0 ? odds / x : shape * odds / -std::expm1(-static_cast<long double>(shape) * x);
      EXPECT_GE(reached, mean) << shape << ' ' << more;
      EXPECT_LE(reached - 1, (mean - 1) * (1 + 1e-9L) + 2e-13L * mean) << shape << ' ' << more;
    }
  }
  // One run and a hair costs hardly more than one run, and not less.
  const auto cost = [](double mean) {
    const PrivateSelectionEvent e{SelectionDistribution::truncated_negative_binomial, 1, mean,
                                  share(PureEvent{1e-9})};
    return epsilon(Spec{Relation::add_remove, {e}}, Delta(1e-12)).upper;
  };
  EXPECT_GE(cost(std::nextafter(1.0, 2.0)), cost(1));
  EXPECT_LE(cost(1 + 1e-9), 4e-9);
}

// A failing run fails the whole, once for each run that is expected.
TEST(SelectionProfile, FailuresOfRunsAddUpInTheRenyiCurve) {
  const auto cost = [](SelectionDistribution law, double mean, double failure, double delta) {
    std::vector<Event> run{GdpEvent{0.3}};
    if (failure > 0) run.push_back(ApproximateEvent{0, failure});
    const PrivateSelectionEvent e{law, law == SelectionDistribution::poisson ? 0.0 : 1.0, mean,
                                  share(compose(run))};
    return epsilon(Spec{Relation::add_remove, {e}}, Delta(delta), {.accountant = Accountant::rdp})
        .upper;
  };
  for (const auto law :
       {SelectionDistribution::truncated_negative_binomial, SelectionDistribution::poisson}) {
    EXPECT_GE(cost(law, 4, 1e-7, 1e-6), cost(law, 4, 0, 6e-7));
    EXPECT_GT(cost(law, 4, 1e-7, 1e-6), cost(law, 4, 0, 1e-6));
    EXPECT_THROW(cost(law, 4, 3e-7, 1e-6), AccountingError);
  }
  const auto binomial = SelectionDistribution::truncated_negative_binomial;
  EXPECT_NEAR(cost(binomial, 4, 1e-7, 1e-6), cost(binomial, 4, 0, 6e-7), 1e-6);
}

TEST(SelectionProfile, RunsWithFailuresAreBoundedByTheirProfile) {
  for (const auto distribution :
       {SelectionDistribution::truncated_negative_binomial, SelectionDistribution::poisson}) {
    const PrivateSelectionEvent e{distribution,
                                  distribution == SelectionDistribution::poisson ? 0.0 : 1.0, 3,
                                  share(compose({ApproximateEvent{0.5, 1e-9}, GdpEvent{0.3}}))};
    const Bound b = epsilon(Spec{Relation::add_remove, {e}}, Delta(1e-6));
    EXPECT_GT(b.upper, 0.5);
    EXPECT_LT(b.upper, 20);
  }
}

}  // namespace sotto::selection_profile_test
