// Clients that report again: exact laws of one report, permanent answers that stay, budgets.
#include "sotto/local/client/longitudinal.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <filesystem>

#include "sotto/core/error.hpp"
#include "sotto/local/client/client.hpp"
#include "sotto/local/client/protocols.hpp"
#include "sotto/local/store/sqlite_store.hpp"
#include "support/statistics.hpp"

namespace sotto::local::longitudinal_test {

using Report = std::vector<std::uint8_t>;

Declaration declared(const std::string& protocol, double epsilon, std::uint64_t k,
                     const OptionValues::Raw& options) {
  return declare({.protocol = protocol, .epsilon = epsilon, .domain = k},
                 OptionValues(protocol_options(protocol_kind(protocol)), options));
}

class MapStore final : public Store {
 public:
  std::optional<std::string> find(std::string_view key) override {
    const auto found = map.find(std::string(key));
    return found == map.end() ? std::nullopt : std::optional(found->second);
  }
  void keep(std::string_view key, std::string_view value) override {
    map[std::string(key)] = std::string(value);
  }
  std::map<std::string, std::string> map;
};

TEST(Longitudinal, OneReportHasTheEpsilonDeclaredAndTheChainsLaw) {
  for (const std::string protocol : {"l_sue", "l_osue"}) {
    const auto r = make_randomizer(declared(protocol, 1, 4, {{"permanent_epsilon", {"2"}}}));
    long double worst = 1;
    for (std::uint64_t y = 0; y < 16; ++y) {
      Report report = {static_cast<std::uint8_t>(y)};
      long double least = 2, most = 0;
      for (std::uint64_t v = 0; v < 4; ++v) {
        const long double p = r->probability(v, report);
        least = std::min(least, p), most = std::max(most, p);
      }
      worst = std::max(worst, most / least);
    }
    EXPECT_LE(r->epsilon(), 1);
    EXPECT_NEAR(static_cast<double>(std::log(worst)), r->epsilon(), 1e-12);
    EXPECT_NEAR(r->epsilon(), 1, 1e-9) << protocol;
    EXPECT_LE(r->epsilon_permanent(), 2);
    // Fresh clients: the law of the chain.
    Rng rng = Rng::insecure_seed(3);
    std::vector<std::uint64_t> counts(16);
    std::vector<double> law(16);
    Report report(1);
    for (int i = 0; i < 40'000; ++i) {
      MapStore store;
      StoredMemory memory(store);
      r->answer(std::uint64_t{2}, &memory, rng, report);
      ++counts[report[0]];
    }
    for (std::uint64_t y = 0; y < 16; ++y)
      law[y] = static_cast<double>(
          r->probability(std::uint64_t{2}, Report{static_cast<std::uint8_t>(y)}));
    EXPECT_GT(test::chi_square_p(counts, law, 40'000), test::kAlpha) << protocol;
  }
}

// The published formula for L-OSUE's second step.
TEST(Longitudinal, SecondStepIsThePublishedOne) {
  const double e1 = 1, e2 = 2;
  const double p2 = (1 - std::exp(e1 + e2)) / (std::exp(e1) - std::exp(e2) - std::exp(e1 + e2) + 1);
  const double p1 = 0.5, q1 = 1 / (std::exp(e2) + 1);
  const LongitudinalUnary l(UnaryEncoding::optimised(e2, 4), e1);
  EXPECT_NEAR(l.p(), p1 * p2 + (1 - p1) * (1 - p2), 1e-9);
  EXPECT_NEAR(l.q(), q1 * p2 + (1 - q1) * (1 - p2), 1e-9);
}

TEST(Longitudinal, HashingKeepsOneFunctionAndAtMostSoManyAnswers) {
  const auto r = make_randomizer(
      declared("loloha", 0.8, 100, {{"permanent_epsilon", {"2"}}, {"buckets", {"4"}}}));
  EXPECT_LE(r->epsilon(), 0.8);
  EXPECT_NEAR(r->epsilon(), 0.8, 1e-6);
  MapStore store;
  StoredMemory memory(store);
  Rng rng = Rng::insecure_seed(4);
  Report first(r->report_bytes()), next(r->report_bytes());
  r->answer(std::uint64_t{0}, &memory, rng, first);
  for (std::uint64_t v = 0; v < 100; ++v) {
    r->answer(v, &memory, rng, next);
    EXPECT_TRUE(std::equal(first.begin(), first.begin() + 8, next.begin()));
  }
  EXPECT_EQ(store.map.at("#keys"), "4");
}

TEST(Longitudinal, BitsOfAFewCategoriesAreForEver) {
  const auto r = make_randomizer(declared("dbitflip", 1, 50, {{"bits", {"5"}}}));
  MapStore store;
  StoredMemory memory(store);
  Rng rng = Rng::insecure_seed(5);
  Report first(r->report_bytes()), next(r->report_bytes());
  r->answer(std::uint64_t{7}, &memory, rng, first);
  for (int i = 0; i < 20; ++i) {
    r->answer(std::uint64_t{7}, &memory, rng, next);
    EXPECT_EQ(first, next);
  }
  // A mutant that draws anew each time would average the noise away; this one is caught above.
  MapStore other;
  StoredMemory fresh(other);
  bool differs = false;
  for (int i = 0; i < 20 && !differs; ++i) {
    other.map.clear();
    r->answer(std::uint64_t{7}, &fresh, rng, next);
    differs = first != next;
  }
  EXPECT_TRUE(differs);
}

TEST(Memory, NeedsOneWhereAnswersArePermanent) {
  const auto r = make_randomizer(declared("l_sue", 1, 4, {{"permanent_epsilon", {"2"}}}));
  Rng rng = Rng::insecure_seed(1);
  Report report(1);
  EXPECT_THROW(r->answer(std::uint64_t{0}, nullptr, rng, report), InvalidArgument);
  EXPECT_THROW(declared("l_sue", 2, 4, {{"permanent_epsilon", {"2"}}}), InvalidArgument);
}

// A Bloom filter whose first byte is '#' costs what any other costs.
TEST(Memory, CountsEveryAnswerThatDependsOnAValue) {
  MapStore store;
  StoredMemory memory(store, 1);
  Rng rng = Rng::insecure_seed(1);
  (void)memory.recall("", 8, rng);
  (void)memory.recall("#seed", 8, rng);
  (void)memory.recall(std::string("#\0\1\2", 4), 8, rng);
  EXPECT_THROW((void)memory.recall("value 1", 8, rng), BudgetExceeded);
  EXPECT_THROW((void)memory.recall("#abc", 8, rng), BudgetExceeded);
  (void)memory.recall("#alpha", 8, rng);
}

TEST(Memory, KeyedAnswersFollowFromTheSecretAlone) {
  Rng one = Rng::insecure_seed(1), two = Rng::insecure_seed(2);
  KeyedMemory a("0123456789abcdef"), b("0123456789abcdef"), c("0123456789abcdeg");
  EXPECT_EQ(a.recall("k", 100, one), b.recall("k", 100, two));
  EXPECT_NE(a.recall("k", 48, one), c.recall("k", 48, one));
  EXPECT_NE(a.recall("k", 48, one), a.recall("l", 48, one));
}

TEST(Client, RefusesPastItsLifetimeBudgetWhateverTheValue) {
  const Declaration d = declared("grr", 1, 4, {{"epochs", {"100"}}});
  const auto r = make_randomizer(d);
  MapStore store;
  Rng rng = Rng::insecure_seed(6);
  std::string out;
  Client client(d, *r, {.id = "x", .store = &store, .lifetime_epsilon = 3});
  for (std::uint64_t i = 0; i < 3; ++i) client.report(i, i, rng, out);
  const std::string before = out;
  EXPECT_THROW(client.report(std::uint64_t{0}, 3, rng, out), BudgetExceeded);
  EXPECT_EQ(out, before);
  Client again(d, *r, {.id = "x", .store = &store, .lifetime_epsilon = 3});  // after a restart
  EXPECT_THROW(again.report(std::uint64_t{0}, 3, rng, out), BudgetExceeded);
  EXPECT_THROW(Client(d, *r, {.lifetime_epsilon = 3}), InvalidArgument);
}

TEST(Client, GivesPermanentAnswersForAsManyValuesAsItsBudgetAllows) {
  const Declaration d =
      declared("l_sue", 1, 4, {{"permanent_epsilon", {"2"}}, {"epochs", {"100"}}});
  const auto r = make_randomizer(d);
  MapStore store;
  Rng rng = Rng::insecure_seed(7);
  std::string out;
  Client client(d, *r, {.store = &store, .lifetime_epsilon = 4.5});
  for (std::uint64_t i = 0; i < 10; ++i) client.report(i % 2, i, rng, out);  // two values
  EXPECT_THROW(client.report(std::uint64_t{3}, 10, rng, out), BudgetExceeded);
  client.report(std::uint64_t{1}, 11, rng, out);
}

// The child keeps an answer and is killed at once; the answer is there.
TEST(SqliteStore, SurvivesKillNine) {
  const auto path =
      std::filesystem::temp_directory_path() / ("sotto-local-store-" + std::to_string(::getpid()));
  const auto report_of = [&](Report& report) {
    const auto r = make_randomizer(declared("dbitflip", 1, 50, {{"bits", {"5"}}}));
    SqliteStore store(path.string());
    StoredMemory memory(store);
    Rng rng;
    r->answer(std::uint64_t{7}, &memory, rng, report);
  };
  Report first(10), next(10);
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    report_of(first);
    (void)!::write(pipe[1], first.data(), first.size());
    ::raise(SIGKILL);
  }
  ASSERT_EQ(::read(pipe[0], first.data(), first.size()), 10);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  for (int i = 0; i < 3; ++i) {
    report_of(next);
    EXPECT_EQ(first, next);
  }
  ::close(pipe[0]), ::close(pipe[1]);
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path.string() + end);
}

}  // namespace sotto::local::longitudinal_test
