#include "sotto/models/linear/detail/code_book.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "sotto/core/error.hpp"
#include "sotto/models/linear/detail/level_kernels.hpp"

namespace sotto {
namespace {

constexpr double kCodeUnit = 0x1p16;
constexpr std::size_t kEven = 1024;  // levels of a number without hats
constexpr std::size_t kSide = detail::kLevelSide;
constexpr std::size_t kMostLevels = 65536;

std::int32_t on_grid(double value) { return static_cast<std::int32_t>(value * kCodeUnit); }

}  // namespace

std::size_t CodeBook::Column::level(double value) const {
  const double t = unit ? 2 * value - 1 : value;
  // NOLINTNEXTLINE(bugprone-incorrect-roundings): t is at least -1, and halves go up
  if (kind == Kind::even) return 1 + static_cast<std::size_t>((t + 1) * (kEven - 1) / 2 + 0.5);
  return detail::bent_level(t, center, per_reach);
}

double CodeBook::Column::value(std::size_t level) const {
  if (kind == Kind::even) return 2 * static_cast<double>(level - 1) / (kEven - 1) - 1;
  const bool below = level > kSide;
  const auto step = static_cast<std::uint32_t>(level - 1 - (below ? kSide : 0));
  constexpr std::uint32_t kShift = 23 - detail::kLevelBits,
                          kOne = std::bit_cast<std::uint32_t>(1.0f);
  const auto far = static_cast<double>(std::bit_cast<float>(kOne + (step << kShift)) - 1.0f);
  const double off = far / static_cast<double>(detail::kLevelBend) * reach;
  return std::clamp(center + (below ? -off : off), -1.0, 1.0);
}

bool CodeBook::fits(const Encoder& encoder) {
  if (encoder.schema().feature_norm) return false;
  std::size_t levels = 2, plain = 0;
  for (std::size_t f = 0; f < encoder.features().size(); ++f) {
    const ColumnEncoder& feature = encoder.features()[f];
    if (feature.is_hashed()) return false;
    const bool bent = encoder.run(f).hats;
    plain += feature.is_numeric() && !bent ? 1 : 0;
    levels += 1 + (feature.is_categorical() ? feature.labels().size()
                   : !feature.is_numeric()  ? 3
                   : bent                   ? 2 * kSide
                                            : kEven);
  }
  // A lookup takes as long as a few products; pairs of levels of many numbers are too many.
  constexpr std::size_t kWorth = 3, kMostPlain = 40;
  return plain <= kMostPlain && levels <= kMostLevels &&
         kWorth * (encoder.features().size() + 1) <= encoder.width() + 1;
}

CodeBook::CodeBook(const Encoder& encoder, double intercept, double scale) {
  std::size_t dense = 0;
  for (std::size_t f = 0; f < encoder.features().size(); ++f) {
    const ColumnEncoder& feature = encoder.features()[f];
    const auto at = static_cast<std::uint32_t>(encoder.run(f).first);
    if (feature.is_numeric()) {
      add_numbers(encoder, f, dense++, scale);
      continue;
    }
    const bool boolean = !feature.is_categorical();
    add_column(
        {.kind = boolean ? Column::Kind::boolean : Column::Kind::categorical, .coordinate = at});
    const std::size_t count = boolean ? 3 : feature.labels().size();
    for (std::uint32_t i = 0; i < count; ++i) {  // a boolean is 0, ½ or 1
      const Entry entry{boolean ? at : at + i, on_grid((boolean ? i / 2.0 : 1.0) * scale)};
      add_level({&entry, entry.value != 0 ? 1U : 0U});
    }
    dense += boolean ? 1 : 0;
  }
  if (intercept != 0) {
    add_column({.kind = Column::Kind::intercept, .coordinate = encoder.width()});
    const Entry entry{static_cast<std::uint32_t>(encoder.width()), on_grid(intercept * scale)};
    add_level({&entry, 1});
  }
  for (Column& column : columns_) {
    if (!column.stands.empty()) continue;  // every level of a category counts on its own
    for (std::size_t l = 0; l < column.levels; ++l) {
      column.stands.push_back(static_cast<std::uint16_t>(column.first + l));
      coarse_[column.first + l] = static_cast<std::uint16_t>(l);
    }
  }
  shrink();
  for (const Column& c : columns_) {
    if (c.kind != Column::Kind::bent) continue;
    bent_.center.push_back(c.center);
    bent_.per_reach.push_back(c.per_reach);
    bent_.first.push_back(static_cast<std::uint32_t>(c.first));
  }
  if (bent_.first.size() < encoder.features().size()) bent_ = {};
}

void CodeBook::add_column(Column column) {
  column.first = levels();
  columns_.push_back(std::move(column));
  add_level({});  // null
}

void CodeBook::add_level(std::span<const Entry> entries) {
  entries_.insert(entries_.end(), entries.begin(), entries.end());
  first_entry_.push_back(entries_.size());
  coarse_.push_back(0);
  ++columns_.back().levels;
}

void CodeBook::add_numbers(const Encoder& encoder, std::size_t feature, std::size_t dense,
                           double scale) {
  const auto& hats = encoder.hats(dense);
  const bool unit = encoder.schema().scaling == Scaling::unit;
  const std::size_t at = encoder.run(feature).first;
  add_column({.kind = hats ? Column::Kind::bent : Column::Kind::even,
              .center = hats ? hats->center() : 0,
              .reach = hats ? hats->reach() : 1,
              .per_reach = hats ? 1 / hats->reach() : 1,
              .unit = unit,
              .coordinate = at});
  const std::size_t count = hats ? 2 * kSide : kEven;
  std::array<double, HatBasis::kWidth> heights{};
  std::vector<Entry> entries;
  for (std::size_t l = 1; l <= count; ++l) {
    const double t = columns_.back().value(l), number = unit ? (t + 1) / 2 : t;
    entries.clear();
    const auto add = [&](std::size_t coordinate, double value) {
      const std::int32_t units = on_grid(value * scale);
      if (units != 0) entries.push_back({static_cast<std::uint32_t>(coordinate), units});
    };
    add(at, number);
    if (hats) {
      hats->write(t, 1, heights);
      for (std::size_t h = 0; h < heights.size(); ++h) add(at + 1 + h, heights[h]);
    }
    add_level(entries);
  }
  std::vector<double> values;
  for (std::size_t h = 0; hats && h < HatBasis::kWidth; ++h) values.push_back(hats->peak(h));
  for (std::size_t i = 0; !hats && i < kCoarse; ++i)
    values.push_back(2 * static_cast<double>(i) / (kCoarse - 1) - 1);
  std::sort(values.begin(), values.end());
  for (std::size_t i = 0; hats && i + 1 < HatBasis::kWidth; ++i)
    values.push_back((values[i] + values[i + 1]) / 2);
  std::sort(values.begin(), values.end());
  choose_coarse(columns_.size() - 1, values);
}

// values: in order. Each level goes to the nearest.
void CodeBook::choose_coarse(std::size_t index, std::span<const double> values) {
  Column& column = columns_[index];
  column.stands.push_back(static_cast<std::uint16_t>(column.first));  // null
  std::vector<double> kept;
  for (const double value : values) {
    if (!kept.empty() && value <= kept.back()) continue;
    kept.push_back(value);
    const double cell = column.unit ? (value + 1) / 2 : value;
    column.stands.push_back(static_cast<std::uint16_t>(column.first + column.level(cell)));
  }
  for (std::size_t l = 1; l < column.levels; ++l) {
    const double value = column.value(l);
    std::size_t best = 0;
    for (std::size_t i = 1; i < kept.size(); ++i)
      if (std::fabs(kept[i] - value) < std::fabs(kept[best] - value)) best = i;
    coarse_[column.first + l] = static_cast<std::uint16_t>(1 + best);
  }
}

// Truncation keeps norms below their bounds; what the arithmetic before it rounded up is taken off.
void CodeBook::shrink() {
  for (;;) {
    std::int64_t total = 0;
    for (const Column& column : columns_) {
      std::int64_t largest = 0;
      for (std::size_t l = column.first; l < column.first + column.levels; ++l) {
        std::int64_t square = 0;
        for (const Entry& e : entries(l)) square += std::int64_t{e.value} * e.value;
        largest = std::max(largest, square);
      }
      total += largest;
    }
    if (total <= std::int64_t{1} << 32) return;
    for (Entry& e : entries_) e.value -= e.value > 0 ? 1 : e.value < 0 ? -1 : 0;
  }
}

void CodeBook::write(const Table& table, std::size_t row, std::span<std::uint16_t> levels) const {
  const bool null =
      table.is_null(row) || (!table.targets().empty() && !std::isfinite(table.targets()[row]));
  const double* dense = table.dense(row).data();
  if (const std::size_t bent = bent_.first.size(); bent > 0 && !null) {
    detail::bent_levels(dense, bent_, columns_.front().unit, levels.data());
    if (bent < columns_.size())  // the intercept
      levels[bent] = static_cast<std::uint16_t>(columns_.back().first + 1);
    return;
  }
  const std::uint32_t* hot = table.hot(row).data();
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const Column& column = columns_[c];
    std::size_t level = 0;
    switch (column.kind) {
      case Column::Kind::intercept: level = 1; break;
      case Column::Kind::categorical: level = 1 + *hot++ - column.coordinate; break;
      case Column::Kind::boolean: level = 1 + static_cast<std::size_t>(2 * *dense++); break;
      case Column::Kind::even:
      case Column::Kind::bent: level = column.level(*dense++); break;
    }
    levels[c] = static_cast<std::uint16_t>(column.first + (null ? 0 : level));
  }
}

}  // namespace sotto
