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

namespace sotto::local::numbers_test {

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
          EXPECT_NEAR(measured / variance, 1, 0.03) << protocol << ' ' << e << ' ' << x;
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

// Few reports that happen to agree do not make a mean that is known exactly.
TEST(Numbers, AgreementOfFewReportsIsNoCertainty) {
  for (const std::string protocol : {"one_bit_mean", "piecewise"}) {
    const Declaration d = declared(protocol, 1);
    const auto aggregator = make_number_aggregator(d);
    const Report report(make_randomizer(d)->report_bytes(), 1);
    const auto error = [&] {
      aggregator->add(report);
      return dynamic_cast<MeanAggregator&>(*aggregator).means()[0].standard_error;
    };
    EXPECT_TRUE(std::isinf(error())) << protocol;
    if (protocol == "piecewise") continue;  // two are hardly ever at one of its places
    const double q = 1 / (std::exp(1.0) + 1);
    EXPECT_NEAR(error(), 2 * std::sqrt(q * (1 - q) / 2) / (1 - 2 * q), 1e-9);
  }
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

// Half of the numbers near −0.5, the others spread over [0, 1].
double number_of(int i, double u) { return i % 2 == 0 ? -0.55 + 0.1 * u : u; }

struct Found {
  double below_zero, near_half, top_quarter;
  explicit Found(const std::vector<double>& shares) {
    const auto sum = [&](int from, int to) {
      return std::accumulate(shares.begin() + from, shares.begin() + to, 0.0);
    };
    EXPECT_NEAR(sum(0, 64), 1, 1e-9);
    below_zero = sum(0, 32), near_half = sum(10, 22), top_quarter = sum(48, 64);
  }
};

TEST(Numbers, SquareWaveFindsTheDistribution) {
  const Declaration d = declared("square_wave", 2, {{"positions", {"64"}}});
  const auto r = make_randomizer(d);
  const auto aggregator = make_number_aggregator(d);
  auto& wave = dynamic_cast<WaveAggregator&>(*aggregator);
  Rng rng = Rng::insecure_seed(11);
  Report report(r->report_bytes());
  double sum = 0;
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = number_of(i, static_cast<double>(rng.next_u64() >> 11) * 0x1p-53);
    sum += x;
    r->answer(x, nullptr, rng, report);
    aggregator->add(report);
  }
  // Without bias: six standard errors are a false alarm with probability 2e-9.
  const EstimatedMean mean = wave.mean();
  EXPECT_NEAR(mean.value, sum / kDraws, 6 * mean.standard_error);
  EXPECT_LT(mean.standard_error, 0.01);
  for (const bool smooth : {true, false}) {
    const Found found(wave.distribution(smooth));
    EXPECT_NEAR(found.below_zero, 0.5, 0.03) << smooth;
    EXPECT_NEAR(found.near_half, 0.5, 0.03) << smooth;
    EXPECT_NEAR(found.top_quarter, 0.25, 0.02) << smooth;
  }
}

// As many reports of each place as are expected: what is off is bias, and none is left without
// smoothing. Smoothed, the reports decide how much is; with fewer of them it is more.
TEST(Numbers, SquareWaveIsBiasedBySmoothingOnly) {
  const Declaration d = declared("square_wave", 2, {{"positions", {"64"}}});
  const auto r = make_randomizer(d);
  double before = 1;
  for (const double reports : {1e4, 1e6}) {
    const auto aggregator = make_number_aggregator(d);
    auto& wave = dynamic_cast<WaveAggregator&>(*aggregator);
    constexpr int kNumbers = 400;
    std::vector<double> expected;
    Report report(r->report_bytes());
    double mean = 0;
    for (std::uint64_t y = 0;; ++y) {
      write_whole(report, y);
      if (!aggregator->accepts(report)) break;
      double p = 0;
      for (int i = 0; i < kNumbers; ++i)
        p += static_cast<double>(r->probability(number_of(i, (i + 0.5) / kNumbers), report));
      for (double n = std::round(p / kNumbers * reports); n > 0; --n) aggregator->add(report);
    }
    for (int i = 0; i < kNumbers; ++i) mean += number_of(i, (i + 0.5) / kNumbers) / kNumbers;
    EXPECT_NEAR(wave.mean().value, mean, reports > 1e5 ? 1e-3 : 1e-2);
    const Found plain(wave.distribution(false)), smooth(wave.distribution(true));
    EXPECT_NEAR(plain.near_half, 0.5, 0.02);
    const double off = std::abs(smooth.near_half - 0.5);
    EXPECT_LT(off, before);
    before = off;
  }
  EXPECT_LT(before, 0.02);
}

}  // namespace sotto::local::numbers_test
