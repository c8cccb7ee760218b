#include "sotto/local/server/prefixes.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/local/client/memory.hpp"
#include "sotto/local/client/protocols.hpp"
#include "sotto/local/client/rounded_bit.hpp"
#include "sotto/local/server/accumulator.hpp"
#include "sotto/local/server/numbers.hpp"
#include "sotto/local/server/puzzles.hpp"

namespace sotto::local::prefixes_test {

using Report = std::vector<std::uint8_t>;

TEST(Prefixes, RangesOfCategories) {
  const Declaration d = declare({.protocol = "range_tree", .epsilon = 2, .domain = 100},
                                OptionValues(protocol_options(protocol_kind("range_tree")), {}));
  const auto r = make_randomizer(d);
  EXPECT_LE(r->epsilon(), 2);
  const auto aggregator = make_aggregator(d);
  Rng rng = Rng::insecure_seed(1);
  Report report(r->report_bytes());
  constexpr int kClients = 200'000;
  for (int i = 0; i < kClients; ++i) {
    r->answer(static_cast<std::uint64_t>(i) % 50, nullptr, rng, report);  // 0 … 49 alike
    ASSERT_TRUE(aggregator->accepts(report));
    aggregator->add(report);
  }
  const auto& prefixes = dynamic_cast<PrefixAggregator&>(*aggregator);
  for (const auto& [first, last, truth] :
       {std::tuple{0u, 49u, 1.0}, std::tuple{0u, 24u, 0.5}, std::tuple{13u, 37u, 0.5},
        std::tuple{50u, 99u, 0.0}, std::tuple{7u, 7u, 0.02}, std::tuple{0u, 99u, 1.0}}) {
    const auto share = prefixes.range(first, last);
    EXPECT_NEAR(share.value, truth, 5 * std::sqrt(share.variance) + 1e-9) << first << '-' << last;
    EXPECT_LT(share.variance, 0.002);
  }
  EXPECT_THROW((void)prefixes.range(5, 100), InvalidArgument);
  EXPECT_THROW((void)prefixes.range(5, 4), InvalidArgument);
}

TEST(Prefixes, FrequentWordsThatNobodyHasListed) {
  const Declaration d =
      declare({.protocol = "prefix_tree", .epsilon = 3},
              OptionValues(protocol_options(protocol_kind("prefix_tree")), {{"length", {"4"}}}));
  const auto r = make_randomizer(d);
  const auto aggregator = make_aggregator(d);
  Rng rng = Rng::insecure_seed(2);
  Report report(r->report_bytes());
  for (int i = 0; i < 100'000; ++i) {
    const char* word = i % 10 < 4 ? "tea" : i % 10 < 7 ? "milk" : i % 10 < 9 ? "te" : "rare";
    r->answer(std::string_view(word), nullptr, rng, report);
    aggregator->add(report);
  }
  const auto found =
      dynamic_cast<PrefixAggregator&>(*aggregator).heavy_hitters("abcdefghijklmnopqrstuvwxyz");
  ASSERT_GE(found.size(), 3u);
  EXPECT_EQ(found[0].word, "tea");
  EXPECT_EQ(found[1].word, "milk");
  EXPECT_EQ(found[2].word, "te");
  for (const FoundWord& f : found)
    EXPECT_TRUE(f.word == "tea" || f.word == "milk" || f.word == "te" || f.word == "rare");
  EXPECT_NEAR(found[0].share, 0.4, 6 * found[0].standard_error);
}

TEST(Puzzles, PutUnknownWordsTogether) {
  const Declaration d = declare(
      {.protocol = "sfp", .epsilon = 8},
      OptionValues(protocol_options(protocol_kind("sfp")), {{"length", {"6"}}, {"rows", {"64"}}}));
  const auto r = make_randomizer(d);
  EXPECT_LE(r->epsilon(), 8);
  EXPECT_NEAR(r->epsilon(), 8, 1e-6);
  const auto aggregator = make_aggregator(d);
  Rng rng = Rng::insecure_seed(4);
  Report report(r->report_bytes());
  for (int i = 0; i < 60'000; ++i) {
    const std::string word = i % 10 < 4   ? "coffee"
                             : i % 10 < 7 ? "milk"
                             : i % 10 < 9 ? "tea"
                                          : "w" + std::to_string(i % 977);
    r->answer(std::string_view(word), nullptr, rng, report);
    ASSERT_TRUE(aggregator->accepts(report));
    aggregator->add(report);
  }
  const auto found = dynamic_cast<PuzzleAggregator&>(*aggregator).words("acefiklmotxyz");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].word, "coffee");
  EXPECT_EQ(found[1].word, "milk");
  EXPECT_EQ(found[2].word, "tea");
  EXPECT_NEAR(found[0].share, 0.4, 6 * found[0].standard_error);
}

TEST(RoundedBit, IsPermanentAndUnbiased) {
  const Declaration d = declare(
      {.protocol = "rounded_bit", .epsilon = 2},
      OptionValues(protocol_options(protocol_kind("rounded_bit")),
                   {{"lower", {"0"}}, {"upper", {"10"}}, {"grid", {"4"}}, {"gamma", {"0"}}}));
  const auto r = make_randomizer(d);
  Rng rng = Rng::insecure_seed(3);
  Report report(1), again(1);
  for (int client = 0; client < 20; ++client) {
    KeyedMemory memory("client " + std::to_string(client));
    r->answer(3.3, &memory, rng, report);
    for (int i = 0; i < 5; ++i) {
      r->answer(3.3, &memory, rng, again);
      EXPECT_EQ(report, again);
    }
  }
  for (const double gamma : {0.0, 0.2}) {
    const RoundedBit bit(2, Bounds(0, 10), 4, gamma);
    Declaration with = d;
    with.parameters["gamma"] = gamma;
    const auto aggregator = make_number_aggregator(with);
    constexpr int kClients = 50'000;
    for (int client = 0; client < kClients; ++client) {
      KeyedMemory memory("c" + std::to_string(client));
      bit.answer(client % 2 == 0 ? 3.3 : 9.1, &memory, rng, report);
      aggregator->add(report);
    }
    const auto mean = dynamic_cast<MeanAggregator&>(*aggregator).means()[0];
    EXPECT_NEAR(mean.value, 6.2, 6 * mean.standard_error);
    EXPECT_LE(bit.epsilon(), bit.epsilon_permanent());
  }
  EXPECT_LT(RoundedBit(2, Bounds(0, 10), 4, 0.2).epsilon(), 1.2);
}

}  // namespace sotto::local::prefixes_test
