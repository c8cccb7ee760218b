#include "sotto/models/kernel/detail/noisy_marginals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace sotto {
namespace {

constexpr std::int64_t kUnit = std::int64_t{1} << 20;
constexpr double kGranularity = 0x1p-20;
constexpr double kFromImportance = 0.7;

LatticeNoise noise_of(const BinnedColumns& columns, Relation relation, std::uint64_t contributions,
                      bool labels, double rho) {
  const double square = static_cast<double>(columns.columns()) * (labels ? 2 : 1) *
                        (relation == Relation::replace_one ? 2 : 1);
  const double steps =
      std::nextafter(std::nextafter(std::sqrt(square), std::numeric_limits<double>::infinity()) *
                         static_cast<double>(kUnit) * static_cast<double>(contributions),
                     std::numeric_limits<double>::infinity());
  return {relation,
          Budget::zcdp(rho),
          kGranularity,
          {.l1 = steps, .l2 = steps},
          columns.size() * (labels ? 2 : 1)};
}

}  // namespace

std::vector<double> drawing_shares(const std::vector<ColumnScale>& columns) {
  const double d = static_cast<double>(columns.size());
  double total = 0;
  std::vector<double> p;
  for (const ColumnScale& column : columns) {
    p.push_back(std::sqrt(std::sqrt(column.importance)));
    total += p.back();
  }
  for (double& x : p)
    x = total > 0 ? kFromImportance * x / total + (1 - kFromImportance) / d : 1 / d;
  return p;
}

MarginalsPlan::MarginalsPlan(const BinnedColumns& columns, Relation relation,
                             std::uint64_t contributions, bool labels, double rho)
    : columns_(columns),
      labels_(labels),
      noise_(noise_of(columns, relation, contributions, labels, rho)) {}

Release<std::vector<ColumnScale>> MarginalsPlan::run(const BinnedRows& records,
                                                     double (*label_of)(double), Rng& rng) const {
  const std::vector<int128> sums =
      records.sum(noise_.dimension(), [&](std::size_t row, auto cells, auto total) {
        const double y = std::clamp(label_of(static_cast<double>(records.target(row))), -1.0, 1.0);
        const auto label = std::llround(y * static_cast<double>(kUnit));
        for (std::size_t j = 0; j < cells.size(); ++j) {
          const std::size_t at = columns_.offset(j) + cells[j].level;
          total[at] += kUnit;
          if (labels_) total[columns_.size() + at] += label;
        }
      });
  return {scales(noise_.add(sums, rng)), *this};
}

std::vector<ColumnScale> MarginalsPlan::scales(const std::vector<int128>& noisy) const {
  const double sigma = noise_.scale();
  std::vector<ColumnScale> result(columns_.columns());
  for (std::size_t j = 0; j < result.size(); ++j) {
    ColumnScale& scale = result[j];
    const std::size_t levels = columns_.levels(j), offset = columns_.offset(j);
    std::vector<double> count(levels), label(levels);
    double records = 0, labels = 0;
    for (std::size_t l = 0; l < levels; ++l) {
      const double c = static_cast<double>(noisy[offset + l]) * kGranularity;
      count[l] = c < sigma ? 0 : c;
      records += count[l];
      if (!labels_) continue;
      label[l] = static_cast<double>(noisy[columns_.size() + offset + l]) * kGranularity;
      labels += label[l];
    }
    // Nothing but noise: all levels alike.
    if (records <= 0) {
      std::fill(count.begin(), count.end(), 1.0);
      records = static_cast<double>(levels);
    }
    const double mean = std::clamp(labels / records, -1.0, 1.0);

    scale.share.resize(levels);
    for (std::size_t l = 0; l < levels; ++l) {
      scale.share[l] = count[l] / records;
      if (!labels_ || count[l] <= 0) continue;
      // E of the square of the noise of label − mean·count, per record of the level.
      const double excess = label[l] - mean * count[l];
      scale.importance +=
          (excess * excess - sigma * sigma * (1 + mean * mean)) / (count[l] * records);
    }
    scale.importance = std::max(0.0, scale.importance);

    std::vector<std::size_t> order(levels);
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (labels_ && !columns_.is_numeric(j)) {
      const auto shrunken = [&](std::size_t l) {
        return (label[l] + sigma * mean) / (std::max(0.0, count[l]) + sigma);
      };
      std::stable_sort(order.begin(), order.end(),
                       [&](std::size_t a, std::size_t b) { return shrunken(a) < shrunken(b); });
    }
    double roots = 0, before = 0;
    for (const double c : count) roots += std::sqrt(c);
    scale.start.resize(levels);
    scale.width.resize(levels);
    for (const std::size_t l : order) {
      scale.start[l] = before / roots;
      scale.width[l] = std::sqrt(count[l]) / roots;
      before += std::sqrt(count[l]);
    }
  }
  return result;
}

}  // namespace sotto
