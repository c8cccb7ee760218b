// Secret bits from exact counts come out; from counts with enough noise they do not.
#include "sotto/audit/reconstruction.hpp"

#include <gtest/gtest.h>

#include <random>

#include "sotto/core/error.hpp"

namespace sotto::audit::reconstruction_test {

constexpr std::size_t kRecords = 200, kCounts = 800;
constexpr Solver kSolvers[] = {Solver::least_squares, Solver::linear_programming};

std::vector<bool> secrets(std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::vector<bool> bits;
  for (std::size_t i = 0; i < kRecords; ++i) bits.push_back(engine() % 2 == 0);
  return bits;
}

double recovered(const std::vector<double>& found, const std::vector<bool>& truth) {
  double right = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) right += (found[i] > 0.5) == truth[i];
  return right / static_cast<double>(truth.size());
}

TEST(Reconstruction, ExactCountsGiveEveryBitAway) {
  const Subsets subsets = random_subsets(kRecords, kCounts, 1);
  const auto truth = secrets(2);
  for (const Solver solver : kSolvers)
    EXPECT_EQ(recovered(reconstruct(subsets, exact_counts(subsets, truth), solver), truth), 1)
        << name(solver);
}

// Noise below √records still gives nearly all away; noise far above it leaves about one half, whose
// standard error is 0.035: beyond 0.7 is more than five of them.
TEST(Reconstruction, NoiseDecidesHowMuchComesOut) {
  const Subsets subsets = random_subsets(kRecords, kCounts, 1);
  const auto truth = secrets(3);
  std::mt19937_64 engine(4);
  for (const Solver solver : kSolvers) {
    const auto with_noise = [&](double spread) {
      std::normal_distribution<> noise(0, spread);
      std::vector<double> answers = exact_counts(subsets, truth);
      for (double& a : answers) a += noise(engine);
      return recovered(reconstruct(subsets, answers, solver), truth);
    };
    EXPECT_GT(with_noise(2), 0.95) << name(solver);
    EXPECT_LT(with_noise(200), 0.7) << name(solver);
  }
}

// One answer in ten is far off: the absolute deviations do not mind, the squares do.
TEST(Reconstruction, LinearProgrammingBearsAnswersThatAreFarOff) {
  const Subsets subsets = random_subsets(kRecords, kCounts, 1);
  const auto truth = secrets(5);
  std::vector<double> answers = exact_counts(subsets, truth);
  for (std::size_t q = 0; q < answers.size(); q += 10) answers[q] += q % 20 == 0 ? 150 : -150;
  EXPECT_GT(recovered(reconstruct(subsets, answers, Solver::linear_programming), truth), 0.97);
  EXPECT_LT(recovered(reconstruct(subsets, answers, Solver::least_squares), truth), 0.97);
}

TEST(Reconstruction, RefusesWhatDoesNotFit) {
  EXPECT_THROW(random_subsets(0, 5, 1), InvalidArgument);
  EXPECT_THROW(random_subsets(1u << 20, 1u << 20, 1), InvalidArgument);
  EXPECT_THROW(reconstruct(random_subsets(5, 5, 1), {1, 2}, Solver::least_squares),
               InvalidArgument);
  EXPECT_THROW(parse_solver("magic"), InvalidArgument);
}

}  // namespace sotto::audit::reconstruction_test
