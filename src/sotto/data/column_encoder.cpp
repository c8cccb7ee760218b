#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <numeric>

#include "sotto/core/error.hpp"
#include "sotto/data/detail/number_scale.hpp"
#include "sotto/data/encoder.hpp"
#include "sotto/data/number.hpp"

namespace sotto {
namespace {

bool same_word(std::string_view cell, std::string_view word) {
  return std::equal(cell.begin(), cell.end(), word.begin(), word.end(), [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == b;
  });
}

constexpr std::array<std::string_view, 5> kFalse = {"0", "false", "no", "n", "f"};
constexpr std::array<std::string_view, 5> kTrue = {"1", "true", "yes", "y", "t"};

}  // namespace

ColumnEncoder::ColumnEncoder(const ColumnSchema& column, Scaling scaling,
                             const std::vector<std::string>& missing_values)
    : column_(column),
      middle_(column.bounds ? detail::NumberScale(*column.bounds).middle : 0),
      half_width_(column.bounds ? detail::NumberScale(*column.bounds).half_width : 1),
      per_half_width_(column.bounds ? detail::NumberScale(*column.bounds).per_half_width : 1),
      to_unit_(scaling == Scaling::unit && column.role != Role::target),
      missing_values_(missing_values) {
  if (column.type == ColumnType::boolean) {
    labels_ = column.values.empty() ? std::vector<std::string>{"false", "true"} : column.values;
    index_ = LabelIndex(column.values.empty() ? std::vector<std::string>{"0", "1"} : labels_,
                        missing_values);
    return;
  }
  if (column.category.hashes()) {
    buckets_.emplace(column.category);
    column_.values = column.category.labels();
  }
  labels_ = column_.values;
  if (!buckets_) index_ = LabelIndex(labels_, missing_values);
  if (is_categorical() && column.missing == Missing::other) {
    std::string other = "other";
    while (std::find(labels_.begin(), labels_.end(), other) != labels_.end())
      other.insert(0, 1, '(').push_back(')');  // a declared "other" is a category like any
    labels_.push_back(other);
  }
}

ColumnEncoder::ColumnEncoder(const ColumnSchema& column, DatePart part, Scaling scaling,
                             const std::vector<std::string>& missing_values)
    : ColumnEncoder(part_column(column, part), scaling, missing_values) {
  const double first = column.bounds ? column.bounds->lower() : 0;
  const double since = column.since ? static_cast<double>(*column.since) : first;
  part_ = Part{.part = part,
               .order = column.order,
               .time_only = column.type == ColumnType::time,
               .origin = part == DatePart::elapsed ? since
                         : part == DatePart::month ? 1.0
                                                   : 0.0};
}

ColumnEncoder ColumnEncoder::bucket(const ColumnSchema& text, std::size_t bucket) {
  ColumnSchema column;
  column.name = fmt::format("{}~{}", text.name, bucket);
  column.bounds = Bounds(-1, 1);
  ColumnEncoder encoder(column, Scaling::symmetric, {});
  encoder.hashed_ = true;
  return encoder;
}

// A mark means missing although it is a number, such as -99.
NumberCell ColumnEncoder::number_of(std::string_view cell) const {
  if (!missing_values_.empty() && is_marked(trimmed(cell))) return {CellKind::missing};
  if (!part_) return parse_number(cell);
  if (trimmed(cell).empty()) return {CellKind::missing};
  const auto moment = part_->time_only ? parse_time(cell) : parse_date(cell, part_->order);
  if (!moment) return {CellKind::text};
  return {CellKind::number, part_of(*moment, part_->part) - part_->origin};
}

bool ColumnEncoder::is_clamped(std::string_view cell) const {
  if (!is_numeric()) return false;
  const NumberCell number = number_of(cell);
  return number.kind == CellKind::number &&
         (number.value < column_.bounds->lower() || number.value > column_.bounds->upper());
}

bool ColumnEncoder::is_marked(std::string_view cell) const {
  return cell.empty() ||
         std::find(missing_values_.begin(), missing_values_.end(), cell) != missing_values_.end();
}

bool ColumnEncoder::is_missing(std::string_view cell) const {
  return is_marked(trimmed(cell)) ||
         (is_numeric() && !part_ && parse_number(cell).kind == CellKind::not_finite);
}

double ColumnEncoder::missing(std::string_view what) const {
  if (column_.missing == Missing::midpoint) {
    return is_numeric() && !to_unit_ ? 0.0 : 0.5;
  }
  throw CellRefused{std::string(what),
                    "correct the file, or declare missing = \"midpoint\" for the column"};
}

// Bounds map to the ends exactly; between them the clamp takes care of rounding.
inline double ColumnEncoder::scaled(double number) const {
  const Bounds& bounds = *column_.bounds;
  const double off = number - middle_;
  double symmetric =
      std::clamp(per_half_width_ != 0 ? off * per_half_width_ : off / half_width_, -1.0, 1.0);
  if (number <= bounds.lower()) symmetric = -1;
  if (number >= bounds.upper()) symmetric = 1;
  return to_unit_ ? (symmetric + 1) / 2 : symmetric;
}

double ColumnEncoder::value(std::string_view cell) const {
  return is_numeric() ? numeric(cell) : boolean(cell);
}

double ColumnEncoder::value(double number) const {
  if (!std::isfinite(number)) return missing("the cell is NaN or infinite");
  if (is_numeric()) return scaled(number);
  if (number == 0 || number == 1) return number;
  if (column_.invalid == Invalid::missing) return missing("the cell is not a boolean");
  throw CellRefused{"the cell is neither 0 nor 1", "give a boolean as 0 or 1"};
}

std::uint32_t ColumnEncoder::index(double position) const {
  if (buckets_) return index(std::isnan(position) ? std::string() : fmt::format("{}", position));
  const auto count = static_cast<double>(is_categorical() ? column_.values.size() : 2);
  if (position >= 0 && position < count && position == std::floor(position))
    return static_cast<std::uint32_t>(position);
  if (is_categorical() && column_.missing == Missing::other)
    return static_cast<std::uint32_t>(column_.values.size());
  throw CellRefused{"the cell is not the position of a declared value",
                    "positions begin at 0; or declare missing = \"other\" for the column"};
}

double ColumnEncoder::numeric(std::string_view cell) const {
  const NumberCell parsed = number_of(cell);
  if (parsed.kind == CellKind::number) return scaled(parsed.value);
  if (parsed.kind == CellKind::missing)
    return missing(trimmed(cell).empty() ? "the cell is empty" : "the cell is marked as missing");
  if (parsed.kind == CellKind::not_finite) {
    return missing("the cell is NaN, infinite or too large for a double");
  }
  const std::string what = fmt::format("the cell is not a {}", kind());
  if (column_.invalid == Invalid::missing) return missing(what);
  const std::string_view hint = "correct the file, or declare invalid = \"missing\" for the column";
  throw CellRefused{what, !part_  // a part of a date is a number, too
                              ? fmt::format("{}; `decimal` comma reads 1,5", hint)
                              : std::string(hint)};
}

std::string ColumnEncoder::kind() const {
  if (!part_) return "number";
  return part_->time_only ? "time, such as 14:05" : fmt::format("date, {}", name(part_->order));
}

double ColumnEncoder::boolean(std::string_view cell) const {
  cell = trimmed(cell);
  if (is_marked(cell)) return missing("the cell is empty or marked as missing");
  if (!column_.values.empty()) {
    if (cell == column_.values[0]) return 0;
    if (cell == column_.values[1]) return 1;
  } else {
    if (cell == "0") return 0;  // the common words first
    if (cell == "1") return 1;
    const auto is = [&](std::string_view word) { return same_word(cell, word); };
    if (std::any_of(kFalse.begin(), kFalse.end(), is)) return 0;
    if (std::any_of(kTrue.begin(), kTrue.end(), is)) return 1;
  }
  if (column_.invalid == Invalid::missing) return missing("the cell is not a boolean");
  throw CellRefused{"the cell is neither of the two values of a boolean",
                    "declare values = [FALSE_VALUE, TRUE_VALUE], or invalid = \"missing\""};
}

std::uint32_t ColumnEncoder::index(std::string_view cell) const {
  if (!is_categorical()) {
    const double flag = boolean(cell);
    if (flag != 0 && flag != 1) {
      throw CellRefused{"the cell is missing or not a boolean", "a group needs one of two values"};
    }
    return flag == 1 ? 1 : 0;
  }
  cell = trimmed(cell);
  if (part_) {
    const NumberCell parsed = number_of(cell);
    if (parsed.kind == CellKind::number) return static_cast<std::uint32_t>(parsed.value);
    const bool absent = is_marked(cell);
    if (column_.missing == Missing::other && (absent || column_.invalid == Invalid::missing))
      return static_cast<std::uint32_t>(column_.values.size());
    throw CellRefused{absent ? std::string("the cell is empty or marked as missing")
                             : fmt::format("the cell is not a {}", kind()),
                      absent ? "correct the file, or declare missing = \"midpoint\" for the column"
                             : "correct the file, or declare invalid = \"missing\" for the column"};
  }
  if (buckets_) {
    if (!is_marked(cell)) return buckets_->of(cell);
    if (column_.missing == Missing::other) return static_cast<std::uint32_t>(column_.values.size());
    throw CellRefused{"the cell is empty or marked as missing",
                      "correct the file, or declare missing = \"other\" for the column"};
  }
  if (const auto found = declared(cell)) return *found;
  if (column_.missing == Missing::other) return static_cast<std::uint32_t>(column_.values.size());
  throw CellRefused{"the cell is not one of the declared values",
                    "add the value to the schema, or declare missing = \"other\" for the column"};
}

double ColumnEncoder::unscaled(double value) const {
  const double symmetric = to_unit_ ? 2 * value - 1 : value;
  return middle_ + symmetric * half_width_;
}

}  // namespace sotto
