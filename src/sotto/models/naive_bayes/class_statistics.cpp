#include "sotto/models/naive_bayes/detail/class_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sotto {
namespace {

constexpr std::int64_t kUnit = std::int64_t{1} << 20;  // steps of a contribution of 1

// Never beyond ±kUnit, whatever the cell was.
std::int64_t steps(double x) {
  return std::llround(std::clamp(x, -1.0, 1.0) * static_cast<double>(kUnit));
}

double up(double x) { return std::nextafter(x, std::numeric_limits<double>::infinity()); }

}  // namespace

ClassStatistics::ClassStatistics(const Encoder& encoder, std::size_t classes)
    : classes_(classes),
      width_(encoder.width()),
      unit_scaling_(encoder.schema().scaling == Scaling::unit) {
  for (std::size_t f = 0; f < encoder.features().size(); ++f) {
    const ColumnEncoder& column = encoder.features()[f];
    if (column.is_categorical()) {
      ++hot_;
    } else if (column.is_numeric()) {
      dense_.push_back({encoder.run(f).first, numeric_++});
    } else {
      dense_.push_back({encoder.run(f).first, kBoolean});
      ++booleans_;
    }
  }
  block_ = 1 + width_ + numeric_;
}

Distance ClassStatistics::distance(Relation relation, std::uint64_t contributions) const {
  const double m = static_cast<double>(hot_), b = static_cast<double>(booleans_),
               g = static_cast<double>(numeric_);
  double l1 = 1 + m + b / 2 + 1.5 * g, square = 1 + m + b / 4 + 1.25 * g;
  if (relation == Relation::replace_one) {
    l1 *= 2;
    // x² is rounded down to a step: less than 2^−18 of the 4.
    square = std::max(2 * square, 2 * m + b + 4 * g * (1 + 0x1p-18));
  }
  const double scale = static_cast<double>(kUnit) * static_cast<double>(contributions);
  return {.l1 = up(l1 * scale), .l2 = up(up(std::sqrt(up(square))) * scale)};
}

void ClassStatistics::add(const Table& table, std::span<int128> sums) const {
  // 64 bits hold the sums of a block: a contribution is at most 2^20.
  std::vector<std::int64_t> local(size());
  for (std::size_t i = 0; i < table.rows(); ++i) {
    if (table.is_null(i)) continue;
    const double target = table.targets()[i];
    if (!(target >= 0 && target < static_cast<double>(classes_))) continue;
    const auto c = static_cast<std::size_t>(target);
    std::int64_t* const block = local.data() + c * block_;
    block[0] += kUnit;
    for (const std::uint32_t coordinate : table.hot(i)) block[1 + coordinate] += kUnit;
    const std::span<const double> dense = table.dense(i);
    for (std::size_t d = 0; d < dense_.size(); ++d) {
      const Dense& column = dense_[d];
      if (column.numeric == kBoolean) {
        block[1 + column.coordinate] += steps(dense[d] - 0.5);
        continue;
      }
      const std::int64_t x = steps(unit_scaling_ ? 2 * dense[d] - 1 : dense[d]);
      block[1 + column.coordinate] += x;
      block[1 + width_ + column.numeric] += (x * x >> 20) - kUnit / 2;
    }
  }
  for (std::size_t i = 0; i < local.size(); ++i) sums[i] += local[i];
}

}  // namespace sotto
