#include "sotto/models/linear/detail/coded_kernels.hpp"

#include <cstring>

namespace sotto::detail {

void code_margins(const std::uint16_t* codes, std::size_t count, std::size_t columns,
                  const double* table, double* margins) {
  for (std::size_t i = 0; i < count; ++i, codes += columns) {
    double even = 0, odd = 0;
    std::size_t c = 0;
    for (; c + 1 < columns; c += 2) {
      even += table[codes[c]];
      odd += table[codes[c + 1]];
    }
    if (c < columns) even += table[codes[c]];
    margins[i] = even + odd;
  }
}

void add_by_code(const std::uint16_t* codes, std::size_t count, std::size_t columns,
                 const double* slopes, std::int64_t* sums) {
  for (std::size_t i = 0; i < count; ++i, codes += columns) {
    const auto slope = static_cast<std::int64_t>(slopes[i]);
    for (std::size_t c = 0; c < columns; ++c) sums[codes[c]] += slope;
  }
}

void count_pairs(const std::uint32_t* own, const std::uint32_t* sizes, const std::uint32_t* first,
                 std::size_t columns, std::uint32_t* counts) {
  for (std::size_t a = 0; a < columns; ++a) {
    const std::uint32_t left = own[a];
    for (std::size_t b = a; b < columns; ++b) ++counts[*first++ + left * sizes[b] + own[b]];
  }
}

std::uint64_t hash_of_codes(const std::uint16_t* codes, std::size_t columns) {
  std::uint64_t hash = 0;
  for (std::size_t c = 0; c < columns; c += 4) {  // four codes of 16 bits at a time
    std::uint64_t four = 0;
    std::memcpy(&four, codes + c, sizeof(*codes) * (columns - c < 4 ? columns - c : 4));
    hash = (hash ^ four) * 0xff51afd7ed558ccd;
    hash ^= hash >> 32;
  }
  hash *= 0xc4ceb9fe1a85ec53;
  return hash ^ (hash >> 33);
}

}  // namespace sotto::detail
