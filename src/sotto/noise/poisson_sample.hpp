// Poisson sampling: every record is drawn by a coin of its own.
//
// What       The numbers of the records drawn, in ascending order.
// Guarantee  Coins are independent and come up with probability ≤ rate, less than 2^−64 below it.
// Method     A word below ⌊rate·2^64⌋. One word for each record, whatever the outcome.
// Numerics   The probability is rounded down, which costs no privacy: less is drawn than accounted.
// Reference  [ACGMMTZ16].
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace sotto {

// next(): 64 random bits. A rate of 1 or more draws every record and no word.
template <class Index, class Next>
void poisson_sample(std::uint64_t records, double rate, Next&& next, std::vector<Index>& numbers) {
  numbers.clear();
  const bool all = rate >= 1;
  const auto threshold = all ? 0 : static_cast<std::uint64_t>(std::ldexp(rate, 64));
  for (std::uint64_t i = 0; i < records; ++i)
    if (all || next() < threshold) numbers.push_back(static_cast<Index>(i));
}

}  // namespace sotto
