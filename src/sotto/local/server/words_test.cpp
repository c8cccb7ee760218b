// Words: RAPPOR as published, its files and its decoding; sketches; shuffling.
#include "sotto/local/server/words.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/local/client/memory.hpp"
#include "sotto/local/client/protocols.hpp"
#include "sotto/local/client/sketch.hpp"
#include "sotto/local/server/rappor_files.hpp"
#include "sotto/local/server/shuffler.hpp"
#include "support/statistics.hpp"

namespace sotto::local::words_test {

using Report = std::vector<std::uint8_t>;

Declaration declared(const std::string& protocol, double epsilon,
                     const OptionValues::Raw& options = {}) {
  return declare({.protocol = protocol, .epsilon = epsilon},
                 OptionValues(protocol_options(protocol_kind(protocol)), options));
}

TEST(Rappor, EncodesAsPublished) {
  const RapporParameters r{.bits = 16, .hashes = 2, .cohorts = 128, .f = 0.5, .p = 0.5, .q = 0.75};
  EXPECT_EQ(bloom_bits("abc", 0, r), 8256u);
  const Rappor rappor(r);
  Rng rng = Rng::insecure_seed(1);
  KeyedMemory secret("secret"), client("client-secret");
  EXPECT_EQ(rappor.permanent_bits(8256, secret, rng), 57576u);
  EXPECT_EQ(rappor.cohort(client, rng), 3u);
  EXPECT_NEAR(static_cast<double>(rappor.one_given_zero()), 0.5625, 1e-15);
  EXPECT_NEAR(static_cast<double>(rappor.one_given_one()), 0.6875, 1e-15);
  EXPECT_NEAR(rappor.epsilon(), 1.0742859, 1e-7);
  EXPECT_NEAR(rappor.epsilon_permanent(), 4.3944492, 1e-7);
}

// Over fresh secrets, a report's bits follow the law; one that never writes 0 does not.
TEST(Rappor, BitsFollowTheLaw) {
  const RapporParameters r{.bits = 8, .hashes = 1, .cohorts = 1, .f = 0.5, .p = 0.25, .q = 0.75};
  const Rappor rappor(r);
  Rng rng = Rng::insecure_seed(2);
  Report report(rappor.report_bytes());
  const std::uint32_t bloom = bloom_bits("v", 0, r);
  constexpr std::uint64_t kClients = 50'000;
  std::vector<std::uint64_t> ones(8), counts(256);
  for (std::uint64_t i = 0; i < kClients; ++i) {
    KeyedMemory memory(fmt::format("secret of client {}", i));
    rappor.answer(std::string_view("v"), &memory, rng, report);
    ++counts[Rappor::bits_of(report)];
    for (unsigned b = 0; b < 8; ++b) ones[b] += Rappor::bits_of(report) >> b & 1;
  }
  std::vector<double> law(256);
  for (std::uint64_t y = 0; y < 256; ++y) {
    write_whole(report, y << 16);
    law[y] = static_cast<double>(rappor.probability(std::string_view("v"), report));
  }
  EXPECT_GT(test::chi_square_p(counts, law, kClients), test::kAlpha);
  for (unsigned b = 0; b < 8; ++b) {
    const auto one = static_cast<double>((bloom >> b & 1) != 0 ? rappor.one_given_one()
                                                               : rappor.one_given_zero());
    EXPECT_GT(test::binomial_p(ones[b], kClients, one), test::kAlpha);
    // The defect: a 1 of the Bloom filter is never turned into 0 for ever.
    if ((bloom >> b & 1) != 0) {
      EXPECT_LT(test::binomial_p(ones[b], kClients, r.q), test::kAlpha);
    }
  }
}

TEST(Rappor, WorstRatiosAreTheStatedEpsilons) {
  const RapporParameters r{.bits = 8, .hashes = 1, .cohorts = 1, .f = 0.5, .p = 0.25, .q = 0.75};
  const Rappor rappor(r);
  std::vector<std::string> words;  // with different bits
  for (int i = 0; words.size() < 3; ++i) {
    const std::string w = fmt::format("w{}", i);
    bool fresh = true;
    for (const std::string& other : words) fresh &= bloom_bits(w, 0, r) != bloom_bits(other, 0, r);
    if (fresh) words.push_back(w);
  }
  long double worst = 1;
  Report report(rappor.report_bytes());
  for (std::uint64_t y = 0; y < 256; ++y) {
    write_whole(report, y << 16);
    for (const std::string& a : words)
      for (const std::string& b : words)
        worst = std::max(worst, rappor.probability(std::string_view(a), report) /
                                    rappor.probability(std::string_view(b), report));
  }
  EXPECT_NEAR(static_cast<double>(std::log(worst)), rappor.epsilon(), 1e-12);
  // For ever: two permanent answers differ in two bits, each (1 − f/2)/(f/2).
  EXPECT_NEAR(rappor.epsilon_permanent(), 2 * std::log(0.75 / 0.25), 1e-12);
}

TEST(Rappor, RefusesWhatHasNoGuaranteeOrMore) {
  EXPECT_THROW(Rappor({.f = 0}), InvalidArgument);
  EXPECT_THROW(Rappor({.f = 0.3}), InvalidArgument);  // no multiple of 1/128
  EXPECT_THROW(Rappor({.p = 0.75, .q = 0.5}), InvalidArgument);
  EXPECT_THROW(Rappor({.cohorts = 3}), InvalidArgument);
  EXPECT_THROW((void)declared("rappor", 1), InvalidArgument);  // has 1.074
  EXPECT_NO_THROW((void)declared("rappor", 1.08));
  EXPECT_NEAR(declared("rappor", 0).epsilon, 1.0742859, 1e-7);  // follows from the others
  EXPECT_EQ(declared("rappor", 0).epsilon, make_randomizer(declared("rappor", 0))->epsilon());
  EXPECT_THROW((void)declared("hcms", 0), InvalidArgument);  // does not
}

TEST(Rappor, FilesReadBackByteForByte) {
  const RapporParameters r{.bits = 16, .hashes = 2, .cohorts = 4, .f = 0.5, .p = 0.25, .q = 0.75};
  EXPECT_EQ(params_csv(r), "k,h,m,p,q,f\n16,2,4,0.25,0.75,0.5\n");
  EXPECT_EQ(params_csv(parse_params_csv(params_csv(r))), params_csv(r));
  std::vector<std::int64_t> cells;
  for (std::int64_t i = 0; i < 4 * 17; ++i) cells.push_back(i % 17 == 0 ? 100 : i);
  EXPECT_EQ(parse_counts_csv(counts_csv(cells, r), r), cells);
  const std::vector<std::string> words = {"abc", "with,comma", "with \"quote\"", "", "ü"};
  const auto candidates = parse_map_csv(map_csv(words, r), r);
  ASSERT_EQ(candidates.size(), words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    EXPECT_EQ(candidates[i].word, words[i]);
    EXPECT_EQ(candidates[i].bits, rappor_candidate(words[i], r).bits);
  }
  EXPECT_EQ(map_csv({"abc"}, {.bits = 16, .hashes = 2, .cohorts = 1}), "abc,7,14\n");
  for (const char* bad : {"", "k,h,m,p,q,f\n", "k,h,m,p,q,f\n16,2,4,0.25,0.75,x\n",
                          "k,h,m,p,q,f\n16,2,4,0.25,0.75,nan\n", "k,h,m,p,q,f\n1e9,2,4,.2,.7,.5\n"})
    EXPECT_THROW((void)parse_params_csv(bad), DataError) << bad;
  EXPECT_THROW((void)parse_counts_csv("1,2\n", r), DataError);
  EXPECT_THROW((void)parse_map_csv("abc,1\n", r), DataError);
  EXPECT_THROW((void)parse_map_csv("\"abc", r), DataError);
}

// 100 000 clients, 100 candidates, of which 20 exist: all large ones are found, none that does not
// exist is significant (5 % over all of them is the chance that one is; the seed is fixed).
TEST(Rappor, DecodesAPopulation) {
  const Declaration d = declared(
      "rappor", 4,
      {{"bits", {"32"}}, {"hashes", {"2"}}, {"f", {"0.25"}}, {"p", {"0.35"}}, {"q", {"0.65"}}});
  const auto r = make_randomizer(d);
  Accumulator accumulator(d);
  Rng rng = Rng::insecure_seed(21);
  Report report(r->report_bytes());
  constexpr int kClients = 100'000;
  std::vector<double> truth(20);
  double total = 0;
  for (int i = 0; i < 20; ++i) total += truth[i] = 1.0 / (i + 1);
  for (double& t : truth) t /= total;
  const std::uint32_t tag = tag_of(d);
  double at = 0, upto = truth[0];
  std::size_t word = 0;
  for (int i = 0; i < kClients; ++i) {
    at = (i + 0.5) / kClients;
    while (at > upto && word + 1 < truth.size()) upto += truth[++word];
    KeyedMemory memory(fmt::format("client {}", i));
    const std::string value = fmt::format("word {}", word);
    r->answer(std::string_view(value), &memory, rng, report);
    ASSERT_TRUE(accumulator.take({.tag = tag, .client = {}, .epoch = {}, .report = report}));
  }
  const RapporParameters parameters = rappor_parameters(d);
  std::vector<RapporCandidate> candidates;
  for (int i = 0; i < 100; ++i)
    candidates.push_back(rappor_candidate(fmt::format("word {}", i), parameters));
  const auto found =
      decode_rappor(Rappor(parameters), accumulator.aggregator().cells(), candidates);
  for (std::size_t i = 0; i < 100; ++i) {
    if (i < 5) {
      EXPECT_TRUE(found[i].significant) << i;
      EXPECT_NEAR(found[i].coefficient, truth[i], 6 * found[i].standard_error) << i;
    }
    if (i >= 20) {
      EXPECT_FALSE(found[i].significant) << i;
    }
  }
}

TEST(Sketch, RatiosAreEpsilonAndEstimatesUnbiased) {
  for (const std::string protocol : {"cms", "hcms"}) {
    const Declaration d = declared(protocol, 2, {{"rows", {"64"}}, {"width", {"64"}}});
    const auto r = make_randomizer(d);
    EXPECT_LE(r->epsilon(), 2);
    EXPECT_NEAR(r->epsilon(), 2, 1e-9);
    Rng rng = Rng::insecure_seed(31);
    Report report(r->report_bytes());
    constexpr int kRounds = 60, kClients = 2000;
    double squares = 0, predicted = 0;
    std::vector<double> sums(3, 0);
    for (int round = 0; round < kRounds; ++round) {
      const auto aggregator = make_word_aggregator(d);
      for (int i = 0; i < kClients; ++i) {
        const std::string w = i % 10 < 5 ? "often" : i % 10 < 7 ? "less" : fmt::format("w{}", i);
        r->answer(std::string_view(w), nullptr, rng, report);
        ASSERT_TRUE(aggregator->accepts(report));
        aggregator->add(report);
      }
      const Frequencies f = aggregator->shares({"often", "less", "never"});
      const double truth[] = {0.5, 0.2, 0};
      for (int i = 0; i < 3; ++i) {
        sums[i] += f.share[i] / kRounds;
        squares += std::pow(f.share[i] - truth[i], 2), predicted += f.variance[i];
      }
    }
    EXPECT_NEAR(sums[0], 0.5, 0.03) << protocol;
    EXPECT_NEAR(sums[1], 0.2, 0.03) << protocol;
    EXPECT_NEAR(sums[2], 0, 0.03) << protocol;
    EXPECT_GT(squares / predicted, 0.5) << protocol;  // 180 values: within a factor of two
    EXPECT_LT(squares / predicted, 2) << protocol;
  }
}

// 40 words that nobody has, 2000 rounds: the sample variance of 80 000 estimates, around what the
// fixed hash functions make of each, scatters by 0.5 %; 3 % is a false alarm below 1e-6.
TEST(Sketch, MeasuredVarianceIsWithinThreePercentOfTheory) {
  constexpr int kRounds = 2000, kClients = 100, kWords = 40;
  for (const std::string protocol : {"cms", "hcms"}) {
    const Declaration d = declared(protocol, 2, {{"rows", {"32"}}, {"width", {"64"}}});
    const auto r = make_randomizer(d);
    Rng rng = Rng::insecure_seed(33);
    Report report(r->report_bytes());
    std::vector<std::string> words;
    for (int i = 0; i < kWords; ++i) words.push_back(fmt::format("never {}", i));
    std::vector<double> sum(kWords, 0), square(kWords, 0);
    for (int round = 0; round < kRounds; ++round) {
      const auto aggregator = make_word_aggregator(d);
      for (int i = 0; i < kClients; ++i) {
        r->answer(std::string_view(i % 2 == 0 ? "one" : "other"), nullptr, rng, report);
        aggregator->add(report);
      }
      const Frequencies f = aggregator->shares(words);
      for (int i = 0; i < kWords; ++i) sum[i] += f.share[i], square[i] += f.share[i] * f.share[i];
    }
    double measured = 0;
    for (int i = 0; i < kWords; ++i)
      measured += (square[i] - sum[i] * sum[i] / kRounds) / (kRounds - 1) / kWords;
    const double m = 64, grow = m / (m - 1);
    const double noise = protocol == "cms"
                             ? std::exp(1.0) / std::pow(std::exp(1.0) - 1, 2)  // q(1−q)/(p−q)²
                             : std::pow(1 / std::tanh(1.0), 2);                // c²
    // One report meets the word's cell in 1/m of the rows; for HCMS that is part of c².
    const double meeting = protocol == "cms" ? (1 - 1 / m) / m : -1 / (m * m);
    EXPECT_NEAR(measured / (grow * grow * (noise + meeting) / kClients), 1, 0.03) << protocol;
  }
}

TEST(Sketch, OneReportsLawOfTheHadamardFormIsExact) {
  const HadamardSketch s(1, {.rows = 4, .width = 8});
  Report report(s.report_bytes());
  long double worst = 1;
  for (std::uint64_t row = 0; row < 4; ++row) {
    for (std::uint64_t t = 0; t < 16; ++t) {
      report = {static_cast<std::uint8_t>(row), static_cast<std::uint8_t>(t)};
      for (const std::string a : {"x", "y", "z"})
        for (const std::string b : {"x", "y", "z"})
          worst = std::max(worst, s.probability(std::string_view(a), report) /
                                      s.probability(std::string_view(b), report));
    }
  }
  EXPECT_NEAR(static_cast<double>(std::log(worst)), s.epsilon(), 1e-15);
}

TEST(Shuffler, DropsSenderAndOrderAndKeepsTheReports) {
  const Declaration d = declare({.protocol = "grr", .epsilon = 1, .domain = 4},
                                OptionValues(protocol_options(protocol_kind("grr")), {}));
  const std::uint32_t tag = tag_of(d);
  // Four reports: all 24 orders alike.
  std::vector<std::uint64_t> counts(256);
  std::vector<double> law(256, 0);
  Rng rng = Rng::insecure_seed(41);
  for (int round = 0; round < 24'000; ++round) {
    Shuffler shuffler(d);
    for (std::uint8_t i = 0; i < 4; ++i) {
      const Report report = {i};
      const std::string client(1, static_cast<char>('a' + i));
      const Record record{.tag = tag, .client = client, .epoch = 0, .report = report};
      shuffler.take(record);
      if (round == 0) shuffler.take(record);  // refused
    }
    if (round == 0) {
      EXPECT_EQ(shuffler.refused(), 4u);
    }
    std::string out;
    shuffler.write(rng, [&](std::string_view bytes) { out += bytes; });
    std::string_view rest = std::string_view(out).substr(parse_header(out).length);
    std::size_t order = 0;
    for (int i = 0; i < 4; ++i) {
      const ParsedRecord parsed = parse_record(rest);
      ASSERT_EQ(parsed.outcome, Parsed::whole);
      EXPECT_TRUE(parsed.record.client.empty());
      EXPECT_FALSE(parsed.record.epoch);
      order = 4 * order + parsed.record.report[0];
      rest.remove_prefix(parsed.length);
    }
    EXPECT_TRUE(rest.empty());
    ++counts[order];
  }
  for (std::size_t order = 0; order < 256; ++order) {
    unsigned seen = 0;
    for (std::size_t o = order, i = 0; i < 4; ++i, o /= 4) seen |= 1u << (o % 4);
    law[order] = seen == 15 ? 1.0 / 24 : 0;
  }
  EXPECT_GT(test::chi_square_p(counts, law, 24'000), test::kAlpha);
}

}  // namespace sotto::local::words_test
