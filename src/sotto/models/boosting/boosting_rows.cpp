#include "sotto/models/boosting/detail/boosting_rows.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "sotto/core/parallel.hpp"

namespace sotto {
namespace {

constexpr std::size_t kBlockRows = 8192;
constexpr double kSteps = 1 / BoostingRows::kUnit;

// Trees as tables, to find leaves quickly.
struct Leaves {
  struct Lookup {
    std::uint32_t column;
    GridTree::Table table;
  };
  std::vector<Lookup> lookups;
  std::vector<std::size_t> end;  // of each tree's lookups

  explicit Leaves(std::span<const GridTree> trees) {
    for (const GridTree& tree : trees) {
      const std::vector<GridTree::Table> tables = tree.tables();
      for (std::size_t c = 0; c < tables.size(); ++c)
        lookups.push_back({tree.columns[c], tables[c]});
      end.push_back(lookups.size());
    }
  }
  // visit(tree, leaf) for each tree.
  template <class Visit>
  void of(const std::uint8_t* places, Visit&& visit) const {
    std::size_t at = 0;
    for (std::size_t t = 0; t < end.size(); ++t) {
      std::size_t leaf = 0;
      for (; at < end[t]; ++at) leaf += lookups[at].table[places[lookups[at].column]];
      visit(t, leaf);
    }
  }
};

// Scales residuals down to norm 1 and truncates them to whole steps.
void to_grid(std::span<double> residuals) {
  double square = 0;
  for (double& r : residuals) {
    if (!std::isfinite(r)) r = 0;
    square += r * r;
  }
  const double factor = square > 1 ? kSteps / std::sqrt(square) * (1 - 0x1p-40) : kSteps;
  for (double& r : residuals) r = std::trunc(r * factor);
}

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
        places_[i * columns_ + j] = place_of(scales[j], cells[j]);
    }
  });
}

std::vector<int128> BoostingRows::sums(std::span<const GridTree> trees, std::size_t leaves,
                                       MarginLoss loss, double clip, unsigned threads) const {
  const Leaves of(trees);
  const std::size_t width = margins_of_ + 1;
  std::vector<std::int64_t> total(trees.size() * leaves * width);
  std::mutex mutex;
  parallel_blocks((size() + kBlockRows - 1) / kBlockRows, threads, [&](std::size_t b, unsigned) {
    std::vector<std::int64_t> part(total.size());
    std::vector<double> r(margins_of_);
    std::vector<std::int64_t> own(width);
    const std::size_t first = b * kBlockRows, end = std::min(size(), first + kBlockRows);
    for (std::size_t i = first; i < end; ++i) {
      const double curvature =
          residuals(loss, clip, std::span(margins_).subspan(i * margins_of_, margins_of_),
                    records_->target(i), r);
      to_grid(r);
      for (std::size_t k = 0; k < margins_of_; ++k) own[k] = static_cast<std::int64_t>(r[k]);
      const double weight = kWeight * kSteps * std::clamp(curvature, 0.0, 1.0);
      own[margins_of_] = std::isfinite(weight) ? static_cast<std::int64_t>(weight) : 0;
      of.of(places_.data() + i * columns_, [&](std::size_t t, std::size_t leaf) {
        std::int64_t* const to = part.data() + (t * leaves + leaf) * width;
        for (std::size_t k = 0; k < width; ++k) to[k] += own[k];
      });
    }
    const std::lock_guard lock(mutex);
    for (std::size_t i = 0; i < total.size(); ++i) total[i] += part[i];
  });
  return {total.begin(), total.end()};
}

void BoostingRows::apply(std::span<const GridTree> trees, unsigned threads) {
  const Leaves of(trees);
  parallel_blocks((size() + kBlockRows - 1) / kBlockRows, threads, [&](std::size_t b, unsigned) {
    const std::size_t first = b * kBlockRows, end = std::min(size(), first + kBlockRows);
    for (std::size_t i = first; i < end; ++i) {
      double* const margins = margins_.data() + i * margins_of_;
      of.of(places_.data() + i * columns_, [&](std::size_t t, std::size_t leaf) {
        const double* const values = trees[t].values.data() + leaf * margins_of_;
        for (std::size_t k = 0; k < margins_of_; ++k) margins[k] += values[k];
      });
    }
  });
}

int128 BoostingRows::parts_of_reach(double reach, unsigned threads) const {
  std::mutex mutex;
  int128 total = 0;
  parallel_blocks((size() + kBlockRows - 1) / kBlockRows, threads, [&](std::size_t b, unsigned) {
    const std::size_t first = b * kBlockRows, end = std::min(size(), first + kBlockRows);
    std::int64_t part = 0;
    for (std::size_t i = first; i < end; ++i) {
      const double f = part_of_reach(margins_[i * margins_of_], records_->target(i), reach);
      if (f > 0) part += static_cast<std::int64_t>(std::min(f, 1.0) * kSteps);
    }
    const std::lock_guard lock(mutex);
    total += part;
  });
  return total;
}

}  // namespace sotto
