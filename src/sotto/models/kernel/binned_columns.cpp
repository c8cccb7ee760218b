#include "sotto/models/kernel/detail/binned_columns.hpp"

#include <algorithm>
#include <cmath>

namespace sotto {

BinnedColumns::BinnedColumns(const Encoder& encoder)
    : unit_scaling_(encoder.schema().scaling == Scaling::unit) {
  for (std::size_t f = 0; f < encoder.features().size(); ++f) {
    const ColumnEncoder& feature = encoder.features()[f];
    const Encoder::Run run = encoder.run(f);
    Column column{Kind::boolean, 3, size_, static_cast<std::uint32_t>(run.first)};
    if (feature.is_numeric()) {
      column.kind = Kind::numeric;
      column.levels = kBins;
    } else if (feature.is_categorical()) {
      column.kind = Kind::categorical;
      column.levels = static_cast<std::uint32_t>(run.width);
    }
    size_ += column.levels;
    columns_.push_back(column);
  }
}

void BinnedColumns::read(const Table& table, std::size_t row, std::span<Cell> cells) const {
  const std::span<const double> dense = table.dense(row);
  const std::span<const std::uint32_t> hot = table.hot(row);
  std::size_t next_dense = 0, next_hot = 0;
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    const Column& column = columns_[j];
    if (column.kind == Kind::categorical) {
      cells[j] = {hot[next_hot++] - column.first, 0.5f};
      continue;
    }
    const double x = dense[next_dense++];
    if (column.kind == Kind::boolean) {
      cells[j] = {x > 0.5 ? 1u : x < 0.5 ? 0u : 2u, 0.5f};
      continue;
    }
    const double place =
        std::clamp(unit_scaling_ ? x : (x + 1) / 2, 0.0, 1.0) * static_cast<double>(kBins);
    const auto level = std::min(kBins - 1, static_cast<std::uint32_t>(place));
    cells[j] = {level, static_cast<float>(std::min(1.0, place - level))};
  }
}

}  // namespace sotto
