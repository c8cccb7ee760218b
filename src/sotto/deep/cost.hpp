// Which way to a per-sample norm is cheapest for a layer and a batch shape.
//
// What       For g_i = Σ_t b_it a_itᵀ there are three ways to ‖g_i‖: the ghost norm (two symmetric
//            Gram matrices, T²(d + p)/2 products), writing g_i out and keeping it for the weighted
//            sum (T·d·p products, d·p floats of memory for each record), or writing it out and
//            forgetting it. Ghost norms and forgetting need one more product of the size of the
//            weight's ordinary gradient.
// Method     Count multiplications and bytes; take the smallest of those that fit the memory
//            allowance.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sotto::deep {

enum class NormWay { ghost, keep, forget };

struct OuterShape {
  std::int64_t records, terms, inputs, outputs;  // B, T, d, p
};

// What a norm may take, and what follows it.
struct NormRoom {
  std::size_t memory;  // bytes for gradients written out; what is taken is subtracted
  // The weighted sum will be formed in double: a product costs more, a kept gradient does not.
  bool double_sums = false;
  // The most rows that a batch may have, a public number: which way is taken must not depend on how
  // many there are, since ways differ in what they round and charge. 0: batches have one public
  // size.
  std::int64_t rows = 0;
  std::int64_t rows_for(std::int64_t actual) const { return rows > 0 ? rows : actual; }
  void take(std::int64_t records, std::size_t bytes_of_one) {
    const auto bytes = static_cast<std::size_t>(rows_for(records)) * bytes_of_one;
    memory -= bytes < memory ? bytes : memory;
  }
  std::int64_t terms = 1;  // out: of the longest sum in a record's gradient that is not kept
};

NormWay cheapest_norm(const OuterShape& shape, const NormRoom& room);

}  // namespace sotto::deep
