#include "sotto/deep/training/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <span>

#include "sotto/core/error.hpp"
#include "sotto/deep/training/seats.hpp"
#include "sotto/deep/training/training_case_test.hpp"
#include "support/statistics.hpp"

namespace sotto::deep::sampler_test {

TEST(BatchSampler, PoissonIncludesEachRecordWithTheRateAndIndependently) {
  Rng rng = Rng::insecure_seed(3);
  const BatchSampler sampler(Sampling::poisson, 50, 10);
  const std::uint64_t runs = 20000;
  std::vector<std::uint64_t> hits(50), sizes(51);
  std::uint64_t both = 0;
  for (std::uint64_t t = 0; t < runs; ++t) {
    const auto batch = sampler.draw(50, rng);
    for (const auto i : batch) ++hits[static_cast<std::size_t>(i)];
    ++sizes[batch.size()];
    both +=
        std::count(batch.begin(), batch.end(), 7) + std::count(batch.begin(), batch.end(), 31) == 2;
  }
  for (const auto h : hits) EXPECT_GT(test::binomial_p(h, runs, 0.2), test::kAlpha);
  EXPECT_GT(test::binomial_p(both, runs, 0.04), test::kAlpha);
  std::vector<double> binomial(51);
  for (int k = 0; k <= 50; ++k)
    binomial[static_cast<std::size_t>(k)] =
        std::exp(std::lgamma(51) - std::lgamma(k + 1) - std::lgamma(51 - k) + k * std::log(0.2) +
                 (50 - k) * std::log(0.8));
  EXPECT_GT(test::chi_square_p(sizes, binomial, runs), test::kAlpha);
  // A sampler with batches of fixed size, or a rate a twentieth larger, is noticed.
  EXPECT_LT(
      test::binomial_p(static_cast<std::uint64_t>(0.21 * static_cast<double>(runs)), runs, 0.2),
      0.01);
  std::vector<std::uint64_t> fixed(51);
  fixed[10] = runs;
  EXPECT_LT(test::chi_square_p(fixed, binomial, runs), test::kAlpha);
}

TEST(BatchSampler, OneRecordMoreDoesNotMoveTheOthersAndUsesNoMoreOfTheGenerator) {
  const BatchSampler sampler(Sampling::poisson, 100, 30);
  Rng a = Rng::insecure_seed(5), b = Rng::insecure_seed(5);
  for (int t = 0; t < 20; ++t) {
    auto with = sampler.draw(101, a);
    const auto without = sampler.draw(100, b);
    if (!with.empty() && with.back() == 100) with.pop_back();
    EXPECT_EQ(with, without);
    EXPECT_EQ(a.words(), b.words());
  }
}

TEST(BatchSampler, FixedSizesAreFixedAndUniform) {
  Rng rng = Rng::insecure_seed(7);
  const BatchSampler without(Sampling::without_replacement, 12, 4),
      with(Sampling::with_replacement, 12, 4);
  std::vector<std::uint64_t> hits(12), drawn(12);
  std::uint64_t repeats = 0;
  const std::uint64_t runs = 12000;
  for (std::uint64_t t = 0; t < runs; ++t) {
    auto batch = without.draw(12, rng);
    ASSERT_EQ(batch.size(), 4u);
    std::sort(batch.begin(), batch.end());
    ASSERT_EQ(std::unique(batch.begin(), batch.end()), batch.end());
    for (const auto i : batch) ++hits[static_cast<std::size_t>(i)];
    auto again = with.draw(12, rng);
    ASSERT_EQ(again.size(), 4u);
    for (const auto i : again) ++drawn[static_cast<std::size_t>(i)];
    std::sort(again.begin(), again.end());
    repeats += std::unique(again.begin(), again.end()) != again.end();
  }
  for (const auto h : hits) EXPECT_GT(test::binomial_p(h, runs, 4.0 / 12), test::kAlpha);
  EXPECT_GT(test::chi_square_p(drawn, std::vector<double>(12, 1.0 / 12), 4 * runs), test::kAlpha);
  EXPECT_GT(test::binomial_p(repeats, runs, 1 - 12.0 * 11 * 10 * 9 / (12.0 * 12 * 12 * 12)),
            test::kAlpha);
  EXPECT_NE(refusal<DataError>([&] { without.draw(13, rng); }), "");
}

TEST(Seats, HaveOnePublicShapeWhateverTheBatch) {
  const SeatPlan plan = plan_seats(100, 64);  // 100 + 72 + 8 seats
  EXPECT_EQ(plan.parts, 3);
  EXPECT_EQ(plan.rows, 60);
  Rng rng = Rng::insecure_seed(3);
  for (const std::size_t size : {0u, 1u, 100u, 180u}) {
    std::vector<std::int64_t> batch(size);
    for (std::size_t i = 0; i < size; ++i) batch[i] = static_cast<std::int64_t>(7 * i);
    const Seats seats = Seats::at_random(batch, plan, rng);
    ASSERT_EQ(seats.parts(), 3);
    std::multiset<std::int64_t> seated;
    for (std::int64_t k = 0; k < 3; ++k) {
      EXPECT_EQ(seats.part(k).size(), 60u);
      for (const auto i : seats.part(k))
        if (i != Seats::kEmpty) seated.insert(i);
    }
    EXPECT_EQ(seated, std::multiset<std::int64_t>(batch.begin(), batch.end()));
  }
  // More records than seats: batches of the same size are added, nobody is left standing.
  const Seats crowded = Seats::at_random(std::vector<std::int64_t>(181, 5), plan, rng);
  EXPECT_EQ(crowded.parts(), 4);
  EXPECT_EQ(crowded.part(3).size(), 60u);
}

// P(Poisson(B) ≥ S) below 1e-12, by the Chernoff bound in its exact form.
TEST(Seats, SufficeButForOneStepInATrillion) {
  for (const double b : {1.0, 20.0, 256.0, 2048.0, 8192.0, 1e5, 1e6}) {
    const auto s = static_cast<double>(seats_for(b));
    EXPECT_LT(-b + s - s * std::log(s / b), std::log(1e-11)) << b;
    double term = std::exp(-b + s * std::log(b) - std::lgamma(s + 1)), tail = 0;
    for (double k = s; term > 1e-30; term *= b / ++k) tail += term;
    EXPECT_LT(tail, 1e-12) << b;
  }
}

TEST(Seats, ARecordMoreTakesAFreeSeatAndMovesNobody) {
  const SeatPlan plan{.rows = 6, .parts = 2};
  Rng a = Rng::insecure_seed(5), b = Rng::insecure_seed(5);
  for (int t = 0; t < 50; ++t) {
    const Seats with = Seats::at_random({1, 4, 9, 12}, plan, a),
                without = Seats::at_random({1, 4, 9}, plan, b);
    int moved = 0;
    for (std::int64_t k = 0; k < 2; ++k)
      for (std::size_t row = 0; row < 6; ++row) {
        if (with.part(k)[row] == without.part(k)[row]) continue;
        ++moved;
        EXPECT_EQ(with.part(k)[row], 12);
        EXPECT_EQ(without.part(k)[row], Seats::kEmpty);
      }
    EXPECT_EQ(moved, 1);
    EXPECT_EQ(a.words(), b.words());
  }
}

TEST(Seats, AllSeatsAreEquallyLikely) {
  Rng rng = Rng::insecure_seed(11);
  const SeatPlan plan{.rows = 4, .parts = 2};
  std::vector<std::uint64_t> first(8), second(8);
  const std::uint64_t runs = 16000;
  for (std::uint64_t t = 0; t < runs; ++t) {
    const Seats seats = Seats::at_random({0, 1, 2}, plan, rng);
    for (std::size_t s = 0; s < 8; ++s) {
      const auto who = seats.part(static_cast<std::int64_t>(s / 4))[s % 4];
      if (who == 0) ++first[s];
      if (who == 2) ++second[s];
    }
  }
  EXPECT_GT(test::chi_square_p(first, std::vector<double>(8, 1.0 / 8), runs), test::kAlpha);
  EXPECT_GT(test::chi_square_p(second, std::vector<double>(8, 1.0 / 8), runs), test::kAlpha);
  // A seat that is a fifth too popular is noticed.
  first[0] += first[0] / 5;
  first[1] -= first[1] / 5;
  EXPECT_LT(test::chi_square_p(first, std::vector<double>(8, 1.0 / 8), runs), test::kAlpha);
}

std::vector<std::int64_t> numbered(std::int64_t n) {
  std::vector<std::int64_t> batch(static_cast<std::size_t>(n));
  std::iota(batch.begin(), batch.end(), 100);
  return batch;
}

TEST(Seats, DealtHoldEverybodyOnceInAPublicNumberOfParts) {
  const std::vector<std::int64_t> sizes = {8, 12, 20};
  const SeatPlan plan{.rows = 20, .parts = 3};
  Rng rng = Rng::insecure_seed(8);
  std::uint64_t used = 0;
  for (const bool filled : {false, true})
    for (const std::int64_t n : {0, 1, 2, 3, 24, 25, 36, 37, 60}) {
      const std::uint64_t before = rng.words();
      const Seats seats = Seats::dealt(numbered(n), plan,
                                       filled ? std::span(sizes) : std::span(sizes).first(0), rng);
      if (used == 0) used = rng.words() - before;
      EXPECT_EQ(rng.words() - before, used) << "as much of the generator whatever the sample";
      EXPECT_EQ(seats.parts(), 3);
      std::vector<std::int64_t> found;
      for (std::int64_t k = 0; k < seats.parts(); ++k) {
        const auto rows = static_cast<std::int64_t>(seats.part(k).size());
        EXPECT_TRUE(filled ? std::count(sizes.begin(), sizes.end(), rows) == 1
                           : rows == std::max<std::int64_t>(2, (n - k + 2) / 3));
        for (const auto row : seats.part(k))
          if (row != Seats::kEmpty) found.push_back(row);
      }
      std::sort(found.begin(), found.end());
      EXPECT_EQ(found, numbered(n));
    }
  EXPECT_EQ(Seats::dealt(numbered(61), plan, sizes, rng).parts(), 4);  // beyond all seats
}

TEST(Seats, DealtInSizesAreInUniformOrderAndARecordMoreMovesOneOther) {
  const std::vector<std::int64_t> sizes = {6};
  Rng rng = Rng::insecure_seed(9);
  constexpr std::uint64_t kRuns = 60000;
  std::vector<std::uint64_t> counts(6);  // of the orders of three
  for (std::uint64_t t = 0; t < kRuns; ++t) {
    const Seats seats = Seats::dealt({0, 1, 2}, {.rows = 6, .parts = 1}, sizes, rng);
    const auto part = seats.part(0);
    ++counts[static_cast<std::size_t>(2 * part[0] + (part[1] > part[2] ? 1 : 0))];
  }
  EXPECT_GT(test::chi_square_p(counts, std::vector<double>(6, 1.0 / 6), kRuns), test::kAlpha);
  counts[0] += counts[0] / 8;
  counts[1] -= counts[1] / 8;
  EXPECT_LT(test::chi_square_p(counts, std::vector<double>(6, 1.0 / 6), kRuns), test::kAlpha);

  const std::vector<std::int64_t> more = {8, 16};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Rng a = Rng::insecure_seed(seed), b = Rng::insecure_seed(seed);
    const SeatPlan plan{.rows = 16, .parts = 2};
    const Seats without = Seats::dealt(numbered(20), plan, more, a),
                with = Seats::dealt(numbered(21), plan, more, b);
    int differ = 0;
    for (std::int64_t k = 0; k < 2; ++k)
      for (std::size_t row = 0; row < 16; ++row) {
        const auto at = [&](const Seats& seats) {
          return row < seats.part(k).size() ? seats.part(k)[row] : Seats::kEmpty;
        };
        differ += at(with) != at(without);
      }
    EXPECT_LE(differ, 2);
  }
}

TEST(Seats, CandidatesAreWholeTilesThatHoldTheSample) {
  for (const double expected : {20.0, 64.0, 256.0, 300.0, 2048.0, 60000.0})
    for (const std::int64_t most : {20, 64, 500, 512, 100000}) {
      const auto sizes = size_candidates(expected, most);
      EXPECT_TRUE(std::is_sorted(sizes.begin(), sizes.end()));
      EXPECT_LE(sizes.size(), 26u);
      if (sizes.empty()) continue;
      for (const auto size : sizes) EXPECT_EQ(size % 8, 0);
      EXPECT_LE(sizes.back(), most);
      EXPECT_GE(sizes.back() * plan_seats(expected, most).parts, seats_for(expected));
    }
  EXPECT_FALSE(size_candidates(256, 512).empty());
  EXPECT_FALSE(size_candidates(2048, 512).empty());
}

TEST(Seats, InOrderAreFullPartsAndARestWithoutEmptyRows) {
  std::vector<std::int64_t> batch(10);
  for (std::size_t i = 0; i < batch.size(); ++i) batch[i] = static_cast<std::int64_t>(i);
  const Seats seats = Seats::in_order(batch, 4);
  std::vector<std::int64_t> again;
  ASSERT_EQ(seats.parts(), 3);
  for (std::int64_t k = 0; k < 3; ++k) {
    EXPECT_EQ(seats.part(k).size(), k < 2 ? 4u : 2u);
    again.insert(again.end(), seats.part(k).begin(), seats.part(k).end());
  }
  EXPECT_EQ(again, batch);
  EXPECT_EQ(Seats::in_order({}, 4).parts(), 0);
}

}  // namespace sotto::deep::sampler_test
