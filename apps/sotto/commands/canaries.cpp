#include "commands/canaries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sotto/core/error.hpp"
#include "sotto/data/number.hpp"

namespace sotto::cli {
namespace {

const std::vector<std::string>& category_values(const ColumnSchema& column) {
  static const std::vector<std::string> kBooleans = {"0", "1"};
  return column.values.empty() ? kBooleans : column.values;
}

}  // namespace

CanaryKind parse_canary(const std::string& text) {
  if (text == "blank") return CanaryKind::blank;
  return text == "extreme" ? CanaryKind::extreme : CanaryKind::mislabelled;
}

Canaries::Canaries(const CsvText& text, const Schema& schema, bool decimal_comma)
    : text_(text), schema_(schema), decimal_comma_(decimal_comma) {}

std::string Canaries::number(double value) const {
  std::string written = fmt::format("{}", value);
  if (decimal_comma_) std::ranges::replace(written, '.', ',');
  return written;
}

std::string Canaries::cell(const ColumnSchema& column, CanaryKind kind, const std::string& was,
                           std::mt19937_64& random) const {
  const bool target = column.role == Role::target;
  if (column.role == Role::ignore || column.type == ColumnType::text ||
      column.type == ColumnType::ignore || (kind == CanaryKind::mislabelled && !target))
    return was;
  if (column.type == ColumnType::numeric) {
    const Bounds& b = *column.bounds;
    if (kind == CanaryKind::blank && !target) return number((b.lower() + b.upper()) / 2);
    if (kind == CanaryKind::mislabelled) {
      std::string point = was;
      if (decimal_comma_) std::ranges::replace(point, ',', '.');
      const NumberCell read = parse_number(point);
      const bool low = read.kind == CellKind::number && 2 * read.value < b.lower() + b.upper();
      return number(low ? b.upper() : b.lower());
    }
    return number(random() % 2 == 0 ? b.lower() : b.upper());
  }
  const std::vector<std::string>& values = category_values(column);
  if (kind == CanaryKind::blank && !target)
    return column.missing == Missing::refuse ? values.front() : "";
  std::string chosen = values[random() % values.size()];
  while (kind == CanaryKind::mislabelled && values.size() > 1 && chosen == was)
    chosen = values[random() % values.size()];
  return chosen;
}

std::vector<std::string> Canaries::made(CanaryKind kind, std::size_t count,
                                        std::mt19937_64& random) const {
  if (text_.records() == 0)
    throw DataError("there is no record to make canaries from", "give a file with records");
  const std::vector<std::string> names = text_.names();
  std::vector<std::string> lines;
  for (std::size_t k = 0; k < count; ++k) {
    std::vector<std::string> cells = text_.cells(text_.record(random() % text_.records()));
    cells.resize(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto column = std::ranges::find(schema_.columns, names[i], &ColumnSchema::name);
      if (column == schema_.columns.end()) continue;
      cells[i] = column->role == Role::user ? fmt::format("canary {}", k + 1)
                                            : cell(*column, kind, cells[i], random);
    }
    lines.push_back(text_.record_of(cells));
  }
  return lines;
}

void Canaries::take_places(std::size_t count, std::mt19937_64& random) {
  if (schema_.relation == Relation::add_remove) return;
  if (count > text_.records())
    throw DataError(fmt::format("{} canaries take the places of as many records, and the file has "
                                "fewer",
                                count),
                    fmt::format("under {} the number of records is public: try fewer canaries",
                                name(schema_.relation)));
  places_.resize(text_.records());
  std::iota(places_.begin(), places_.end(), std::size_t{0});
  std::shuffle(places_.begin(), places_.end(), random);
  places_.resize(count);
}

std::string Canaries::file(const std::vector<std::string>& canaries,
                           const std::vector<bool>& in) const {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < text_.records(); ++i) lines.push_back(text_.record(i));
  for (std::size_t k = 0; k < canaries.size(); ++k) {
    if (schema_.relation == Relation::add_remove) {
      if (in[k]) lines.push_back(canaries[k]);
    } else if (in[k]) {
      lines[places_[k]] = canaries[k];
    } else if (schema_.relation == Relation::zero_out) {
      lines[places_[k]] = text_.blank();
    }
  }
  std::string all = text_.header() + "\n";
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

}  // namespace sotto::cli
