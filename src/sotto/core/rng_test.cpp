#include "sotto/core/rng.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <set>
#include <thread>

#include "sotto/core/record_replay.hpp"
#include "support/statistics.hpp"

namespace sotto::rng_test {

using replay::check_neighbours;

// A "mechanism" that announces a query and draws as many words as told.
void noised(Rng& rng, double value, double sensitivity, int draws = 1, double scale = 1) {
  const double values[] = {value};
  auto scope = rng.query({.mechanism = "test",
                          .values = values,
                          .sensitivity = sensitivity,
                          .norm = Norm::l1,
                          .scale = scale});
  for (int i = 0; i < draws; ++i) rng.next_u64();
}

TEST(Rng, WordsAreCountedExactly) {
  Rng rng = Rng::insecure_seed(1);
  EXPECT_EQ(rng.words(), 0u);
  for (int i = 0; i < 513; ++i) rng.next_u64();
  EXPECT_EQ(rng.words(), 513u);
  std::array<std::byte, 64> bulk;
  rng.fill(bulk);
  EXPECT_EQ(rng.words(), 521u);
}

TEST(Rng, BitsAreFair) {
  Rng rng = Rng::insecure_seed(2);
  std::array<std::uint64_t, 64> ones{};
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t w = rng.next_u64();
    for (unsigned b = 0; b < 64; ++b) ones[b] += w >> b & 1;
  }
  for (std::uint64_t n : ones) EXPECT_GT(test::binomial_p(n, kDraws, 0.5), test::kAlpha);
}

TEST(Rng, BufferedWordsAreNotRepeatedAfterFork) {
  Rng rng;
  rng.next_u64();  // the buffer now holds words that parent and child would share
  int channel[2];
  ASSERT_EQ(pipe(channel), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::uint64_t word = rng.next_u64();
    _exit(write(channel[1], &word, sizeof word) == sizeof word ? 0 : 1);
  }
  std::uint64_t of_child = 0;
  ASSERT_EQ(read(channel[0], &of_child, sizeof of_child), static_cast<ssize_t>(sizeof of_child));
  waitpid(child, nullptr, 0);
  EXPECT_NE(rng.next_u64(), of_child);
}

TEST(Rng, ThreadsWithSplitGeneratorsGetDifferentWords) {
  Rng parent;
  std::vector<Rng> generators;
  for (int i = 0; i < 4; ++i) generators.push_back(parent.split());
  std::vector<std::vector<std::uint64_t>> words(4);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 1000; ++i) words[t].push_back(generators[t].next_u64());
      });
    }
  }
  std::set<std::uint64_t> all;
  for (const auto& w : words) all.insert(w.begin(), w.end());
  EXPECT_EQ(all.size(), 4000u);  // a collision of honest words has probability below 1e-12
}

TEST(RecordReplay, AcceptsNeighboursWithinTheirSensitivity) {
  EXPECT_EQ(check_neighbours(
                [](Rng& r) {
                  noised(r, 5, 1);
                  return std::nullopt;
                },
                [](Rng& r) {
                  noised(r, 6, 1);
                  return std::nullopt;
                }),
            "");
}

TEST(RecordReplay, CatchesAQueryThatMovesTooFar) {
  EXPECT_NE(check_neighbours(
                [](Rng& r) {
                  noised(r, 5, 1);
                  return std::nullopt;
                },
                [](Rng& r) {
                  noised(r, 6.001, 1);
                  return std::nullopt;
                }),
            "");
}

TEST(RecordReplay, CatchesAQueryThatIsNotANumber) {
  EXPECT_NE(check_neighbours(
                [](Rng& r) {
                  noised(r, 5, 1);
                  return std::nullopt;
                },
                [](Rng& r) {
                  noised(r, std::nan(""), 1);
                  return std::nullopt;
                }),
            "");
}

TEST(RecordReplay, CatchesScaleSensitivityAndEventReadFromTheData) {
  EXPECT_NE(check_neighbours(
                [](Rng& r) {
                  noised(r, 5, 1, 1, 2);
                  return std::nullopt;
                },
                [](Rng& r) {
                  noised(r, 5, 1, 1, 3);
                  return std::nullopt;
                }),
            "");
  EXPECT_NE(check_neighbours(
                [](Rng& r) {
                  noised(r, 5, 1);
                  return std::nullopt;
                },
                [](Rng& r) {
                  noised(r, 5, 2);
                  return std::nullopt;
                }),
            "");
  EXPECT_NE(check_neighbours(
                [](Rng& r) -> std::optional<Event> {
                  noised(r, 5, 1);
                  return PureEvent{1};
                },
                [](Rng& r) -> std::optional<Event> {
                  noised(r, 5, 1);
                  return PureEvent{2};
                }),
            "");
}

TEST(RecordReplay, CatchesDataDependentControlFlow) {
  EXPECT_NE(check_neighbours(
                [](Rng& r) {
                  noised(r, 5, 1);
                  return std::nullopt;
                },
                [](Rng& r) {
                  noised(r, 5, 1);
                  noised(r, 5, 1);
                  return std::nullopt;
                }),
            "");
}

TEST(RecordReplay, CatchesRandomnessUsedOutsideAMechanism) {
  EXPECT_NE(check_neighbours(
                [](Rng& r) {
                  r.next_u64();
                  noised(r, 5, 1);
                  return std::nullopt;
                },
                [](Rng& r) {
                  noised(r, 5, 1);
                  return std::nullopt;
                }),
            "");
}

TEST(RecordReplay, LetsAMechanismUseItsOwnStreamAsItNeeds) {
  EXPECT_EQ(check_neighbours(
                [](Rng& r) {
                  noised(r, 5, 1, 3);
                  r.next_u64();
                  return std::nullopt;
                },
                [](Rng& r) {
                  noised(r, 5, 1, 700);
                  r.next_u64();
                  return std::nullopt;
                }),
            "");
}

TEST(RecordReplay, GivesTheSameNoiseToTheSameQueryNumber) {
  std::uint64_t first = 0, second = 1;
  auto run = [](Rng& rng, std::uint64_t& word) -> std::optional<Event> {
    const double values[] = {0};
    auto scope = rng.query(
        {.mechanism = "test", .values = values, .sensitivity = 1, .norm = Norm::l1, .scale = 1});
    word = rng.next_u64();
    return std::nullopt;
  };
  replay::record(3, [&](Rng& r) { return run(r, first); });
  replay::record(3, [&](Rng& r) { return run(r, second); });
  EXPECT_EQ(first, second);
}

TEST(RecordReplay, SecondRunGoesOnFromTheResultsOfTheFirst) {
  // Each query noises ten times what the one before released: only on the same public past do the
  // two runs stay close.
  auto adaptive = [](Rng& rng, double first) -> std::optional<Event> {
    double state = first;
    for (int i = 0; i < 3; ++i) {
      double values[] = {state};
      auto scope = rng.query(
          {.mechanism = "test", .values = values, .sensitivity = 1, .norm = Norm::l1, .scale = 1});
      double result[] = {values[0] + static_cast<double>(rng.next_u64() % 5)};
      scope.publish(std::span<double>(result));
      state = 10 * result[0];
    }
    return std::nullopt;
  };
  EXPECT_EQ(check_neighbours([&](Rng& r) { return adaptive(r, 0); },
                             [&](Rng& r) { return adaptive(r, 1); }),
            "");
}

}  // namespace sotto::rng_test
