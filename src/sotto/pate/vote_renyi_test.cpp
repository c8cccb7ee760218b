#include "sotto/pate/vote_renyi.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sotto/core/error.hpp"

namespace sotto::pate::vote_renyi_test {

using Counts = std::vector<std::int64_t>;

double digits(double value) { return 5e-8 * std::abs(value); }  // the printed ones

// Known answers of the reference implementation of [PSMRTE18], continuous noise.
TEST(VoteRenyi, GnmaxHasThePublishedValues) {
  const double clear = log_q_gaussian(Counts{200, 30, 20}, 40);
  EXPECT_NEAR(clear, -6.1858394, digits(6.2));
  EXPECT_NEAR(gnmax_renyi(clear, 40, 2), 5.4506459e-4, digits(5.4506459e-4));
  EXPECT_NEAR(gnmax_renyi(clear, 40, 8), 6.8103556e-4, digits(6.8103556e-4));
  EXPECT_NEAR(gnmax_renyi(clear, 40, 20), 1.3113537e-3, digits(1.3113537e-3));
  const double all = log_q_gaussian(Counts{250, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 40);
  EXPECT_NEAR(all, -10.0192283, digits(10));
  EXPECT_NEAR(gnmax_renyi(all, 40, 2), 1.5273573e-5, digits(1.5273573e-5));
  EXPECT_NEAR(gnmax_renyi(all, 40, 8), 2.0589133e-5, digits(2.0589133e-5));
  EXPECT_NEAR(gnmax_renyi(all, 40, 20), 5.3213178e-5, digits(5.3213178e-5));
}

TEST(VoteRenyi, UndecidedVotesCostWhatAnyVotesCost) {
  const double open = log_q_gaussian(Counts{130, 120, 0, 0, 0, 0, 0, 0, 0, 0}, 40);
  EXPECT_NEAR(open, -.6615187, 5e-8);
  for (const double order : {1.5, 2., 8., 20.})
    EXPECT_NEAR(gnmax_renyi(open, 40, order), order / 1600, 1e-15);
}

TEST(VoteRenyi, LnmaxHasThePublishedValues) {
  const double q = log_q_laplace(Counts{200, 30, 20}, 20);
  EXPECT_NEAR(q, -7.0430237, digits(7));
  EXPECT_NEAR(lnmax_renyi(q, 20, 2), 1.8372126e-4, digits(1.8372126e-4));
  EXPECT_NEAR(lnmax_renyi(q, 20, 8), 2.1823103e-4, digits(2.1823103e-4));
  EXPECT_NEAR(lnmax_renyi(q, 20, 20), 3.5216450e-4, digits(3.5216450e-4));
}

TEST(VoteRenyi, OutsideTheRegionsOfTheTheoremsTheIndependentBoundIsGiven) {
  EXPECT_FALSE(gnmax_bound_holds(std::log(.9), 40, 2));
  EXPECT_FALSE(gnmax_bound_holds(0, 40, 2));
  EXPECT_FALSE(gnmax_bound_holds(std::log(.3), 2, 20));  // order ≥ mu1
  EXPECT_TRUE(gnmax_bound_holds(-6, 40, 20));
  EXPECT_NEAR(gnmax_renyi(0, 40, 3), 3. / 1600, 1e-15);
  EXPECT_NEAR(gnmax_renyi(-1e-3, 5, 30), 30. / 25, 1e-14);
  // Just above q = 1/(e^ε0 + 1) and with q = 1.
  const double e0 = .1;
  EXPECT_NEAR(lnmax_renyi(-std::log1p(std::exp(e0)) + 1e-9, 20, 2), e0 * e0, 1e-14);
  EXPECT_NEAR(lnmax_renyi(0, 20, 100), e0, 1e-14);
  EXPECT_EQ(gnmax_renyi(-INFINITY, 40, 8), 0);
  EXPECT_THROW(gnmax_renyi(-6, 40, 1), InvalidArgument);
  EXPECT_THROW(gnmax_renyi(-6, 40, INFINITY), InvalidArgument);
}

TEST(VoteRenyi, TheCrossingIsThePublishedOne) {
  EXPECT_NEAR(gnmax_log_q0(40, 8), -3.8816545, 1e-6);
}

TEST(VoteRenyi, ThresholdsCountTheLessLikelyAnswer) {
  // ln P[220 + N(0, 150²) ≥ 200], the published value.
  const double probability = std::log(.5 * std::erfc((200. - 220) / 150 / std::sqrt(2.)));
  EXPECT_NEAR(probability, -.5923338, digits(.6));
  EXPECT_NEAR(threshold_renyi(probability, 150, 10), 10 / (2 * 150. * 150), 1e-12);
  EXPECT_EQ(threshold_renyi(-1e-30, 150, 4), threshold_renyi(std::log(1e-30), 150, 4));
  EXPECT_EQ(threshold_renyi(0, 150, 4), 0);
}

TEST(VoteRenyi, ConversionsAreThatOfThePaperAndATighterOne) {
  // min over orders of alpha/σ² per query: Q/σ² + 2√(Q ln(1/δ))/σ.
  const auto least = [](double queries, Conversion conversion) {
    double best = 1e9;
    for (double order = 1.01; order < 200; order += .001)
      best = std::min(best, epsilon_of_renyi(queries * order / 1600, order, 1e-5, conversion));
    return best;
  };
  EXPECT_NEAR(least(1000, Conversion::paper), 5.9899151, 1e-6);
  EXPECT_NEAR(least(100, Conversion::paper), 1.7590351, 1e-6);
  EXPECT_LT(least(100, Conversion::cks20), 1.6);
}

// The lattice's law against the sums that define it.
TEST(VoteRenyi, TailsOnALatticeBoundTheExactOnes) {
  for (const double scale : {.7, 3.}) {
    const double step = .25;
    std::vector<double> gauss, laplace;
    double gauss_sum = 0, laplace_sum = 0;
    const int reach = 400;
    for (int i = -reach; i <= reach; ++i) {
      const double z = i * step;
      gauss.push_back(std::exp(-z * z / (2 * scale * scale)));
      laplace.push_back(std::exp(-std::abs(z) / scale));
      gauss_sum += gauss.back(), laplace_sum += laplace.back();
    }
    for (const int gap : {0, 1, 4, 9}) {
      double gauss_tail = 0, laplace_tail = 0;
      for (int i = 0; i <= 2 * reach; ++i)
        for (int j = 0; j <= i - gap; ++j) {
          gauss_tail += gauss[i] * gauss[j];
          laplace_tail += laplace[i] * laplace[j];
        }
      EXPECT_LE(std::log(gauss_tail / gauss_sum / gauss_sum),
                log_tail_gaussian(gap * step, scale, step) + 1e-12);
      EXPECT_NEAR(std::log(laplace_tail / laplace_sum / laplace_sum),
                  log_tail_laplace(gap * step, scale, step), 1e-9);
    }
  }
}

}  // namespace sotto::pate::vote_renyi_test
