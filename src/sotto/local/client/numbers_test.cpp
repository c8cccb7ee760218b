// Numbers: exact laws, unbiased means, the published variances and constants.
#include "sotto/local/client/numbers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "sotto/core/error.hpp"
#include "sotto/local/client/protocols.hpp"
#include "sotto/local/server/numbers.hpp"
#include "support/statistics.hpp"

namespace sotto::local {
namespace {

using Report = std::vector<std::uint8_t>;

Declaration declared(const std::string& protocol, double epsilon, OptionValues::Raw options = {}) {
  options.insert({"lower", {"-1"}});
  options.insert({"upper", {"1"}});
  return declare({.protocol = protocol, .epsilon = epsilon},
                 OptionValues(protocol_options(protocol_kind(protocol)), options));
}

TEST(Numbers, WorstRatioIsEpsilon) {
  for (const double epsilon : {0.3, 1.0, 4.0}) {
    for (const std::string protocol : {"one_bit_mean", "piecewise", "square_wave", "hybrid"}) {
      OptionValues::Raw few;
      if (protocol != "one_bit_mean") few = {{"positions", {"9"}}};
      const auto r = make_randomizer(declared(protocol, epsilon, few));
      long double worst = 1;
      for (std::uint64_t y = 0; y < std::uint64_t{1} << (8 * r->report_bytes()); ++y) {
        Report report(r->report_bytes());
        write_whole(report, y);
        if (protocol == "hybrid" && report[0] > 1) continue;
        long double least = 2, most = 0;
        for (const double x : {-1.0, -0.9, -0.75, 0.0, 0.3, 1.0, 7.0}) {
          const long double p = r->probability(x, report);
          least = std::min(least, p), most = std::max(most, p);
        }
        if (least > 0) worst = std::max(worst, most / least);
      }
      EXPECT_LE(r->epsilon(), epsilon);
      EXPECT_LE(static_cast<double>(std::log(worst)), r->epsilon() + 1e-12) << protocol;
      EXPECT_NEAR(static_cast<double>(std::log(worst)), epsilon, 1e-6) << protocol;
    }
    const auto laplace = make_randomizer(declared("laplace", epsilon));
    Report far(8);
    write_whole(far, 100'000);
    EXPECT_NEAR(static_cast<double>(
                    std::log(laplace->probability(1.0, far) / laplace->probability(-1.0, far))),
                laplace->epsilon(), 1e-9);
    EXPECT_LE(laplace->epsilon(), epsilon);
  }
}

TEST(Numbers, KnownAnswers) {
  const OneBit bit(1, Bounds(0, 1));
  EXPECT_NEAR(static_cast<double>(bit.probability(0.0, Report{1})), 0.2689414, 1e-7);
  EXPECT_NEAR(static_cast<double>(bit.probability(1.0, Report{1})), 0.7310586, 1e-7);
  // Square wave: p and q densities, from b.
  for (const auto& [epsilon, b, p, q] : {std::tuple{1.0, .2560829, 1.1363051, .4180233},
                                         std::tuple{2.0, .1293371, 2.5380104, .3434824}}) {
    constexpr std::uint64_t kFine = 1 << 16;
    const Window w(epsilon, Bounds(0, 1), kFine, square_wave_window(epsilon, kFine));
    EXPECT_NEAR(static_cast<double>(w.window()) / (2 * kFine), b, 1e-5);
    const double outside = w.blind() / static_cast<double>(w.places()) * kFine;
    EXPECT_NEAR(outside, q, 1e-4);
    EXPECT_NEAR(outside + (1 - w.blind()) / static_cast<double>(w.window()) * kFine, p, 1e-4);
  }
}

// The variance of one report's estimate of x in [−1, 1], measured over `draws` reports.
double measured_variance(const Declaration& d, double x, int draws, double& mean) {
  const auto r = make_randomizer(d);
  Rng rng = Rng::insecure_seed(9);
  Report report(r->report_bytes());
  const auto aggregator = make_number_aggregator(d);
  for (int i = 0; i < draws; ++i) {
    r->answer(x, nullptr, rng, report);
    EXPECT_TRUE(aggregator->accepts(report));
    aggregator->add(report);
  }
  const auto means = dynamic_cast<MeanAggregator&>(*aggregator).means();
  mean = means[0].value;
  return means[0].standard_error * means[0].standard_error * draws;
}

// Kurtosis of these reports is below 6, so the sample variance of 200 000 scatters by at most
// √(5/200000) = 0.5 %: 3 % is a false alarm with probability below 1e-6.
TEST(Numbers, MeansAreUnbiasedWithThePublishedVariance) {
  constexpr int kDraws = 200'000;
  const auto duchi = [](double e, double x) { return std::pow(1 / std::tanh(e / 2), 2) - x * x; };
  const auto piecewise = [](double e, double x) {
    const double s = std::exp(e / 2);
    return x * x / (s - 1) + (s + 3) / (3 * (s - 1) * (s - 1));
  };
  for (const double e : {1.0, 4.0}) {
    const double a = 1 - std::exp(-e / 2);
    for (const double x : {0.0, 0.7, 1.0}) {
      const std::map<std::string, double> theory = {
          {"one_bit_mean", duchi(e, x)},
          {"piecewise", piecewise(e, x)},
          {"hybrid", a * piecewise(e, x) + (1 - a) * duchi(e, x)},
          {"laplace", 8 / (e * e)}};
      for (const auto& [protocol, variance] : theory) {
        double mean = 0;
        const double measured = measured_variance(declared(protocol, e), x, kDraws, mean);
        if (variance > 1e-9) {
          EXPECT_NEAR(measured / variance, 1, protocol == "laplace" ? 0.04 : 0.03)
              << protocol << ' ' << e << ' ' << x;
        }
        EXPECT_NEAR(mean, x, 6 * std::sqrt(variance / kDraws) + 1e-9) << protocol;
      }
    }
  }
  // The published worst cases.
  EXPECT_NEAR(duchi(1, 0), 4.6826944, 1e-6);
  EXPECT_NEAR(piecewise(1, 1), 5.2235975, 1e-6);
  EXPECT_NEAR(piecewise(1, 0), 3.6821034, 1e-6);
}

TEST(Numbers, CoordinatesOfVectors) {
  const Declaration d = declared("coordinates", 6, {{"dimensions", {"5"}}});
  EXPECT_EQ(d.parameter("sampled"), 2);
  const auto r = make_randomizer(d);
  EXPECT_LE(r->epsilon(), 6);
  const auto aggregator = make_number_aggregator(d);
  Rng rng = Rng::insecure_seed(10);
  Report report(r->report_bytes());
  const std::vector<double> x = {-1, -0.5, 0, 0.5, 2};  // the last is clamped to 1
  for (int i = 0; i < 50'000; ++i) {
    r->answer(std::span<const double>(x), nullptr, rng, report);
    ASSERT_TRUE(aggregator->accepts(report));
    aggregator->add(report);
  }
  const auto means = dynamic_cast<MeanAggregator&>(*aggregator).means();
  ASSERT_EQ(means.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i)
    EXPECT_NEAR(means[i].value, std::min(x[i], 1.0), 6 * means[i].standard_error + 1e-9);
  const std::vector<double> nan = {0, 0, 0, 0, NAN};
  for (int i = 0; i < 20; ++i)  // whether it is among the coordinates sent or not
    EXPECT_THROW(r->answer(std::span<const double>(nan), nullptr, rng, report), InvalidArgument);
}

TEST(Numbers, SquareWaveFindsTheDistribution) {
  const Declaration d = declared("square_wave", 2, {{"positions", {"64"}}});
  const auto r = make_randomizer(d);
  const auto aggregator = make_number_aggregator(d);
  Rng rng = Rng::insecure_seed(11);
  Report report(r->report_bytes());
  // Half of the numbers near −0.5, the others spread over [0, 1].
  for (int i = 0; i < 100'000; ++i) {
    const double u = static_cast<double>(rng.next_u64() >> 11) * 0x1p-53;
    r->answer(i % 2 == 0 ? -0.55 + 0.1 * u : u, nullptr, rng, report);
    aggregator->add(report);
  }
  for (const bool smooth : {true, false}) {
    const auto shares = dynamic_cast<WaveAggregator&>(*aggregator).distribution(smooth);
    EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1, 1e-9);
    EXPECT_NEAR(std::accumulate(shares.begin(), shares.begin() + 32, 0.0), 0.5, 0.06);
    EXPECT_NEAR(std::accumulate(shares.begin() + 10, shares.begin() + 22, 0.0), 0.5, 0.06);
    EXPECT_NEAR(std::accumulate(shares.begin() + 48, shares.end(), 0.0), 0.25, 0.04);
  }
}

}  // namespace
}  // namespace sotto::local
