// Detail: the inner loops of CodedRows. Tables are read and written in the order of the columns of
// a record, so that no addition waits for the one before it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sotto::detail {

// margins[i] = Σ_c table[codes[i·columns + c]] for i < count.
void code_margins(const std::uint16_t* codes, std::size_t count, std::size_t columns,
                  const double* table, double* margins);
// sums[codes[i·columns + c]] += slopes[i], a whole number.
void add_by_code(const std::uint16_t* codes, std::size_t count, std::size_t columns,
                 const double* slopes, std::int64_t* sums);
// counts[first[pair] + own[a]·sizes[b] + own[b]] += 1 for all pairs a ≤ b in their order.
void count_pairs(const std::uint32_t* own, const std::uint32_t* sizes, const std::uint32_t* first,
                 std::size_t columns, std::uint32_t* counts);
// Well mixed bits of a record, a function of its codes alone.
std::uint64_t hash_of_codes(const std::uint16_t* codes, std::size_t columns);

}  // namespace sotto::detail
