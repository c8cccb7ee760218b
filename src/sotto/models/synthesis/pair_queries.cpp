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

const std::vector<double>& PairQueries::trend(const ColumnPair& pair) const {
  static const std::vector<double> none;
  if (trends_.empty() || !with_target(pair)) return none;
  return trends_[columns_.target() == pair.first ? pair.second : pair.first];
}

std::vector<double> PairQueries::expected(const ColumnPair& pair) const {
  return has_trend(pair) ? trend(pair) : product(pair);
}

std::vector<ColumnPair> PairQueries::with_trend() const {
  std::vector<ColumnPair> made;
  for (std::uint32_t j = 0; j < trends_.size(); ++j) {
    const auto target = static_cast<std::uint32_t>(*columns_.target());
    if (!trends_[j].empty()) made.emplace_back(std::min(j, target), std::max(j, target));
  }
  return made;
}

double PairQueries::trend_apart(const ColumnPair& pair) const {
  const std::vector<double> own = product(pair), all = expected(pair);
  double sum = 0;
  for (std::size_t i = 0; i < own.size(); ++i) sum += model_.total * std::abs(all[i] - own[i]);
  return sum;
}

std::vector<double> PairQueries::ratio(const ColumnPair& pair) const {
  if (!has_trend(pair)) return {};
  std::vector<double> made = trend(pair);
  const std::vector<double> own = product(pair);
  for (std::size_t i = 0; i < own.size(); ++i) made[i] /= own[i];
  return made;
}

std::vector<double> PairQueries::product(const ColumnPair& pair) const {
  std::vector<double> made;
  const std::vector<double> second = level_shares(model_.measured[pair.second], model_.total);
  for (const double p : level_shares(model_.measured[pair.first], model_.total))
    for (const double q : second) made.push_back(p * q);
  return made;
}

std::vector<int128> PairQueries::apart(Source& source, std::span<const ColumnPair> pairs) const {
  std::vector<int128> all;
  count(source, pairs, [&](const ColumnPair& pair, std::span<const int128> counts) {
    int128 score = 0;
    std::size_t at = 0;
    for (const double share : expected(pair)) {
      const int128 records = std::llround(std::min(model_.total * share, 0x1p50) * kScoreSteps);
      score += far(counts[at++] * kScoreSteps - records);
    }
    all.push_back(score);
  });
  return all;
}

std::vector<int128> PairQueries::from_target(Source& source,
                                             std::span<const ColumnPair> pairs) const {
  const auto target = static_cast<std::uint32_t>(*columns_.target());
  const std::size_t levels = model_.columns[target].levels;
  std::vector<int128> all;
  count(source, pairs, [&](const ColumnPair& pair, std::span<const int128> counts) {
    const bool second = pair.second == target;
    const std::size_t others = counts.size() / levels, width = second ? levels : others;
    const std::vector<double> expected = this->expected(pair);
    int128 score = 0;
    for (std::size_t i = 0; i < others; ++i) {
      const auto at = [&](std::size_t c) { return second ? i * width + c : c * width + i; };
      int128 row = 0;
      double sum = 0;
      for (std::size_t c = 0; c < levels; ++c) row += counts[at(c)], sum += expected[at(c)];
      for (std::size_t c = 0; c < levels; ++c) {
        // Steps, rounded down: together at most 1.
        const double share = expected[at(c)] / sum;
        const auto p = share >= 0 && share <= 1
                           ? static_cast<std::int64_t>(share * kScoreSteps * (1 - 0x1p-30))
                           : 0;
        score += far(counts[at(c)] * kScoreSteps - row * p);
      }
    }
    all.push_back(score);
  });
  return all;
}

}  // namespace sotto
