// Estimates: variances by the published formulas, and as measured; unbiased; consistent on demand.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "sotto/core/error.hpp"
#include "sotto/local/client/memory.hpp"
#include "sotto/local/client/protocols.hpp"
#include "sotto/local/server/aggregator.hpp"
#include "sotto/local/server/central.hpp"
#include "sotto/local/server/choice.hpp"
#include "sotto/local/server/consistency.hpp"

namespace sotto::local::estimates_test {

Declaration declared(const std::string& protocol, double epsilon, std::uint64_t k,
                     const OptionValues::Raw& options = {}) {
  return declare({.protocol = protocol, .epsilon = epsilon, .domain = k},
                 OptionValues(protocol_options(protocol_kind(protocol)), options));
}

TEST(Variance, IsThePublishedOne) {
  const double ln3 = std::log(3.0);
  const auto at_zero = [](const Declaration& d) {
    return make_frequency_aggregator(d)->unit_variance(0);
  };
  EXPECT_NEAR(at_zero(declared("grr", ln3, 4)), 1.25, 1e-9);
  EXPECT_NEAR(at_zero(declared("grr", ln3, 16)), 4.25, 1e-9);
  EXPECT_NEAR(at_zero(declared("sue", ln3, 16)), 3.2320508, 1e-7);
  EXPECT_NEAR(at_zero(declared("oue", ln3, 16)), 3, 1e-9);
  EXPECT_NEAR(at_zero(declared("olh", ln3, 16)), 3, 1e-9);
  EXPECT_NEAR(at_zero(declared("blh", ln3, 16)), 4, 1e-9);
  EXPECT_NEAR(at_zero(declared("hadamard", ln3, 16, {{"blocks", {"1"}}})), 4, 1e-9);
  EXPECT_NEAR(at_zero(declared("subset", ln3, 16)), 2.515625, 1e-9);
  EXPECT_NEAR(at_zero(declared("she", ln3, 16)), 6.6282836, 1e-5);
  EXPECT_NEAR(at_zero(declared("grr", 1, 4)), 1.5980674, 1e-7);
  EXPECT_NEAR(at_zero(declared("sue", 1, 4)), 3.9176981, 1e-7);
  EXPECT_NEAR(at_zero(declared("oue", 1, 4)), 3.6826944, 1e-7);
  EXPECT_NEAR(at_zero(declared("olh", 1, 4)), 3.6916546, 1e-7);
  EXPECT_NEAR(at_zero(declared("subset", 1, 16)), 3.1107157, 1e-7);
}

// 20 reports an estimate, 16 categories, 8000 estimates of each: the sample variance of 128 000
// values scatters by 0.4 % (a little more where categories are correlated), so that 3 % is a false
// alarm with probability below 1e-6 even if it scattered by 0.6 %.
TEST(Variance, MeasuredIsWithinThreePercentOfTheory) {
  constexpr std::uint64_t k = 16, n = 20;
  constexpr int kRounds = 8000;
  for (const ProtocolKind& kind : protocol_kinds()) {
    if (kind.input != Input::category || !kind.one_time || !kind.listed) continue;
    // With blocks the variance depends on the shares of whole blocks: see the test below.
    const Declaration d = kind.name == "hadamard" ? declared(kind.name, 1, k, {{"blocks", {"1"}}})
                                                  : declared(kind.name, 1, k);
    const auto r = make_randomizer(d);
    std::vector<std::uint8_t> report(r->report_bytes());
    Rng rng = Rng::insecure_seed(11);
    // Half of the clients have category 0, the others 1 … 4 alike.
    const std::vector<std::uint64_t> population = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                                   1, 2, 3, 4, 1, 2, 3, 4, 1, 2};
    std::vector<double> truth(k, 0);
    for (const std::uint64_t v : population) truth[v] += 1.0 / n;
    double squares = 0, theory = 0;
    std::vector<double> sums(k, 0);
    for (int round = 0; round < kRounds; ++round) {
      const auto aggregator = make_frequency_aggregator(d);
      for (const std::uint64_t v : population) {
        r->answer(v, nullptr, rng, report);
        ASSERT_TRUE(aggregator->accepts(report));
        aggregator->add(report);
      }
      const Frequencies f = aggregator->frequencies();
      for (std::uint64_t v = 0; v < k; ++v) {
        squares += (f.share[v] - truth[v]) * (f.share[v] - truth[v]);
        sums[v] += f.share[v];
        if (round == 0) theory += aggregator->unit_variance(truth[v]) / n;
      }
    }
    EXPECT_NEAR(squares / kRounds / theory, 1, 0.03) << kind.name;
    for (std::uint64_t v = 0; v < k; ++v) {
      // Six standard errors; fast_olh besides has the error of its few functions.
      const double allowed =
          6 * std::sqrt(theory / k / kRounds) + (kind.name == "fast_olh" ? 0.05 : 0);
      EXPECT_NEAR(sums[v] / kRounds, truth[v], allowed) << kind.name << ' ' << v;
    }
  }
}

// The same for clients that report again, each with a secret of its own: one report each.
TEST(Variance, OfLongitudinalProtocolsIsWithinThreePercentOfTheory) {
  constexpr std::uint64_t k = 16, n = 20;
  constexpr int kRounds = 6000;
  const std::map<std::string, OptionValues::Raw> protocols = {
      {"l_sue", {{"permanent_epsilon", {"2"}}}},
      {"l_osue", {{"permanent_epsilon", {"2"}}}},
      {"loloha", {{"permanent_epsilon", {"2"}}, {"buckets", {"3"}}}},
      {"dbitflip", {{"bits", {"16"}}}}};
  for (const auto& [protocol, options] : protocols) {
    const Declaration d = declared(protocol, 1, k, options);
    const auto r = make_randomizer(d);
    std::vector<std::uint8_t> report(r->report_bytes());
    Rng rng = Rng::insecure_seed(13);
    double squares = 0, theory = 0;
    for (int round = 0; round < kRounds; ++round) {
      const auto aggregator = make_frequency_aggregator(d);
      for (std::uint64_t i = 0; i < n; ++i) {
        KeyedMemory memory(std::to_string(round) + " " + std::to_string(i));
        r->answer(i % 2, &memory, rng, report);  // half of them have 0, the others 1
        ASSERT_TRUE(aggregator->accepts(report));
        aggregator->add(report);
      }
      const Frequencies f = aggregator->frequencies();
      for (std::uint64_t v = 0; v < k; ++v) {
        const double truth = v < 2 ? 0.5 : 0;
        squares += (f.share[v] - truth) * (f.share[v] - truth);
        if (round > 0) continue;
        // Where everybody is asked about every category, nobody is a sample.
        const double sampled = protocol == "dbitflip" ? truth * (1 - truth) : 0;
        theory += (aggregator->unit_variance(truth) - sampled) / n;
      }
    }
    EXPECT_NEAR(squares / kRounds / theory, 1, 0.03) << protocol;
  }
}

// All shares alike: the formula for one category is that of all. 24 000 · 16 values.
TEST(Variance, OfHadamardResponseInBlocksIsWithinThreePercentOfTheory) {
  constexpr std::uint64_t k = 16;
  constexpr int kRounds = 8000;
  const Declaration d = declared("hadamard", 2.5, k, {{"blocks", {"8"}}});
  const auto r = make_randomizer(d);
  std::vector<std::uint8_t> report(r->report_bytes());
  Rng rng = Rng::insecure_seed(12);
  double squares = 0;
  for (int round = 0; round < kRounds; ++round) {
    const auto aggregator = make_frequency_aggregator(d);
    for (std::uint64_t v = 0; v < k; ++v) {
      r->answer(v, nullptr, rng, report);
      aggregator->add(report);
    }
    for (const double s : aggregator->frequencies().share) squares += (s - 1.0 / k) * (s - 1.0 / k);
  }
  const double theory = make_frequency_aggregator(d)->unit_variance(1.0 / k);
  EXPECT_NEAR(squares / kRounds / theory, 1, 0.03);
}

// As many blocks as published, or half as many: whichever is better, and no other number is.
TEST(Variance, OfHadamardResponseIsTheLeastOfAllNumbersOfBlocks) {
  for (const std::uint64_t k : {16u, 100u, 10'000u}) {
    for (const double e : {0.3, 0.7, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0}) {
      const double share = 1 / static_cast<double>(k);
      const auto variance = [&](const Declaration& d) {
        return make_frequency_aggregator(d)->unit_variance(share);
      };
      const double ours = variance(declared("hadamard", e, k));
      for (std::uint64_t blocks = 1; blocks <= 2 * k && blocks <= 1024; blocks *= 2)
        EXPECT_LE(
            ours,
            variance(declared("hadamard", e, k, {{"blocks", {std::to_string(blocks)}}})) * 1.001)
            << k << ' ' << e << ' ' << blocks;
    }
  }
}

TEST(Variance, NobodyIsBetterThanTheBestOfTheList) {
  for (const std::uint64_t k : {100u, 10'000u}) {
    for (const double e : {0.5, 1.0, 2.0, 4.0}) {
      const double x = std::exp(e), best = predicted_errors(e, k, 1000, 0)[0].unit_variance;
      EXPECT_LE(best, 4 * x / ((x - 1) * (x - 1)) * (1 + 1e-9));
      EXPECT_LE(best, (static_cast<double>(k) - 2 + x) / ((x - 1) * (x - 1)) * (1 + 1e-9));
      EXPECT_LE(best, (x + 1) * (x + 1) / ((x - 1) * (x - 1)) * (1 + 1e-9));
    }
  }
  // Subsets, which no protocol beats on the average category, have the best of all sizes.
  for (const double k : {100.0, 10'000.0}) {
    for (const double e : {0.1, 0.5, 1.0, 2.0, 4.0, 8.0}) {
      double best = INFINITY;
      for (double size = 1; size < k; ++size) {
        const double p = size * std::exp(e) / (size * std::exp(e) + k - size);
        const double q = (p * (size - 1) + (1 - p) * size) / (k - 1);
        best = std::min(best, support_variance(p, q, 1 / k));
      }
      const auto ours =
          make_frequency_aggregator(declared("subset", e, static_cast<std::uint64_t>(k)));
      EXPECT_NEAR(ours->unit_variance(1 / k) / best, 1, 1e-9) << k << ' ' << e;
      EXPECT_LE(predicted_errors(e, static_cast<std::uint64_t>(k), 1000, 1 / k)[0].unit_variance,
                best * (1 + 1e-9));
    }
  }
  EXPECT_EQ(best_protocol(1, 3), "grr");
  EXPECT_EQ(best_protocol(1, 100), "subset");
  // Few hash functions are good enough for few reports; their error does not fall with more.
  EXPECT_EQ(best_protocol(1, 1'000'000, 100'000), "fast_olh");
  EXPECT_EQ(best_protocol(1, 1'000'000, 10'000'000), "hadamard");
}

TEST(Consistency, SimplexIsTheNearestVectorOfShares) {
  const std::vector<double> shares = {0.7, 0.5, -0.1, 0.05};
  const std::vector<double> made = onto_simplex(shares);
  EXPECT_NEAR(std::accumulate(made.begin(), made.end(), 0.0), 1, 1e-15);
  EXPECT_NEAR(made[0], 0.6, 1e-15);
  EXPECT_NEAR(made[1], 0.4, 1e-15);
  EXPECT_EQ(made[2], 0);
  EXPECT_EQ(made[3], 0);
  EXPECT_EQ(onto_simplex({0.25, 0.75}), (std::vector<double>{0.25, 0.75}));
  EXPECT_NEAR(onto_simplex({-3, -3})[0], 0.5, 1e-15);
}

TEST(Consistency, TheLikeliestSharesAreTheUnbiasedOnesWhereThoseAreShares) {
  const double p = 0.5, q = 1.0 / 6;
  const std::vector<double> truth = {0.4, 0.3, 0.2, 0.1};
  Support support{p, q, {}};
  for (const double f : truth) support.counts.push_back(1e6 * (q + f * (p - q)));
  const std::vector<double> made = likeliest_shares(support);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(made[i], truth[i], 1e-5);
  // A category that would be negative gets nothing, and the likelihood is not below that of others.
  support.counts = {600, 300, 50, 50};
  const std::vector<double> best = likeliest_shares(support);
  const auto log_likelihood = [&](const std::vector<double>& f) {
    double l = 0;
    for (std::size_t i = 0; i < 4; ++i) l += support.counts[i] * std::log(q + f[i] * (p - q));
    return l;
  };
  EXPECT_NEAR(best[2], 0, 1e-6);
  for (const std::vector<double>& other :
       {onto_simplex({0.7, 0.3, 0, 0}), onto_simplex({0.9, 0.1, 0, 0}),
        onto_simplex({0.8, 0.19, 0.01, 0}), onto_simplex({0.75, 0.25, 0, 0})})
    EXPECT_GE(log_likelihood(best), log_likelihood(other) - 1e-6);
}

TEST(Central, IsTheAmplifiedGuarantee) {
  const Bound b = central_guarantee(declared("oue", 1, 16), 10'000, Delta(1e-6));
  EXPECT_GT(b.upper, 0.040);
  EXPECT_LT(b.upper, 0.046);
  EXPECT_NEAR(central_guarantee(declared("oue", 1, 16), 1, Delta(1e-9)).upper, 1, 1e-6);
  // Randomized response is known from both sides, and the more categories, the better hidden.
  double last = b.upper;
  for (std::uint64_t k : {3, 16, 200}) {
    const Bound grr = central_guarantee(declared("grr", 1, k), 10'000, Delta(1e-6));
    EXPECT_LT(grr.upper, last);
    EXPECT_GT(grr.lower, 0.95 * grr.upper) << k;
    last = grr.upper;
  }
}

TEST(Central, LowerBoundsAreThoseOfTheProtocolItself) {
  for (const char* name : {"oue", "sue", "the", "subset", "blh", "olh", "hadamard"}) {
    const Declaration d = std::string(name) == "hadamard"
                              ? declared(name, 1, 16, {{"blocks", {"1"}}})
                              : declared(name, 1, 16);
    const Bound b = central_guarantee(d, 10'000, Delta(1e-6));
    EXPECT_GT(b.lower, 0.2 * b.upper) << name;
    EXPECT_LE(b.lower, b.upper) << name;
    // A client that is alone has its local guarantee, of which a question tells a part.
    EXPECT_GT(central_guarantee(d, 1, Delta(1e-6)).lower, 0.3) << name;
  }
  // Seeds that are shared make single pairs meet more or less often: nothing is said.
  EXPECT_EQ(central_guarantee(declared("fast_olh", 1, 16), 10'000, Delta(1e-6)).lower, 0);
}

}  // namespace sotto::local::estimates_test
