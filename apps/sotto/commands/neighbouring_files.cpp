#include "commands/neighbouring_files.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sotto/core/error.hpp"
#include "sotto/data/byte_source.hpp"
#include "sotto/data/number.hpp"

namespace sotto::cli {
namespace {

constexpr std::size_t kLimit = std::size_t{1} << 30;

// Cut at a delimiter outside of quotes; '\n' cuts records.
std::vector<std::string> cut(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::string part;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (c == at && !quoted) {
      parts.push_back(std::move(part));
      part.clear();
    } else {
      part += c;
    }
  }
  if (at != '\n' || !part.empty()) parts.push_back(std::move(part));
  return parts;
}

}  // namespace

std::vector<Change> changes_under(Relation relation) {
  switch (relation) {
    case Relation::add_remove: return {Change::drop, Change::add};
    case Relation::replace_one: return {Change::replace};
    case Relation::zero_out: return {Change::null};
  }
  return {};
}

std::string_view name(Change change) {
  switch (change) {
    case Change::drop: return "drop";
    case Change::add: return "add";
    case Change::replace: return "replace";
    case Change::null: return "null";
  }
  return "";
}

CsvText::CsvText(const std::string& path, char delimiter) : delimiter_(delimiter) {
  std::vector<std::string> lines = cut(read_all(path, kLimit), '\n');
  for (std::string& line : lines)
    if (line.ends_with('\r')) line.pop_back();
  if (lines.empty())
    throw DataError(fmt::format("'{}' is empty", path), "a CSV file begins with a header line");
  header_ = lines.front();
  columns_ = cut(header_, delimiter_).size();
  records_.assign(lines.begin() + 1, lines.end());
  numeric_.assign(columns_, true);
  for (const std::string& record : records_) {
    const auto cells = cut(record, delimiter_);
    for (std::size_t i = 0; i < std::min(cells.size(), columns_); ++i)
      if (parse_number(cells[i]).kind == CellKind::text) numeric_[i] = false;
  }
}

std::string CsvText::made_up_record(std::mt19937_64& random, bool unreadable) const {
  static const std::vector<std::string> kNumbers = {"0", "1", "-1", "1e300", "-1e300", "1e-300"},
                                        kTexts = {"zz", "0", ""},
                                        kUnreadable = {"", "nan", "?", "zz", "1e300"};
  std::string record;
  for (std::size_t i = 0; i < columns_; ++i) {
    if (i > 0) record += delimiter_;
    // Many cells are somebody else's, so that the record passes where others do.
    const bool known = !numeric_[i] && !unreadable;
    if (!records_.empty() && (known || random() % 2 == 0)) {
      const auto cells = cut(records_[random() % records_.size()], delimiter_);
      if (i < cells.size()) {
        record += cells[i];
        continue;
      }
    }
    const auto& cells = unreadable && random() % 2 == 0 ? kUnreadable
                        : numeric_[i]                   ? kNumbers
                                                        : kTexts;
    record += cells[random() % cells.size()];
  }
  return record;
}

CsvText::Pair CsvText::neighbours(Change change, std::mt19937_64& random, bool unreadable) const {
  if (records_.empty() && change != Change::add)
    throw DataError("there is no record to change", "give a file with records");
  const std::size_t chosen = change == Change::add ? records_.size() : random() % records_.size();
  std::string others = header_ + "\n";
  for (std::size_t i = 0; i < records_.size(); ++i)
    if (i != chosen) others += records_[i] + "\n";
  switch (change) {
    case Change::drop: return {others + records_[chosen] + "\n", others, chosen + 1};
    case Change::add: return {others, others + made_up_record(random, unreadable) + "\n", 0};
    case Change::replace:
      return {others + records_[chosen] + "\n", others + made_up_record(random, unreadable) + "\n",
              chosen + 1};
    case Change::null:
      return {others + records_[chosen] + "\n",
              others + std::string(columns_ - 1, delimiter_) + "\n", chosen + 1};
  }
  return {};
}

}  // namespace sotto::cli
