#include "sotto/models/kernel/detail/binned_columns.hpp"

#include <algorithm>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

constexpr std::size_t kMostLevels = std::size_t{1} << 16;  // as a code holds
constexpr double kColumnSteps = 65536;

}  // namespace

BinnedColumns::BinnedColumns(const Encoder& encoder)
    : unit_scaling_(encoder.schema().scaling == Scaling::unit) {
  for (std::size_t f = 0; f < encoder.features().size(); ++f) {
    const ColumnEncoder& feature = encoder.features()[f];
    const Encoder::Run run = encoder.run(f);
    Column column{Kind::boolean, 3, feature.column().missing == Missing::refuse ? 2U : 3U, size_,
                  static_cast<std::uint32_t>(run.first)};
    if (feature.is_numeric()) {
      column.kind = Kind::numeric;
      column.levels = column.possible = kBins;
    } else if (feature.is_categorical()) {
      column.kind = Kind::categorical;
      if (run.width > kMostLevels)
        throw Unsupported("a column has more than 65536 values", "group its values in the schema");
      column.levels = column.possible = static_cast<std::uint32_t>(run.width);
    }
    size_ += column.levels;
    columns_.push_back(column);
  }
}

void BinnedColumns::read(const Table& table, std::size_t row, std::span<Code> codes) const {
  const std::span<const double> dense = table.dense(row);
  const std::span<const std::uint32_t> hot = table.hot(row);
  std::size_t next_dense = 0, next_hot = 0;
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    const Column& column = columns_[j];
    if (column.kind == Kind::categorical) {
      codes[j] = static_cast<Code>(hot[next_hot++] - column.first);
      continue;
    }
    const double x = dense[next_dense++];
    if (column.kind == Kind::boolean) {
      codes[j] = x > 0.5 ? 1 : x < 0.5 ? 0 : 2;
      continue;
    }
    const double place = std::clamp(unit_scaling_ ? x : (x + 1) / 2, 0.0, 1.0) * kColumnSteps;
    codes[j] = static_cast<Code>(std::min(place, kColumnSteps - 1));
  }
}

void BinnedColumns::read(const Table& table, std::size_t row, std::span<Cell> cells) const {
  std::vector<Code> codes(columns_.size());
  read(table, row, codes);
  for (std::size_t j = 0; j < codes.size(); ++j) cells[j] = cell(j, codes[j]);
}

}  // namespace sotto
