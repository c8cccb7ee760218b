#include "sotto/models/synthesis/detail/pair_queries.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sotto/models/synthesis/detail/synthesis_design.hpp"

namespace sotto {
namespace {

constexpr std::size_t kCellsAtOnce = 1 << 20;  // of the pairs counted in one pass

int128 far(int128 difference) { return difference < 0 ? -difference : difference; }

}  // namespace

std::vector<double> level_shares(const Marginal& marginal, double total) {
  std::vector<double> p;
  for (const double count : marginal.counts)
    p.push_back(std::max(count, 1e-3 * total / static_cast<double>(marginal.counts.size())));
  const double sum = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& x : p) x /= sum;
  return p;
}

// visit(pair, its counts), as many pairs in one pass as kCellsAtOnce allows.
template <class Visit>
void PairQueries::count(Source& source, std::span<const ColumnPair> pairs, Visit&& visit) const {
  for (std::size_t first = 0, last = 0; first < pairs.size(); first = last) {
    std::vector<std::size_t> offset;
    std::size_t size = 0;
    for (last = first; last < pairs.size(); ++last) {
      if (last > first && size + cells(pairs[last]) > kCellsAtOnce) break;
      offset.push_back(size);
      size += cells(pairs[last]);
    }
    const auto add = [&](const Table& block, std::span<int128> total) {
      std::vector<std::uint32_t> read(columns_.columns());
      for (std::size_t i = 0; i < block.rows(); ++i) {
        if (block.is_null(i)) continue;
        columns_.read(block, i, read);
        for (std::size_t j = 0; j < read.size(); ++j) read[j] = model_.columns[j].level[read[j]];
        for (std::size_t p = first; p < last; ++p)
          total[offset[p - first] +
                std::size_t{read[pairs[p].first]} * model_.columns[pairs[p].second].levels +
                read[pairs[p].second]] += 1;
      }
    };
    const std::vector<int128> counts = source.sum(size, add);
    for (std::size_t p = first; p < last; ++p)
      visit(pairs[p], std::span(counts).subspan(offset[p - first], cells(pairs[p])));
  }
}

std::vector<int128> PairQueries::counts(Source& source, std::span<const ColumnPair> pairs) const {
  std::vector<int128> all;
  count(source, pairs, [&](const ColumnPair&, std::span<const int128> counts) {
    all.insert(all.end(), counts.begin(), counts.end());
  });
  return all;
}

std::vector<int128> PairQueries::apart(Source& source, std::span<const ColumnPair> pairs) const {
  std::vector<std::vector<double>> share(columns_.columns());
  for (std::size_t j = 0; j < share.size(); ++j)
    share[j] = level_shares(model_.measured[j], model_.total);
  std::vector<int128> all;
  count(source, pairs, [&](const ColumnPair& pair, std::span<const int128> counts) {
    int128 score = 0;
    std::size_t at = 0;
    for (const double p : share[pair.first]) {
      for (const double q : share[pair.second]) {
        const int128 expected = std::llround(std::min(model_.total * p * q, 0x1p50) * kScoreSteps);
        score += far(counts[at++] * kScoreSteps - expected);
      }
    }
    all.push_back(score);
  });
  return all;
}

std::vector<int128> PairQueries::from_target(Source& source,
                                             std::span<const ColumnPair> pairs) const {
  const std::uint32_t target = static_cast<std::uint32_t>(*columns_.target());
  std::vector<std::int64_t> p;  // steps, rounded down: together at most 1
  for (const double x : level_shares(model_.measured[target], model_.total))
    p.push_back(static_cast<std::int64_t>(x * kScoreSteps * (1 - 0x1p-30)));
  std::vector<int128> all;
  count(source, pairs, [&](const ColumnPair& pair, std::span<const int128> counts) {
    const bool second = pair.second == target;
    const std::size_t others = counts.size() / p.size(), width = second ? p.size() : others;
    int128 score = 0;
    for (std::size_t i = 0; i < others; ++i) {
      const auto count = [&](std::size_t c) {
        return counts[second ? i * width + c : c * width + i];
      };
      int128 row = 0;
      for (std::size_t c = 0; c < p.size(); ++c) row += count(c);
      for (std::size_t c = 0; c < p.size(); ++c) score += far(count(c) * kScoreSteps - row * p[c]);
    }
    all.push_back(score);
  });
  return all;
}

}  // namespace sotto
