// Detail: where a binomial number lies but for a probability of kTail on each side.
#pragma once

#include <cstdint>

namespace sotto {

inline constexpr double kTail = 1e-40;

struct BinomialWindow {
  std::uint64_t low, high;
};
// By the Chernoff bound exp(−n KL(k/n ‖ p)); 0 ≤ p ≤ 1.
BinomialWindow binomial_window(std::uint64_t n, double p);

}  // namespace sotto
