// The accountant through its front door: closed forms in 50 digits, properties, and the errors of
// other accountants.
#include "sotto/accounting/pld/pld_accountant.hpp"

#include <gtest/gtest.h>

#include <boost/math/special_functions/erf.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <random>

#include "sotto/core/numeric/gaussian_dp.hpp"

namespace sotto::pld_accountant_test {

using Wide = boost::multiprecision::cpp_bin_float_50;

Spec add_remove(std::vector<Event> events) { return {Relation::add_remove, std::move(events)}; }
Spec replace_one(std::vector<Event> events) { return {Relation::replace_one, std::move(events)}; }
Event gaussian(double multiplier) { return GaussianEvent::from_multiplier(multiplier); }
Event dpsgd(double rate, double multiplier, std::uint64_t steps) {
  return repeat(poisson_sampled(gaussian(multiplier), rate), steps);
}
double upper(const Spec& spec, double delta, double tolerance = 1e-3) {
  return pld_epsilon(spec, Delta(delta), tolerance).upper;
}

Wide tail(const Wide& x) { return boost::math::erfc(x / sqrt(Wide(2))) / 2; }

// δ of one removal step of the sampled Gaussian, by the definition.
Wide sampled_delta(double q, double sigma, double epsilon) {
  const Wide qq = q, s = sigma, e = epsilon;
  const Wide z = s * s * log((exp(e) - 1 + qq) / qq) + Wide(1) / 2;  // outcome with this loss
  return (1 - qq) * tail(z / s) + qq * tail((z - 1) / s) - exp(e) * tail(z / s);
}

TEST(PldAccountant, OneSampledStepMatchesFiftyDigits) {
  for (double q : {1e-4, 0.01, 0.5}) {
    for (double sigma : {0.4, 1.0, 3.0}) {
      for (double epsilon : {0.01, 0.3, 2.0}) {
        const Bound d = pld_delta(add_remove({dpsgd(q, sigma, 1)}), epsilon, 1e-3);
        const double exact = static_cast<double>(sampled_delta(q, sigma, epsilon));
        EXPECT_GE(d.upper, exact) << q << " " << sigma << " " << epsilon;
        EXPECT_LE(d.lower, exact);
        EXPECT_LE(d.upper, exact * (1 + 1e-11));
      }
    }
  }
}

TEST(PldAccountant, GaussiansAreExactHoweverTheyAreWritten) {
  const double exact = gaussian_epsilon_upper(0.3, Delta(1e-7));
  for (const Spec& spec :
       {add_remove({repeat(gaussian(10), 9)}), add_remove({GdpEvent{0.3}}),
        add_remove({repeat(GaussianEvent{20, 2}, 9)}), replace_one({repeat(gaussian(20), 9)}),
        add_remove({repeat(GdpEvent{0.1}, 4), repeat(gaussian(10), 5)}),
        add_remove({poisson_sampled(repeat(gaussian(10), 9), 1.0)})}) {
    const Bound b = pld_epsilon(spec, Delta(1e-7), 1e-3);
    EXPECT_NEAR(b.upper, exact, 1e-10 * exact);
    EXPECT_GE(b.upper, b.lower);
    EXPECT_GE(b.upper, gaussian_epsilon_lower(0.3, Delta(1e-7)));
  }
}

TEST(PldAccountant, MoreNoiseFewerStepsSmallerRateLargerDeltaNeverCostMore) {
  const auto eps = [](double q, double s, std::uint64_t t, double d) {
    return upper(add_remove({dpsgd(q, s, t)}), d, 1e-4);
  };
  const double base = eps(0.02, 1.1, 700, 1e-6), room = base * 2e-4;
  EXPECT_LT(eps(0.02, 1.2, 700, 1e-6), base + room);
  EXPECT_LT(eps(0.018, 1.1, 700, 1e-6), base + room);
  EXPECT_LT(eps(0.02, 1.1, 650, 1e-6), base + room);
  EXPECT_LT(eps(0.02, 1.1, 700, 2e-6), base + room);
  EXPECT_LT(eps(0.02, 2.2, 700, 1e-6), 0.6 * base);
}

TEST(PldAccountant, BothBoundsMeetTheToleranceOnTrainingSettings) {
  for (double q : {0.001, 0.01, 0.1}) {
    for (double sigma : {0.5, 1.0, 3.0, 10.0}) {
      for (std::uint64_t steps : {1ULL, 10ULL, 1000ULL, 100000ULL}) {
        for (double delta : {1e-3, 1e-6, 1e-15}) {
          const Bound b = pld_epsilon(add_remove({dpsgd(q, sigma, steps)}), Delta(delta), 1e-3);
          EXPECT_LE(b.lower, b.upper);
          EXPECT_LE(b.upper - b.lower, 1e-3 * b.upper)
              << q << " " << sigma << " " << steps << " " << delta;
        }
      }
    }
  }
}

TEST(PldAccountant, OrderAndGroupingDoNotMatter) {
  const Event a = dpsgd(0.01, 0.9, 300), b = repeat(LaplaceEvent{20, 1}, 40),
              c = repeat(RandomizedResponseEvent{0.2, 5}, 10);
  const double first = upper(add_remove({a, b, c}), 1e-6), gap = 1e-3 * first;
  EXPECT_NEAR(upper(add_remove({c, a, b}), 1e-6), first, gap);
  EXPECT_NEAR(upper(add_remove({dpsgd(0.01, 0.9, 100), b, dpsgd(0.01, 0.9, 200), c}), 1e-6), first,
              gap);
  EXPECT_NEAR(
      upper(add_remove({repeat(compose({dpsgd(0.01, 0.9, 30), repeat(LaplaceEvent{20, 1}, 4),
                                        RandomizedResponseEvent{0.2, 5}}),
                               10)}),
            1e-6),
      first, gap);
}

TEST(PldAccountant, EveryMechanismCountsItsRepetitions) {
  for (const Event& e : std::vector<Event>{
           gaussian(5), LaplaceEvent{5, 1}, DiscreteGaussianEvent{5, 1}, DiscreteLaplaceEvent{5, 1},
           RandomizedResponseEvent{0.3, 3}, ExponentialEvent{0.4}, PureEvent{0.3},
           ApproximateEvent{0.3, 1e-9}, ZcdpEvent{0.02}, TcdpEvent{0.02, 50}, GdpEvent{0.2},
           GnmaxEvent{7}, LnmaxEvent{8}, poisson_sampled(LaplaceEvent{1, 1}, 0.2),
           poisson_sampled(DiscreteGaussianEvent{2, 1}, 0.2), poisson_sampled(PureEvent{1}, 0.2),
           GaussianMixtureEvent{4, {0, 1, 2}, {0.5, 0.3, 0.2}}}) {
    const double one = upper(add_remove({e}), 1e-5),
                 many = upper(add_remove({repeat(e, 60)}), 1e-5);
    const double listed = upper(add_remove(std::vector<Event>(60, e)), 1e-5);
    EXPECT_GT(many, 3 * one) << e.name();
    EXPECT_NEAR(many, listed, 1e-12 * many) << e.name();
  }
}

TEST(PldAccountant, SamplingEverythingIsNoSampling) {
  for (const Event& e : std::vector<Event>{gaussian(2), LaplaceEvent{3, 1}, PureEvent{0.3}}) {
    EXPECT_EQ(upper(add_remove({repeat(poisson_sampled(e, 1), 20)}), 1e-6),
              upper(add_remove({repeat(e, 20)}), 1e-6));
    const double nearly = upper(add_remove({repeat(poisson_sampled(e, 1 - 1e-9), 20)}), 1e-6, 1e-5);
    EXPECT_NEAR(nearly, upper(add_remove({repeat(e, 20)}), 1e-6, 1e-5), 1e-4 * nearly) << e.name();
  }
  EXPECT_NEAR(upper(replace_one({gaussian(4)}), 1e-5), upper(add_remove({gaussian(2)}), 1e-5),
              1e-12);
}

TEST(PldAccountant, RelationsOrderAsTheyMust) {
  const double removal = upper(add_remove({dpsgd(0.01, 1, 1000)}), 1e-5);
  const double replacement = upper(replace_one({dpsgd(0.01, 1, 1000)}), 1e-5);
  EXPECT_GT(replacement, removal);
  EXPECT_LT(replacement, upper(add_remove({dpsgd(0.01, 0.5, 1000)}), 1e-5));
  EXPECT_EQ(upper({Relation::zero_out, {dpsgd(0.01, 1, 1000)}}, 1e-5), removal);
  // A stated exact sensitivity says nothing of samples without the record, so less is amplified.
  EXPECT_GT(upper(replace_one({repeat(poisson_sampled(GaussianEvent{1, 2}, 0.01), 1000)}), 1e-5),
            replacement);
}

TEST(PldAccountant, FixedSizeSamplingLiesBetweenItsBounds) {
  const auto spec = [](Scheme scheme, Relation relation) {
    return Spec{relation, {repeat(SampledEvent{scheme, 1, 100, 10000, share(gaussian(4))}, 1000)}};
  };
  for (Relation r : {Relation::replace_one, Relation::zero_out, Relation::add_remove}) {
    const Bound b = pld_epsilon(spec(Scheme::without_replacement, r), Delta(1e-5), 1e-3);
    EXPECT_GE(b.upper, b.lower);
    EXPECT_GT(b.lower, 0);
    EXPECT_LT(b.upper, 0.8) << "the best Rényi bound is 1.4453";
    EXPECT_GE(b.upper, upper(add_remove({dpsgd(0.01, 2, 1000)}), 1e-5) * 0.999)
        << "no better than Poisson at twice the distance";
    const Bound w = pld_epsilon(spec(Scheme::with_replacement, r), Delta(1e-5), 1e-3);
    EXPECT_GT(w.upper, b.upper * 0.95);
    EXPECT_LT(w.upper, 2 * b.upper);
  }
}

TEST(PldAccountant, CopiesOfARecordCountUnderSamplingWithReplacement) {
  // A sample of 6 out of 2 records holds each about 3 times: hardly any amplification is left, and
  // every copy answers.
  for (const Event& e : std::vector<Event>{RandomizedResponseEvent{0.1, 3}, LnmaxEvent{30},
                                           PureEvent{0.1}, gaussian(20)}) {
    const Spec alone = add_remove({e});
    const Spec copies = add_remove({SampledEvent{Scheme::with_replacement, 1, 6, 2, share(e)}});
    EXPECT_GT(upper(copies, 1e-3), 2.5 * upper(alone, 1e-3)) << e.name();
  }
}

TEST(PldAccountant, BoundedLossesAddUpAtMost) {
  const Spec spec =
      add_remove({repeat(poisson_sampled(RandomizedResponseEvent{0.5, 4}, 0.001), 3)});
  const double most = 3 * std::log1p(0.001 * std::expm1(0.5));
  const Bound b = pld_epsilon(spec, Delta(5e-16), 1e-3);
  EXPECT_LE(b.upper, most * (1 + 1e-9));
  EXPECT_GE(b.upper, most * (1 - 1e-6));
}

TEST(PldAccountant, BoundedRangeIsBetweenItsLowerBoundAndPureDp) {
  for (double eps : {0.1, 1.0, 3.0}) {
    for (std::uint64_t k : {1ULL, 50ULL}) {
      const Bound b =
          pld_epsilon(add_remove({repeat(ExponentialEvent{eps}, k)}), Delta(1e-6), 1e-3);
      EXPECT_LE(b.lower, b.upper);
      EXPECT_GT(b.lower, 0.3 * b.upper);
      EXPECT_LE(b.upper, upper(add_remove({repeat(PureEvent{eps}, k)}), 1e-6) * 1.001);
    }
  }
}

TEST(PldAccountant, FineLatticesBehaveLikeContinuousNoise) {
  const double g = std::ldexp(1.0, -40);
  const Bound d =
      pld_epsilon(add_remove({repeat(DiscreteGaussianEvent{10, 1, g}, 100)}), Delta(1e-6), 1e-3);
  EXPECT_NEAR(d.upper, gaussian_epsilon_upper(1, Delta(1e-6)), 1e-9);
  EXPECT_NEAR(upper(add_remove({repeat(DiscreteGaussianEvent{10, 1, g, 1000}, 100)}), 1e-6),
              d.upper, 1e-9);
  const Bound l =
      pld_epsilon(add_remove({repeat(DiscreteLaplaceEvent{10, 1, g}, 100)}), Delta(1e-6), 1e-3);
  EXPECT_NEAR(l.upper, 4.692667416106394, 4.7e-3);
  EXPECT_LE(l.lower, 4.692668);
  EXPECT_GE(l.upper, 4.692667);
  const double coarse = upper(add_remove({repeat(DiscreteGaussianEvent{1, 1, 1, 8}, 100)}), 1e-6);
  EXPECT_GT(coarse, upper(add_remove({repeat(DiscreteGaussianEvent{1, 1, 1, 1}, 100)}), 1e-6));
}

TEST(PldAccountant, ParallelCostsItsWorstBranch) {
  const Event a = dpsgd(0.01, 1, 200), b = repeat(LaplaceEvent{10, 1}, 30);
  const double worst = std::max(upper(add_remove({a}), 1e-6), upper(add_remove({b}), 1e-6));
  EXPECT_NEAR(upper(add_remove({ParallelEvent{{a, b, a}}}), 1e-6), worst, 1e-12);
  const double alone = upper(add_remove({repeat(PureEvent{0.5}, 10)}), 1e-6);
  const double mixed =
      upper(add_remove({repeat(ParallelEvent{{PureEvent{0.5}, gaussian(4)}}, 10)}), 1e-6);
  EXPECT_GE(mixed, alone * (1 - 1e-6));
  EXPECT_LT(mixed, 2 * alone);
}

TEST(PldAccountant, LossesDrawnAtRandomAgreeWithTheBounds) {
  const double q = 0.05, sigma = 1.2, mu = 1 / sigma;
  const int steps = 200, draws = 40000;
  std::mt19937_64 engine(20240607);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  for (double epsilon : {0.5, 2.0}) {
    double sum = 0, squares = 0;
    for (int i = 0; i < draws; ++i) {
      double loss = 0;
      for (int t = 0; t < steps; ++t) {
        const double z = normal(engine) + (uniform(engine) < q ? mu : 0);
        loss += std::log1p(q * std::expm1(mu * (z - 0.5 * mu)));
      }
      const double x = loss > epsilon ? -std::expm1(epsilon - loss) : 0;
      sum += x;
      squares += x * x;
    }
    const double mean = sum / draws, error = std::sqrt((squares / draws - mean * mean) / draws);
    const Bound d = pld_delta(add_remove({dpsgd(q, sigma, steps)}), epsilon, 1e-3);
    EXPECT_GT(d.upper, mean - 5 * error);
    EXPECT_LT(d.lower, mean + 5 * error);
    const Bound wrong = pld_delta(add_remove({dpsgd(q, 1.1 * sigma, steps)}), epsilon, 1e-3);
    EXPECT_LT(wrong.upper, mean - 5 * error) << "a scale that is 10 % off must be noticed";
  }
}

TEST(PldAccountant, NeverNegativeNeverNanAtTheEdges) {
  EXPECT_GE(upper(add_remove({dpsgd(0.001, 100, 1)}), 1e-2), 0);
  EXPECT_GE(upper(add_remove({dpsgd(0.001, 100, 10)}), 1e-2), 0);
  EXPECT_EQ(upper(add_remove({}), 1e-6), 0);
  EXPECT_LE(upper(add_remove({dpsgd(1e-4, 10, 1000000)}), 1e-6), 0.0339);
  for (std::uint64_t t : {10000000ULL, 1000000000ULL}) {
    const Bound b = pld_epsilon(add_remove({dpsgd(0.001, 1, t)}), Delta(1e-5), 1e-3);
    EXPECT_TRUE(std::isfinite(b.upper));
    EXPECT_GE(b.upper, b.lower);
    EXPECT_GT(b.upper, 10);
  }
  EXPECT_THROW(upper(add_remove({repeat(ApproximateEvent{0.1, 1e-3}, 100)}), 1e-5),
               AccountingError);
  EXPECT_THROW(upper(add_remove({dpsgd(0.5, 1e-4, 1000)}), 1e-5), AccountingError);
}

TEST(PldAccountant, RefusesWhatItCannotExpressByName) {
  const auto message = [](const Spec& spec) -> std::string {
    try {
      pld_epsilon(spec, Delta(1e-5), 1e-3);
    } catch (const Unsupported& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(message(add_remove({ShuffledEvent{1000, share(PureEvent{1})}})).find("shuffled"),
            std::string::npos);
  EXPECT_NE(message(add_remove({PrivateSelectionEvent{SelectionDistribution::poisson, 1, 5,
                                                      share(PureEvent{1})}}))
                .find("private_selection"),
            std::string::npos);
  EXPECT_NE(message(replace_one({GaussianMixtureEvent{1, {1}, {1}}})).find("gaussian_mixture"),
            std::string::npos);
  EXPECT_THROW(pld_epsilon(add_remove({gaussian(1)}), Delta(1e-5), 0), InvalidArgument);
  EXPECT_THROW(pld_delta(add_remove({gaussian(1)}), -1, 1e-3), InvalidArgument);
}

// A search asks for the claim only; fine transforms settle the weaker direction on a coarser grid.
TEST(PldAccountant, TheClaimAloneIsTheClaimOfBothAndAboveTheLowerBound) {
  for (const double sigma : {0.8, 1.5, 4.0}) {
    for (const double tolerance : {1e-2, 1e-3, 1e-5}) {
      const Spec spec = add_remove(
          {repeat(SampledEvent{Scheme::poisson, 0.01, 0, 0, share(gaussian(sigma))}, 1000)});
      const Bound both = pld_epsilon(spec, Delta(1e-6), tolerance);
      const Bound claim = pld_epsilon(spec, Delta(1e-6), tolerance, Wanted::upper);
      EXPECT_EQ(claim.lower, 0);
      EXPECT_GE(claim.upper, both.lower) << sigma << " " << tolerance;
      EXPECT_LE(claim.upper, both.lower * (1 + 2 * tolerance)) << sigma << " " << tolerance;
      EXPECT_LE(both.upper, both.lower * (1 + 1.01 * tolerance));
    }
  }
}

}  // namespace sotto::pld_accountant_test
