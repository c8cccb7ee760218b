// Systematic sampling: records with the same key spread over cells as evenly as whole numbers
// allow. Each record alone has exactly the given probabilities; m records put between ⌊m·p⌋ and
// ⌈m·p⌉ + 1 of them into a run of cells with probability p.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "sotto/core/rng.hpp"
#include "sotto/noise/uniform.hpp"

namespace sotto {

// probabilities: keys × cells, not necessarily adding up to 1; a key whose are all 0 gets equal
// ones. chosen(record, cell) is called once for each record.
inline void spread_evenly(std::span<const std::uint32_t> key, std::size_t keys,
                          std::span<const double> probabilities, std::size_t cells, Rng& rng,
                          const std::function<void(std::size_t, std::size_t)>& chosen) {
  std::vector<std::size_t> start(keys + 1);
  for (const std::uint32_t k : key) ++start[k + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<std::size_t> order(key.size()), next(start.begin(), start.end() - 1);
  for (std::size_t r = 0; r < key.size(); ++r) order[next[key[r]]++] = r;
  for (std::size_t k = 0; k < keys; ++k) {
    const std::span<std::size_t> records(order.data() + start[k], start[k + 1] - start[k]);
    if (records.empty()) continue;
    for (std::size_t i = records.size(); i > 1; --i)
      std::swap(records[i - 1], records[uniform_below(rng, i)]);
    const std::span<const double> p = probabilities.subspan(k * cells, cells);
    const double total = std::accumulate(p.begin(), p.end(), 0.0);
    const auto share = [&](std::size_t c) {
      return total > 0 ? p[c] / total : 1 / static_cast<double>(cells);
    };
    const double count = static_cast<double>(records.size());
    double ahead = static_cast<double>(rng.next_u64() >> 11) * 0x1p-53, sum = 0;
    std::size_t cell = 0, last = 0;  // last: of a positive probability
    for (std::size_t i = 0; i < records.size(); ++i) {
      const double at = ahead + static_cast<double>(i);
      while (cell < cells && (sum + share(cell)) * count <= at) {
        if (share(cell) > 0) last = cell;
        sum += share(cell++);
      }
      chosen(records[i], cell < cells ? cell : last);
    }
  }
}

}  // namespace sotto
