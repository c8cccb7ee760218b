#include "sotto/models/synthesis/detail/cell_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/data/date.hpp"
#include "sotto/noise/uniform.hpp"

namespace sotto {
namespace {

constexpr double kWholeEnough = 1e-6, kBoundEnough = 1e-12;
constexpr double kPoints = 100;         // of the decimal grid in a bin, at least
constexpr double kExactWhole = 0x1p50;  // up to here a grid point is what it says

bool is_whole_number(double x) { return std::abs(x) < 1e15 && x == std::nearbyint(x); }

double between(double lower, double upper, double share) {
  return lower * (1 - share) + upper * share;
}

double uniform(Rng& rng) { return static_cast<double>(rng.next_u64() >> 11) * 0x1p-53; }

// Uniform between lower and upper, neither of which it is, on a decimal grid where numbers allow
// one.
double drawn(double lower, double upper, Rng& rng) {
  const double step = std::pow(10, std::floor(std::log10((upper - lower) / kPoints)));
  const double first = std::floor(lower / step) + 1, last = std::ceil(upper / step) - 1;
  if (!(step > 0) || !(std::abs(first) < kExactWhole && std::abs(last) < kExactWhole) ||
      last < first)
    return std::min(between(lower, upper, uniform(rng)), upper);
  const auto points = static_cast<std::uint64_t>(last - first) + 1;
  const double at = first + static_cast<double>(uniform_below(rng, points));
  // Dividing by a power of ten gives the nearest number to a short decimal; multiplying may not.
  return step < 1 ? at / std::nearbyint(1 / step) : at * step;
}

std::string number_text(double value) { return fmt::format("{:.12g}", value == 0 ? 0.0 : value); }

// A day of [low, high), or the one in which it lies.
double drawn_day(double low, double high, Rng& rng) {
  const double first = std::ceil(low), last = std::ceil(high) - 1;
  if (last < first) return std::floor(low);
  return first +
         static_cast<double>(uniform_below(rng, static_cast<std::uint64_t>(last - first) + 1));
}

std::string day_text(double value, DateOrder order) {
  std::string iso = date_text(static_cast<std::int64_t>(std::floor(value)));  // 2024-03-01
  const std::string year = iso.substr(0, 4), month = iso.substr(5, 2), day = iso.substr(8, 2);
  switch (order) {
    case DateOrder::year_first: return iso;
    case DateOrder::day_first: return fmt::format("{}.{}.{}", day, month, year);
    case DateOrder::month_first: return fmt::format("{}/{}/{}", month, day, year);
  }
  return iso;
}

std::string time_text(double hours) {
  const int minutes = std::clamp(static_cast<int>(std::floor(hours * 60)), 0, 24 * 60 - 1);
  return fmt::format("{:02}:{:02}", minutes / 60, minutes % 60);
}

// The one feature that stands for a column: of a date the number of its day.
std::size_t feature_of(const Encoder::Input& input) {
  if (input.column.type == ColumnType::text)
    throw Unsupported(
        fmt::format("column '{}' is free text, and words are not drawn", input.column.name),
        "set its role to \"ignore\"");
  if (input.column.type != ColumnType::date) return input.first;
  const auto part = std::ranges::find(input.column.parts, DatePart::elapsed);
  if (part == input.column.parts.end())
    throw Unsupported(fmt::format("column '{}' is a date without its day", input.column.name),
                      "add \"elapsed\" to its parts, and bounds; or set its role to \"ignore\"");
  return input.first + static_cast<std::size_t>(part - input.column.parts.begin());
}

}  // namespace

CellColumns::CellColumns(const Encoder& encoder, std::uint32_t bins)
    : unit_scaling_(encoder.schema().scaling == Scaling::unit) {
  // Where each feature stands in a row.
  std::vector<std::size_t> positions;
  std::size_t dense = 0, hot = 0, input = 0, group = 0;
  for (const ColumnEncoder& feature : encoder.features())
    positions.push_back(feature.is_categorical() ? hot++ : dense++);
  for (const ColumnSchema& column : encoder.schema().columns) {
    if (column.role == Role::ignore || column.role == Role::user) continue;
    const bool is_target = column.role == Role::target, is_group = column.role == Role::group;
    const std::size_t feature = is_target || is_group ? 0 : feature_of(encoder.inputs()[input++]);
    const ColumnEncoder& read = is_target  ? encoder.target()
                                : is_group ? encoder.groups()[group]
                                           : encoder.features()[feature];
    Column made = described(column, read, bins);
    made.offset = size_;
    if (is_target) {
      made.from = From::target;
      target_ = columns_.size();
    } else if (is_group) {
      made.from = From::group;
      made.position = group++;
    } else if (read.is_categorical()) {
      made.from = From::hot;
      made.position = positions[feature];
      made.first = static_cast<std::uint32_t>(encoder.run(feature).first);
    } else {
      made.position = positions[feature];
    }
    size_ += made.cells;
    columns_.push_back(std::move(made));
  }
  if (columns_.size() > kMostColumns)
    throw Unsupported(fmt::format("synthesis takes at most {} columns, and the schema has {}",
                                  kMostColumns, columns_.size()),
                      "set the role of some to \"ignore\"");
  if (size_ > kMostTogether)
    throw Unsupported(fmt::format("the columns have {} values together, and synthesis takes at "
                                  "most {}",
                                  size_, kMostTogether),
                      "group values in the schema, or set the role of columns to \"ignore\"");
}

CellColumns::Column CellColumns::described(const ColumnSchema& column, const ColumnEncoder& encoder,
                                           std::uint32_t bins) const {
  Column made{.name = column.name};
  const bool day = column.type == ColumnType::date, time = column.type == ColumnType::time;
  if (column.type == ColumnType::numeric || day || time) {
    made.numeric = true;
    made.written = day ? Written::day : time ? Written::time : Written::number;
    made.order = column.order;
    const Bounds& bounds = time ? *encoder.column().bounds : *column.bounds;  // days since 1970
    made.lower = bounds.lower();
    made.upper = bounds.upper();
    const double width = made.upper - made.lower;
    if (is_whole_number(made.lower) && is_whole_number(made.upper) && width <= kMostWhole) {
      const auto units = static_cast<std::uint32_t>(width);
      made.stride = 1 + std::max(1u, bins / units);
      made.cells = units * made.stride + 1;
    } else {
      made.cells = bins + 2;
    }
    return made;
  }
  if (column.category.hashes())
    throw Unsupported(
        fmt::format("column '{}' is hashed, and a bucket is no value to be written", column.name),
        "list its values, or set its role to \"ignore\"");
  made.labels = encoder.labels();
  const bool other = made.labels.size() > column.values.size() && !column.values.empty() &&
                     column.type == ColumnType::categorical;
  if (other) made.labels.pop_back();
  const bool maybe_missing =
      column.type == ColumnType::boolean && column.missing != Missing::refuse;
  const std::size_t cells = made.labels.size() + (other || maybe_missing ? 1 : 0);
  if (cells > kMostCells)
    throw Unsupported(fmt::format("column '{}' has more than {} values", column.name, kMostCells),
                      "group its values in the schema");
  made.cells = static_cast<std::uint32_t>(cells);
  return made;
}

std::uint32_t CellColumns::cell_of(const Column& column, double place) const {
  place = std::clamp(place, 0.0, 1.0);
  if (column.stride > 0) {
    const double at = place * (column.upper - column.lower), nearest = std::nearbyint(at);
    if (std::abs(at - nearest) <= kWholeEnough)
      return column.stride * static_cast<std::uint32_t>(nearest);
    const double unit = std::floor(at), parts = column.stride - 1;
    return column.stride * static_cast<std::uint32_t>(unit) + 1 +
           static_cast<std::uint32_t>(std::min(parts - 1, std::floor((at - unit) * parts)));
  }
  if (place <= kBoundEnough) return 0;
  if (place >= 1 - kBoundEnough) return column.cells - 1;
  const std::uint32_t bins = column.cells - 2;
  return 1 + std::min(bins - 1, static_cast<std::uint32_t>(place * static_cast<double>(bins)));
}

void CellColumns::read(const Table& table, std::size_t row, std::span<std::uint32_t> cells) const {
  const std::span<const double> dense = table.dense(row);
  const std::span<const std::uint32_t> hot = table.hot(row);
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    const Column& column = columns_[j];
    switch (column.from) {
      case From::hot: cells[j] = hot[column.position] - column.first; break;
      case From::group: cells[j] = table.groups(column.position)[row]; break;
      case From::target: {
        const double y = table.targets()[row];
        cells[j] = column.numeric ? cell_of(column, (y + 1) / 2) : static_cast<std::uint32_t>(y);
        break;
      }
      case From::dense: {
        const double x = dense[column.position];
        if (column.numeric)
          cells[j] = cell_of(column, unit_scaling_ ? x : (x + 1) / 2);
        else
          cells[j] = x > 0.5 ? 1 : x < 0.5 ? 0 : 2;
        break;
      }
    }
    cells[j] = std::min(cells[j], column.cells - 1);
  }
}

// The whole unit that a cell of a column of whole numbers belongs to.
std::uint32_t CellColumns::unit_of(const Column& column, std::uint32_t cell) {
  return cell / column.stride;
}

std::optional<double> CellColumns::only(const Column& column, std::uint32_t cell) const {
  if (column.stride > 0 && cell % column.stride == 0) return column.lower + unit_of(column, cell);
  if (column.stride == 0 && cell == 0) return column.lower;
  if (column.stride == 0 && cell + 1 == column.cells) return column.upper;
  return std::nullopt;
}

std::pair<double, double> CellColumns::edges(const Column& column, std::uint32_t cell) const {
  if (column.stride > 0) {
    const double unit = column.lower + unit_of(column, cell), parts = column.stride - 1;
    const double at = cell % column.stride - 1.0;
    return {unit + at / parts, unit + (at + 1) / parts};
  }
  const double parts = column.cells - 2.0, at = cell - 1.0;
  return {between(column.lower, column.upper, at / parts),
          between(column.lower, column.upper, (at + 1) / parts)};
}

double CellColumns::place(std::size_t j, std::uint32_t cell) const {
  const Column& column = columns_[j];
  if (column.stride == 0)
    return cell == 0 ? 0 : cell + 1 == column.cells ? 1 : (cell - 0.5) / (column.cells - 2.0);
  const double inside = cell % column.stride, unit = unit_of(column, cell);
  const double at = inside > 0 ? unit + (inside - 0.5) / (column.stride - 1) : unit;
  return at / (column.upper - column.lower);
}

double CellColumns::width(std::size_t j, std::uint32_t cell) const {
  const Column& column = columns_[j];
  if (only(column, cell)) return 0;
  return column.stride == 0 ? 1 / (column.cells - 2.0)
                            : 1 / (column.stride - 1.0) / (column.upper - column.lower);
}

std::string CellColumns::text(std::size_t j, std::uint32_t cell, Rng& rng) const {
  const Column& column = columns_[j];
  if (!column.numeric) return cell < column.labels.size() ? column.labels[cell] : std::string();
  if (const std::optional<double> value = only(column, cell)) return written(column, *value);
  const auto [low, high] = edges(column, cell);
  return written(
      column, column.written == Written::day ? drawn_day(low, high, rng) : drawn(low, high, rng));
}

std::string CellColumns::written(const Column& column, double value) {
  switch (column.written) {
    case Written::number: return number_text(value);
    case Written::day: return day_text(value, column.order);
    case Written::time: return time_text(value);
  }
  return {};
}

std::string CellColumns::label(std::size_t j, std::uint32_t cell) const {
  const Column& column = columns_[j];
  if (!column.numeric) return cell < column.labels.size() ? column.labels[cell] : "other";
  if (const std::optional<double> value = only(column, cell)) return written(column, *value);
  const auto [low, high] = edges(column, cell);
  return column.written == Written::number
             ? fmt::format("{:.4g} to {:.4g}", low, high)
             : fmt::format("{} to {}", written(column, low), written(column, high));
}

}  // namespace sotto
