#include "sotto/models/boosting/detail/boosting_rows.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "sotto/core/parallel.hpp"

namespace sotto {
namespace {

constexpr double kSteps = 1 / BoostingRows::kUnit;
static_assert(kSteps == 1 << kResidualBits);

bool cut_alike(std::span<const GridTree> a, std::span<const GridTree> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const GridTree& x, const GridTree& y) {
                      return x.columns == y.columns && x.cuts == y.cuts;
                    });
}

// Two sums in one integer: the first in its upper half, the second in its lower, which may borrow.
constexpr std::int64_t kUpper = std::int64_t{1} << 32;
std::int64_t in_one(double upper, double lower) {
  return static_cast<std::int64_t>(upper) * kUpper + static_cast<std::int64_t>(lower);
}
std::int64_t lower_of(std::int64_t both) { return static_cast<std::int32_t>(both); }
std::int64_t upper_of(std::int64_t both) { return (both - lower_of(both)) / kUpper; }

}  // namespace

BoostingRows::BoostingRows(const BinnedRows& records, const std::vector<ColumnScale>& scales,
                           std::size_t margins, std::span<const float> before)
    : records_(&records),
      columns_(scales.size()),
      margins_of_(margins),
      places_(records.size() * columns_),
      margins_(records.size() * margins) {
  std::copy(before.begin(), before.end(), margins_.begin());
  records.for_parts([&](std::size_t first, std::size_t end, unsigned) {
    std::vector<BinnedColumns::Cell> cells(columns_);
    for (std::size_t i = first; i < end; ++i) {
      records.read(i, cells);
      for (std::size_t j = 0; j < columns_; ++j)
        places_[j * size() + i] = place_of(scales[j], cells[j]);
    }
  });
}

template <class F>
void BoostingRows::for_blocks(unsigned threads, const F& f) const {
  parallel_blocks((size() + kBlock - 1) / kBlock, threads, [&](std::size_t b, unsigned) {
    f(b * kBlock, std::min(kBlock, size() - b * kBlock));
  });
}

std::vector<std::vector<GridTree::Table>> BoostingRows::tables_of(std::span<const GridTree> trees) {
  std::vector<std::vector<GridTree::Table>> tables;
  if (cut_alike(trees, found_for_)) return tables;
  for (const GridTree& tree : trees) tables.push_back(tree.tables());
  found_for_.assign(trees.begin(), trees.end());
  found_.resize((size() + kBlock - 1) / kBlock * kBlock * trees.size());
  return tables;
}

const std::uint8_t* BoostingRows::leaves_of(std::span<const GridTree> trees,
                                            const std::vector<std::vector<GridTree::Table>>& tables,
                                            std::size_t first, std::size_t count) {
  std::uint8_t* const leaves = found_.data() + first * trees.size();
  for (std::size_t t = 0; t < tables.size(); ++t) {
    std::uint8_t* const own = leaves + t * kBlock;
    for (std::size_t c = 0; c < tables[t].size(); ++c) {
      const std::uint8_t* const table = tables[t][c].data();
      const std::uint8_t* const places = places_.data() + trees[t].columns[c] * size() + first;
      if (c == 0)
        for (std::size_t i = 0; i < count; ++i) own[i] = table[places[i]];
      else
        for (std::size_t i = 0; i < count; ++i)
          own[i] = static_cast<std::uint8_t>(own[i] + table[places[i]]);
    }
  }
  return leaves;
}

std::vector<int128> BoostingRows::sums(std::span<const GridTree> trees, std::size_t leaves,
                                       MarginLoss loss, double clip, unsigned threads) {
  const std::vector<std::vector<GridTree::Table>> tables = tables_of(trees);
  const std::size_t width = margins_of_ + 1;
  std::vector<std::int64_t> total(trees.size() * leaves * width);
  std::mutex mutex;
  for_blocks(threads, [&](std::size_t first, std::size_t count) {
    std::vector<double> r(count * margins_of_), curvature(count);
    residuals_of_all(loss, clip,
                     std::span(margins_).subspan(first * margins_of_, count * margins_of_),
                     records_->targets(first, count), r, curvature);
    to_residual_steps(r, margins_of_);
    for (double& h : curvature) h = kWeight * std::clamp(h, 0.0, 1.0);
    to_residual_steps(curvature, 1);
    const std::uint8_t* const leaf = leaves_of(trees, tables, first, count);
    std::vector<std::int64_t> part(trees.size() * leaves * width);
    if (margins_of_ == 1) {
      // At most 2^20 steps of each of 2^10 records: a half holds them.
      static_assert(kBlock * (1 << kResidualBits) < kUpper / 2);
      std::vector<std::int64_t> both(count), sum(leaves);
      for (std::size_t i = 0; i < count; ++i) both[i] = in_one(r[i], curvature[i]);
      for (std::size_t t = 0; t < trees.size(); ++t) {
        std::fill(sum.begin(), sum.end(), 0);
        for (std::size_t i = 0; i < count; ++i) sum[leaf[t * kBlock + i]] += both[i];
        for (std::size_t l = 0; l < leaves; ++l) {
          part[(t * leaves + l) * 2] = upper_of(sum[l]);
          part[(t * leaves + l) * 2 + 1] = lower_of(sum[l]);
        }
      }
    } else {
      for (std::size_t t = 0; t < trees.size(); ++t) {
        for (std::size_t i = 0; i < count; ++i) {
          std::int64_t* const to = part.data() + (t * leaves + leaf[t * kBlock + i]) * width;
          for (std::size_t k = 0; k < margins_of_; ++k)
            to[k] += static_cast<std::int64_t>(r[i * margins_of_ + k]);
          to[margins_of_] += static_cast<std::int64_t>(curvature[i]);
        }
      }
    }
    const std::lock_guard lock(mutex);
    for (std::size_t i = 0; i < total.size(); ++i) total[i] += part[i];
  });
  return {total.begin(), total.end()};
}

void BoostingRows::apply(std::span<const GridTree> trees, unsigned threads) {
  const std::vector<std::vector<GridTree::Table>> tables = tables_of(trees);
  for_blocks(threads, [&](std::size_t first, std::size_t count) {
    const std::uint8_t* const leaf = leaves_of(trees, tables, first, count);
    for (std::size_t t = 0; t < trees.size(); ++t) {
      const double* const values = trees[t].values.data();
      double* const margins = margins_.data() + first * margins_of_;
      for (std::size_t i = 0; i < count; ++i)
        for (std::size_t k = 0; k < margins_of_; ++k)
          margins[i * margins_of_ + k] += values[leaf[t * kBlock + i] * margins_of_ + k];
    }
  });
}

int128 BoostingRows::parts_of_reach(double reach, unsigned threads) const {
  std::mutex mutex;
  int128 total = 0;
  for_blocks(threads, [&](std::size_t first, std::size_t count) {
    std::int64_t part = 0;
    for (std::size_t i = first; i < first + count; ++i) {
      const double f = part_of_reach(margins_[i * margins_of_], records_->target(i), reach);
      if (f > 0) part += static_cast<std::int64_t>(std::min(f, 1.0) * kSteps);
    }
    const std::lock_guard lock(mutex);
    total += part;
  });
  return total;
}

}  // namespace sotto
