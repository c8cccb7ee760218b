#include "sotto/audit/selection_law.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace sotto::audit::selection_law_test {

// Permute and flip as it is defined: all orders, every flip.
double by_enumeration(const std::vector<double>& scores, std::size_t chosen) {
  const double best = *std::ranges::max_element(scores);
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  double sum = 0, orders = 0;
  do {
    double reached = 1;
    for (const std::size_t i : order) {
      const double keep = std::exp(scores[i] - best);
      if (i == chosen) {
        sum += reached * keep;
        break;
      }
      reached *= 1 - keep;
    }
    ++orders;
  } while (std::ranges::next_permutation(order).found);
  return std::log(sum / orders);
}

TEST(SelectionLaw, OfPermuteAndFlipIsThatOfTheDefinition) {
  for (const std::vector<double>& scores :
       {std::vector<double>{0}, {3, 3}, {1, 0}, {-2, 5, 4.5}, {0, -30, 0, -0.1}, {7, 1, 3, 2, 6.9}})
    for (std::size_t i = 0; i < scores.size(); ++i)
      EXPECT_NEAR(log_permute_and_flip_law(scores, i), by_enumeration(scores, i), 1e-9);
}

TEST(SelectionLaw, AddsUpToOneAmongManyCandidates) {
  for (const std::size_t k : {1u, 10u, 500u, 20000u}) {
    const std::vector<double> alike(k, -4.0);
    EXPECT_NEAR(log_permute_and_flip_law(alike, k / 2), -std::log(static_cast<double>(k)), 1e-9);
    EXPECT_NEAR(log_exponential_law(alike, k / 2), -std::log(static_cast<double>(k)), 1e-9);
    if (k > 500) continue;
    std::vector<double> scores(k);
    for (std::size_t i = 0; i < k; ++i) scores[i] = std::sin(static_cast<double>(i)) * 3;
    double flip = 0, exponential = 0;
    for (std::size_t i = 0; i < k; ++i) {
      flip += std::exp(log_permute_and_flip_law(scores, i));
      exponential += std::exp(log_exponential_law(scores, i));
    }
    EXPECT_NEAR(flip, 1, 1e-9);
    EXPECT_NEAR(exponential, 1, 1e-12);
  }
}

}  // namespace sotto::audit::selection_law_test
