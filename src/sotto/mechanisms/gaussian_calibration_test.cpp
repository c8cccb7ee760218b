#include "sotto/mechanisms/gaussian_calibration.hpp"

#include <gtest/gtest.h>

#include <boost/math/special_functions/erf.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>

#include "sotto/core/numeric/gaussian_dp.hpp"

namespace sotto::gaussian_calibration_test {

using Big = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<120>>;

// ln δ straight from Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ), with 120 digits against the cancellation.
// The oracle.
double oracle(double mu, double epsilon) {
  const Big m = mu, e = epsilon, root = sqrt(Big(2));
  auto phi = [&](const Big& x) { return boost::math::erfc(-x / root) / 2; };
  return static_cast<double>(log(phi(m / 2 - e / m) - exp(e) * phi(-m / 2 - e / m)));
}

TEST(GaussianDelta, AgreesWithHighPrecisionToOneInTenToTheEleven) {
  for (double epsilon : {1e-6, 1e-3, 0.1, 1.0, 10.0, 100.0, 500.0}) {
    for (double mu : {1e-3, 0.01, 0.1, 1.0, 3.0, 10.0, 40.0}) {
      const double expected = oracle(mu, epsilon);
      if (!(expected > -690)) continue;  // below 1e-300
      EXPECT_NEAR(gaussian_log_delta(mu, epsilon), expected, 1e-11)
          << "mu " << mu << " epsilon " << epsilon;
    }
  }
}

TEST(AnalyticGaussian, MeetsTheKnownAnswers) {
  // Fifty-digit reference values for sensitivity 1.
  const struct {
    double epsilon, delta, sigma;
  } known[] = {{0.5, 1e-5, 7.031826675582491},
               {2.0, 1e-6, 2.2304762711864172},
               {10.0, 1e-10, 0.6830439672274812},
               {50.0, 1e-6, 0.15659287039176195}};
  for (const auto& k : known) {
    const double sigma = gaussian_sigma(Epsilon(k.epsilon), Delta(k.delta));
    EXPECT_GE(sigma, k.sigma);
    EXPECT_NEAR(sigma / k.sigma, 1, 1e-11);
  }
}

TEST(AnalyticGaussian, ErrsUpwardsAndByLittleEverywhere) {
  for (double epsilon : {1e-4, 0.01, 0.5, 1.0, 7.0, 60.0, 300.0}) {
    for (double delta : {1e-60, 1e-30, 1e-12, 1e-5, 0.01, 0.4}) {
      const double sigma = gaussian_sigma(Epsilon(epsilon), Delta(delta));
      const double log_delta = std::log(delta);
      EXPECT_LE(oracle(1 / sigma, epsilon), log_delta) << epsilon << " " << delta;
      EXPECT_GT(oracle(1 / (sigma * (1 - 1e-9)), epsilon), log_delta) << epsilon << " " << delta;
    }
  }
}

TEST(ClassicGaussian, IsTheTextbookFormulaAndLooser) {
  const double classic = classic_gaussian_sigma(Epsilon(0.5), Delta(1e-5));
  EXPECT_NEAR(classic, std::sqrt(2 * std::log(1.25e5)) / 0.5, 1e-12);
  EXPECT_GT(classic, gaussian_sigma(Epsilon(0.5), Delta(1e-5)));
}

TEST(ClassicGaussian, RefusesEpsilonOfOneAndMore) {
  EXPECT_THROW(classic_gaussian_sigma(Epsilon(1.0), Delta(1e-5)), InvalidArgument);
  EXPECT_THROW(classic_gaussian_sigma(Epsilon(5.0), Delta(1e-5)), InvalidArgument);
}

}  // namespace sotto::gaussian_calibration_test
