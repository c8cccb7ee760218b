// Words, vectors, trees and rounded numbers on small domains: all reports that a collector accepts
// are enumerated; the worst ratio of two values is e^ε, and clients draw from the law.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "sotto/local/client/memory.hpp"
#include "sotto/local/client/protocols.hpp"
#include "sotto/local/server/accumulator.hpp"
#include "support/statistics.hpp"

namespace sotto::local::small_laws_test {

using Report = std::vector<std::uint8_t>;

struct Small {
  std::string protocol;
  double epsilon;
  OptionValues::Raw options;
  std::uint64_t domain;
  std::vector<Value> values;
};

const std::vector<double> kLeft = {-1, 0.5}, kRight = {1, 0.5}, kBetween = {0.25, -1};

std::vector<Small> all() {
  const std::vector<Value> words = {std::string_view("ab"), std::string_view("b"),
                                    std::string_view("ca"), std::string_view("")},
                           places = {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{4}},
                           numbers = {0.0, 3.3, 9.9, 10.0},
                           vectors = {std::span<const double>(kLeft),
                                      std::span<const double>(kRight),
                                      std::span<const double>(kBetween)};
  const OptionValues::Raw bounds = {{"lower", {"-1"}}, {"upper", {"1"}}};
  OptionValues::Raw vector = bounds;
  vector.insert({{"dimensions", {"2"}}, {"positions", {"3"}}});
  return {
      {"cms", 1.5, {{"rows", {"2"}}, {"width", {"4"}}}, 0, words},
      {"hcms", 1.5, {{"rows", {"2"}}, {"width", {"4"}}}, 0, words},
      {"sfp", 3, {{"length", {"2"}}, {"rows", {"2"}}, {"width", {"2"}}}, 0, words},
      {"prefix_tree", 1.5, {{"length", {"2"}}, {"seeds", {"8"}}, {"buckets", {"3"}}}, 0, words},
      {"range_tree", 1.5, {{"seeds", {"8"}}, {"buckets", {"3"}}}, 5, places},
      {"coordinates", 1.5, vector, 0, vectors},
      {"rounded_bit",
       1.5,
       {{"lower", {"0"}}, {"upper", {"10"}}, {"grid", {"4"}}, {"gamma", {"0.1"}}},
       0,
       numbers},
  };
}

// Every string of bytes below 16 that is a report.
std::vector<Report> reports_of(const Declaration& d, std::size_t bytes) {
  const auto aggregator = make_aggregator(d);
  std::vector<Report> result;
  Report report(bytes);
  for (std::uint64_t i = 0; i < std::uint64_t{1} << (4 * bytes); ++i) {
    for (std::size_t j = 0; j < bytes; ++j) report[j] = static_cast<std::uint8_t>(i >> 4 * j & 15);
    if (aggregator->accepts(report)) result.push_back(report);
  }
  return result;
}

TEST(SmallLaws, WorstRatioIsTheStatedEpsilonAndClientsDrawFromThem) {
  for (const Small& s : all()) {
    const Declaration d =
        declare({.protocol = s.protocol, .epsilon = s.epsilon, .domain = s.domain},
                OptionValues(protocol_options(protocol_kind(s.protocol)), s.options));
    const auto r = make_randomizer(d);
    const std::vector<Report> reports = reports_of(d, r->report_bytes());
    std::map<Report, std::size_t> cell;
    std::vector<std::vector<double>> law(s.values.size());
    long double worst = 1;
    for (const Report& report : reports) {
      cell[report] = cell.size();
      long double least = 2, most = 0;
      for (std::size_t v = 0; v < s.values.size(); ++v) {
        const long double p = r->probability(s.values[v], report);
        least = std::min(least, p), most = std::max(most, p);
        law[v].push_back(static_cast<double>(p));
      }
      ASSERT_GT(least, 0) << s.protocol;
      worst = std::max(worst, most / least);
    }
    const auto ratio = static_cast<double>(std::log(worst));
    EXPECT_LE(r->epsilon(), s.epsilon) << s.protocol;
    EXPECT_LE(ratio, r->epsilon() + 1e-12) << s.protocol;
    EXPECT_NEAR(ratio, r->epsilon(), 1e-9) << s.protocol;
    // The law is given for each level, seed or row, which are all alike.
    for (std::vector<double>& one : law) {
      const double total = std::accumulate(one.begin(), one.end(), 0.0);
      EXPECT_NEAR(total, std::round(total), 1e-9) << s.protocol;
      for (double& p : one) p /= total;
    }
    for (std::size_t v = 0; v < s.values.size(); ++v) {
      constexpr std::uint64_t kDraws = 50'000;
      std::vector<std::uint64_t> counts(reports.size());
      Rng rng = Rng::insecure_seed(60 + v);
      Report report(r->report_bytes());
      for (std::uint64_t i = 0; i < kDraws; ++i) {
        KeyedMemory memory(std::to_string(i));
        r->answer(s.values[v], &memory, rng, report);
        ++counts[cell.at(report)];
      }
      EXPECT_GT(test::chi_square_p(counts, law[v], kDraws), test::kAlpha) << s.protocol << ' ' << v;
      // A mutant: a client with another value.
      if (v == 0) {
        EXPECT_LT(test::chi_square_p(counts, law[1], kDraws), test::kAlpha) << s.protocol;
      }
    }
  }
}

}  // namespace sotto::local::small_laws_test
