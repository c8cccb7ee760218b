// Every protocol on small domains: its law is a law, the worst ratio is e^ε, and the client draws
// from it. Mutants with known defects are caught by the same checks.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include "sotto/core/error.hpp"
#include "sotto/local/client/coin.hpp"
#include "sotto/local/client/hadamard.hpp"
#include "sotto/local/client/local_hash.hpp"
#include "sotto/local/client/protocols.hpp"
#include "sotto/local/client/subset.hpp"
#include "sotto/local/client/unary.hpp"
#include "support/statistics.hpp"

namespace sotto::local::exact_law_test {

using Report = std::vector<std::uint8_t>;

Declaration declared(const std::string& protocol, double epsilon, std::uint64_t categories) {
  return declare({.protocol = protocol, .epsilon = epsilon, .domain = categories},
                 OptionValues(protocol_options(protocol_kind(protocol)), {}));
}

// All reports of at most two bytes; for local hashing those of some seeds.
std::vector<std::vector<Report>> all_reports(const Randomizer& r) {
  std::vector<std::vector<Report>> groups;
  if (const auto* hash = dynamic_cast<const LocalHash*>(&r)) {
    for (std::uint64_t seed = 0; seed < 64; ++seed) {
      groups.emplace_back();
      for (std::uint64_t b = 0; b < hash->buckets(); ++b) {
        Report report(r.report_bytes());
        const std::size_t width = bytes_for(hash->buckets());
        write_whole(std::span(report).first(r.report_bytes() - width), seed);
        write_whole(std::span(report).last(width), b);
        groups.back().push_back(report);
      }
    }
    return groups;
  }
  groups.emplace_back();
  for (std::uint64_t i = 0; i < std::uint64_t{1} << (8 * r.report_bytes()); ++i) {
    Report report(r.report_bytes());
    write_whole(report, i);
    groups.back().push_back(report);
  }
  return groups;
}

// Whether a byte string is one of this protocol.
bool possible(const Randomizer& r, const Report& report, std::uint64_t k) {
  if (dynamic_cast<const UnaryEncoding*>(&r) || dynamic_cast<const SubsetSelection*>(&r))
    return read_whole(report) >> k == 0;
  if (const auto* h = dynamic_cast<const HadamardResponse*>(&r))
    return read_whole(report) < h->columns();
  if (dynamic_cast<const DirectEncoding*>(&r)) return read_whole(report) < k;
  return true;
}

const std::vector<std::string> kSmall = {"grr", "sue",      "oue",    "the",     "blh",
                                         "olh", "fast_olh", "subset", "hadamard"};

TEST(ExactLaw, WorstRatioIsTheStatedEpsilonAndWithinTheDeclared) {
  for (const std::string& protocol : kSmall) {
    for (const double epsilon : {0.1, 1.0, std::log(3.0), 4.0, 20.0}) {
      if (epsilon > 4 && protocol.ends_with("olh")) continue;  // 65 536 buckets a seed
      for (const std::uint64_t k : {2u, 5u, 9u}) {
        const auto r = make_randomizer(declared(protocol, epsilon, k));
        long double worst = 1;
        for (const auto& group : all_reports(*r)) {
          std::vector<long double> total(k, 0);
          for (const Report& report : group) {
            if (!possible(*r, report, k)) continue;
            long double least = 2, most = 0;
            for (std::uint64_t v = 0; v < k; ++v) {
              const long double p = r->probability(v, report);
              total[v] += p, least = std::min(least, p), most = std::max(most, p);
            }
            if (most > 0) worst = std::max(worst, most / least);
          }
          for (const long double t : total)
            EXPECT_NEAR(static_cast<double>(t), 1, 1e-14) << protocol << ' ' << epsilon;
        }
        EXPECT_LE(r->epsilon(), epsilon) << protocol;
        EXPECT_LE(std::log(worst), static_cast<long double>(r->epsilon()) + 1e-17L) << protocol;
        EXPECT_NEAR(static_cast<double>(std::log(worst)), r->epsilon(), 1e-9)
            << protocol << ' ' << epsilon << ' ' << k;
        if (protocol != "the") {
          EXPECT_NEAR(r->epsilon(), epsilon, 1e-8) << protocol << ' ' << k;
        }
      }
    }
  }
}

// The rest of a probability near 1 must be as exact as a small one: with 2^24 categories the truth
// is told with probability 1e-11.
TEST(ExactLaw, HoldsForManyCategoriesAndAnyEpsilon) {
  for (const std::string protocol : {"grr", "olh", "subset", "hadamard", "oue", "sue", "the"}) {
    for (const double epsilon : {1e-4, 1e-3, 0.5, 3.0, 30.0}) {
      for (const std::uint64_t k : {100u, 10'000u, 1u << 24}) {
        const auto r = make_randomizer(declared(protocol, epsilon, k));
        EXPECT_LE(r->epsilon(), epsilon) << protocol << ' ' << k;
        if (protocol != "the") {
          EXPECT_GT(r->epsilon(), epsilon * (1 - 1e-4)) << protocol << ' ' << epsilon << ' ' << k;
        }
      }
    }
  }
}

// p-value of the reports that a client makes, against the law.
double fit(const Randomizer& law, std::uint64_t k, std::uint64_t value,
           const std::function<void(Report&, Rng&)>& client, std::uint64_t seed) {
  constexpr std::uint64_t kDraws = 100'000;
  Rng rng = Rng::insecure_seed(seed);
  Report report(law.report_bytes());
  if (const auto* hash = dynamic_cast<const LocalHash*>(&law)) {
    std::uint64_t hits = 0;
    for (std::uint64_t i = 0; i < kDraws; ++i) {
      client(report, rng);
      hits += hash->place(hash->seed(report), value) == hash->reported(report) ? 1 : 0;
    }
    return test::binomial_p(hits, kDraws, hash->p());
  }
  std::map<Report, std::size_t> cell;
  std::vector<double> probabilities;
  const auto groups = all_reports(law);
  for (const Report& r : groups[0]) {
    if (!possible(law, r, k)) continue;
    cell[r] = probabilities.size();
    probabilities.push_back(static_cast<double>(law.probability(value, r)));
  }
  std::vector<std::uint64_t> counts(probabilities.size());
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    client(report, rng);
    ++counts[cell.at(report)];
  }
  return test::chi_square_p(counts, probabilities, kDraws);
}

TEST(ExactLaw, ClientsDrawFromIt) {
  for (const std::string& protocol : kSmall) {
    for (const std::uint64_t value : {0u, 3u, 8u}) {
      const auto r = make_randomizer(declared(protocol, 1.5, 9));
      const auto client = [&](Report& report, Rng& rng) { r->answer(value, nullptr, rng, report); };
      EXPECT_GT(fit(*r, 9, value, client, 7 + value), test::kAlpha) << protocol;
    }
  }
}

// How much randomness a report takes says nothing about the value.
TEST(ExactLaw, RandomnessUsedDoesNotDependOnTheValue) {
  for (const ProtocolKind& kind : protocol_kinds()) {
    if (kind.input != Input::category || !kind.one_time) continue;
    const auto r = make_randomizer(declared(kind.name, 1, 37));
    Report report(r->report_bytes());
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      std::optional<std::uint64_t> words;
      for (const std::uint64_t value : {0u, 1u, 17u, 36u}) {
        Rng rng = Rng::insecure_seed(seed);
        r->answer(value, nullptr, rng, report);
        if (words) {
          EXPECT_EQ(*words, rng.words()) << kind.name;
        }
        words = rng.words();
      }
    }
  }
}

// The bit of the value is never cleared: a reported 0 would prove absence.
TEST(ExactLaw, CatchesAClientThatNeverWritesZero) {
  for (const std::string protocol : {"sue", "oue"}) {
    const auto r = make_randomizer(declared(protocol, 1.5, 9));
    const auto client = [&](Report& report, Rng& rng) {
      r->answer(std::uint64_t{3}, nullptr, rng, report);
      set_bit(report, 3, true);
    };
    EXPECT_LT(fit(*r, 9, 3, client, 1), test::kAlpha) << protocol;
  }
}

TEST(ExactLaw, CatchesWrongProbabilities) {
  const auto honest = make_randomizer(declared("grr", 1.5, 9));
  const auto client = [&](Report& report, Rng& rng) {
    // Lies are uniform over all categories but the truth is told with the p of "others only".
    honest->answer(std::uint64_t{3}, nullptr, rng, report);
    if (report[0] != 3 && flip(rng, dyadic_below(1 / 9.0L))) report[0] = 3;
  };
  EXPECT_LT(fit(*honest, 9, 3, client, 2), test::kAlpha);

  const auto weaker = make_randomizer(declared("subset", 1.7, 9));
  const auto subset = make_randomizer(declared("subset", 1.5, 9));
  const auto stronger = [&](Report& report, Rng& rng) {
    weaker->answer(std::uint64_t{3}, nullptr, rng, report);
  };
  EXPECT_LT(fit(*subset, 9, 3, stronger, 3), test::kAlpha);

  const auto hash = make_randomizer(declared("olh", 1.5, 9));
  const auto other_value = [&](Report& report, Rng& rng) {
    hash->answer(std::uint64_t{4}, nullptr, rng, report);
  };
  EXPECT_LT(fit(*hash, 9, 3, other_value, 4), test::kAlpha);
}

TEST(ExactLaw, NoisedNumbersDifferByAtMostEpsilon) {
  const auto r = make_randomizer(declared("she", 1, 2));
  long double worst = 0;
  for (const std::int64_t a : {-5000, -1, 0, 500, 1024, 9000}) {
    for (const std::int64_t b : {-5000, 0, 700, 1024, 1025, 9000}) {
      Report report(8);
      write_whole(std::span(report).first(4), static_cast<std::uint64_t>(a));
      write_whole(std::span(report).last(4), static_cast<std::uint64_t>(b));
      worst = std::max(worst, std::abs(std::log(r->probability(std::uint64_t{0}, report) /
                                                r->probability(std::uint64_t{1}, report))));
    }
  }
  EXPECT_NEAR(static_cast<double>(worst), r->epsilon(), 1e-12);
  EXPECT_LE(r->epsilon(), 1);
}

TEST(Coin, SixtyFourAtOnceAreIndependentAndExact) {
  Rng rng = Rng::insecure_seed(5);
  for (const long double p : {0.5L, 0.268941421369995L, 1e-3L, 0.999L}) {
    const std::uint64_t t = dyadic_below(p);
    constexpr std::uint64_t kWords = 40'000;
    std::uint64_t ones = 0, both = 0;
    for (std::uint64_t i = 0; i < kWords; ++i) {
      const std::uint64_t w = biased_word(rng, t);
      ones += static_cast<std::uint64_t>(std::popcount(w));
      both += static_cast<std::uint64_t>(std::popcount(w & (w << 1) & 0xAAAAAAAAAAAAAAAAu));
    }
    const auto q = static_cast<double>(dyadic(t));
    EXPECT_GT(test::binomial_p(ones, 64 * kWords, q), test::kAlpha);
    EXPECT_GT(test::binomial_p(both, 32 * kWords, q * q), test::kAlpha);
    EXPECT_LT(test::binomial_p(ones, 64 * kWords, q * 0.97 + 0.001), test::kAlpha);  // a mutant
  }
  EXPECT_EQ(dyadic_below(0.5L), std::uint64_t{1} << 63);
}

TEST(Protocols, RefuseWhatTheyCannotDo) {
  EXPECT_THROW(declared("oue", 0, 4), InvalidArgument);
  EXPECT_THROW(declared("oue", 31, 4), InvalidArgument);
  EXPECT_THROW(declared("oue", 1, 1), InvalidArgument);
  EXPECT_THROW((void)protocol_kind("oeu"), InvalidArgument);
  Declaration d = declared("olh", 1, 4);
  d.parameters["bits"] = 3;
  EXPECT_THROW((void)make_randomizer(d), DataError);
  d = declared("olh", 1, 4);
  d.parameters.erase("buckets");
  EXPECT_THROW((void)make_randomizer(d), DataError);
  const auto r = make_randomizer(declared("grr", 1, 4));
  Rng rng = Rng::insecure_seed(1);
  Report report(1);
  EXPECT_THROW(r->answer(std::uint64_t{4}, nullptr, rng, report), InvalidArgument);
  EXPECT_THROW(r->answer(0.5, nullptr, rng, report), InvalidArgument);
}

// Sketches of different versions can be added as long as words have the same keys.
TEST(Hash, KeyOfAWordIsTheBeginningOfItsDigest) {
  EXPECT_EQ(key_of_word("abc"), 0xBA7816BF8F01CFEAu);  // SHA-256, FIPS 180-4
  EXPECT_EQ(key_of_word(""), 0xE3B0C44298FC1C14u);
}

TEST(Declaration, SurvivesItsText) {
  const Declaration d = declare({.protocol = "the", .epsilon = 0.7, .values = {"a", "ü", "c,d"}},
                                OptionValues(protocol_options(protocol_kind("the")), {}));
  EXPECT_EQ(declaration_from_text(to_text(d)), d);
  Declaration marked = d;
  marked.insecure = true;
  EXPECT_EQ(declaration_from_text(to_text(marked)), marked);
  EXPECT_NE(tag_of(marked), tag_of(d));
  EXPECT_THROW((void)declaration_from_text("[]"), DataError);
  EXPECT_THROW((void)declaration_from_text(R"({"epsilon":1,"values":["a","a"]})"), DataError);
  EXPECT_THROW((void)declaration_from_text(R"({"epsilon":"1"})"), DataError);
  EXPECT_THROW((void)declaration_from_text(R"({"protocol":"grr","domain":4})"), DataError);
}

}  // namespace sotto::local::exact_law_test
