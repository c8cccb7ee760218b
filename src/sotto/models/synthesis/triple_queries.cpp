#include "sotto/models/synthesis/detail/triple_queries.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sotto/models/synthesis/detail/pair_queries.hpp"
#include "sotto/models/synthesis/detail/synthesis_design.hpp"

namespace sotto {
namespace {

constexpr std::size_t kTripleCellsAtOnce = 1 << 20;  // of the triples counted in one pass
constexpr std::int64_t kShareSteps = 1 << 10;        // of all records

constexpr double kRare = 0.05;  // of all records: less makes no group, it would only raise B

// Neighbouring levels of a number with about equal shares of the records in each group.
std::vector<std::uint32_t> groups_of_numbers(const std::vector<double>& share, std::uint32_t most) {
  std::vector<std::uint32_t> group(share.size());
  if (share.size() <= most) {
    std::iota(group.begin(), group.end(), 0u);
    return group;
  }
  double before = 0;
  std::uint32_t last = 0;
  for (std::size_t l = 0; l < share.size(); ++l) {
    const double middle = before + share[l] / 2;
    const auto wanted = static_cast<std::uint32_t>(std::clamp(middle, 0.0, 1.0) * most);
    // Groups follow each other without a gap.
    if (l > 0) last = std::min({last + 1, std::max(last, wanted), most - 1});
    group[l] = last;
    before += share[l];
  }
  return group;
}

// The commonest values of a category, and all others, if these are not rare together.
std::vector<std::uint32_t> groups_of_categories(const std::vector<double>& share,
                                                std::uint32_t most) {
  std::vector<std::size_t> order(share.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return share[a] > share[b]; });
  std::uint32_t alone = 0;
  double others = 1;
  while (alone < order.size() && alone < most && share[order[alone]] >= kRare)
    others -= share[order[alone++]];
  if (alone == most && alone < order.size()) others += share[order[--alone]];
  const std::uint32_t rest = others < kRare && alone > 0 ? alone - 1 : alone;
  std::vector<std::uint32_t> group(share.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    group[order[i]] = std::min(static_cast<std::uint32_t>(i), i < alone ? alone : rest);
  return group;
}

}  // namespace

TripleQueries::TripleQueries(const CellColumns& columns, const SynthesisModel& model,
                             std::uint32_t groups)
    : columns_(columns), model_(model) {
  for (std::size_t j = 0; j < columns.columns(); ++j) {
    const std::vector<double> p = level_shares(model.measured[j], model.total);
    group_.push_back(columns.is_numeric(j) ? groups_of_numbers(p, groups)
                                           : groups_of_categories(p, groups));
    std::vector<double>& share = share_.emplace_back(
        *std::max_element(group_.back().begin(), group_.back().end()) + std::size_t{1});
    for (std::size_t l = 0; l < p.size(); ++l) share[group_.back()[l]] += p[l];
    std::vector<std::int64_t>& steps = steps_.emplace_back();
    for (const double x : share)
      steps.push_back(static_cast<std::int64_t>(x * kShareSteps * (1 - 0x1p-30)));
  }
}

std::vector<ColumnTriple> TripleQueries::all() const {
  std::vector<ColumnTriple> made;
  if (!columns_.target()) return made;
  const auto target = static_cast<std::uint32_t>(*columns_.target());
  for (std::uint32_t a = 0; a < columns_.columns(); ++a) {
    for (std::uint32_t b = a + 1; b < columns_.columns(); ++b) {
      if (a == target || b == target) continue;
      ColumnTriple triple = {a, b, target};
      std::sort(triple.begin(), triple.end());
      made.push_back(triple);
    }
  }
  return made;
}

LevelGrouping TripleQueries::groups(const ColumnTriple& triple) const {
  return {group_[triple[0]], group_[triple[1]], group_[triple[2]]};
}

std::size_t TripleQueries::cells(const ColumnTriple& triple) const {
  return share_[triple[0]].size() * share_[triple[1]].size() * share_[triple[2]].size();
}

// visit(triple, its counts), as many triples in one pass as kTripleCellsAtOnce allows.
template <class Visit>
void TripleQueries::count(Source& source, std::span<const ColumnTriple> triples,
                          Visit&& visit) const {
  for (std::size_t first = 0, last = 0; first < triples.size(); first = last) {
    std::vector<std::size_t> offset;
    std::size_t size = 0;
    for (last = first; last < triples.size(); ++last) {
      if (last > first && size + cells(triples[last]) > kTripleCellsAtOnce) break;
      offset.push_back(size);
      size += cells(triples[last]);
    }
    const auto add = [&](const Table& block, std::span<int128> total) {
      std::vector<std::uint32_t> read(columns_.columns());
      for (std::size_t i = 0; i < block.rows(); ++i) {
        if (block.is_null(i)) continue;
        columns_.read(block, i, read);
        for (std::size_t j = 0; j < read.size(); ++j)
          read[j] = group_[j][model_.columns[j].level[read[j]]];
        for (std::size_t t = first; t < last; ++t) {
          const auto [a, b, c] = triples[t];
          total[offset[t - first] + (read[a] * share_[b].size() + read[b]) * share_[c].size() +
                read[c]] += 1;
        }
      }
    };
    const std::vector<int128> counts = source.sum(size, add);
    for (std::size_t t = first; t < last; ++t)
      visit(triples[t], std::span(counts).subspan(offset[t - first], cells(triples[t])));
  }
}

std::vector<int128> TripleQueries::counts(Source& source,
                                          std::span<const ColumnTriple> triples) const {
  std::vector<int128> all;
  count(source, triples, [&](const ColumnTriple&, std::span<const int128> counts) {
    all.insert(all.end(), counts.begin(), counts.end());
  });
  return all;
}

std::int64_t TripleQueries::farthest(std::size_t column) const {
  const auto least = *std::min_element(steps_[column].begin(), steps_[column].end());
  return 2 * (kShareSteps - least);
}

double TripleQueries::scale(const ColumnTriple& triple) const {
  double scale = 1;
  for (const std::uint32_t j : triple)
    scale *= static_cast<double>(farthest(j)) / static_cast<double>(kShareSteps);
  return scale;
}

std::vector<int128> TripleQueries::together(Source& source,
                                            std::span<const ColumnTriple> triples) const {
  std::vector<int128> all;
  count(source, triples, [&](const ColumnTriple& triple, std::span<const int128> counts) {
    // A column of one group says nothing.
    if (std::any_of(triple.begin(), triple.end(),
                    [&](std::uint32_t j) { return share_[j].size() < 2; })) {
      all.push_back(0);
      return;
    }
    std::vector<int128> rest(counts.begin(), counts.end());
    std::size_t inner = rest.size();
    int128 most = 1;
    for (const std::uint32_t j : triple) {
      const std::vector<std::int64_t>& p = steps_[j];
      const std::size_t block = inner;
      inner /= p.size();
      for (std::size_t from = 0; from < rest.size(); from += block) {
        for (std::size_t i = 0; i < inner; ++i) {
          int128 sum = 0;
          for (std::size_t g = 0; g < p.size(); ++g) sum += rest[from + g * inner + i];
          for (std::size_t g = 0; g < p.size(); ++g) {
            int128& x = rest[from + g * inner + i];
            x = x * kShareSteps - sum * p[g];
          }
        }
      }
      most *= farthest(j);
    }
    int128 score = 0;
    for (const int128 x : rest) score += x < 0 ? -x : x;
    all.push_back(score * kScoreSteps / most);
  });
  return all;
}

double less_public_part(int128 steps, double public_part) {
  constexpr double kMost = 0x1p42;  // records: 2^52 steps
  const double taken = public_part > 0 ? std::min(public_part, kMost) : 0;
  return static_cast<double>(steps - std::llround(taken * kScoreSteps)) / kScoreSteps;
}

}  // namespace sotto
