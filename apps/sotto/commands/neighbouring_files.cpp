#include "commands/neighbouring_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sotto/core/error.hpp"
#include "sotto/data/byte_source.hpp"
#include "sotto/data/number.hpp"

namespace sotto::cli {
namespace {

constexpr std::size_t kMostFileBytes = std::size_t{1} << 30;

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

// Of the usual ones the most frequent outside of quotes; the comma where that leaves a choice.
char delimiter_in(const std::string& header) {
  char found = ',';
  std::size_t most = cut(header, ',').size();
  for (const char c : {';', '\t', '|'}) {
    const std::size_t parts = cut(header, c).size();
    if (parts > most) most = parts, found = c;
  }
  return found;
}

std::string unquoted(const std::string& cell) {
  if (cell.size() < 2 || cell.front() != '"' || cell.back() != '"') return cell;
  std::string text;
  for (std::size_t i = 1; i + 1 < cell.size(); ++i) {
    text += cell[i];
    if (cell[i] == '"') ++i;  // a quote is written twice
  }
  return text;
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

std::vector<std::string> CsvText::cells(const std::string& record) const {
  std::vector<std::string> cells = cut(record, delimiter_);
  for (std::string& cell : cells) cell = unquoted(cell);
  return cells;
}

std::string CsvText::record_of(const std::vector<std::string>& cells) const {
  std::string record;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) record += delimiter_;
    const bool plain = cells[i].find_first_of("\"\n\r") == std::string::npos &&
                       cells[i].find(delimiter_) == std::string::npos;
    if (plain) {
      record += cells[i];
      continue;
    }
    record += '"';
    for (const char c : cells[i]) record += c == '"' ? std::string("\"\"") : std::string(1, c);
    record += '"';
  }
  return record;
}

CsvText::CsvText(const std::string& path, std::optional<char> delimiter,
                 const std::optional<UserColumn>& user) {
  std::vector<std::string> lines = cut(read_all(path, kMostFileBytes), '\n');
  for (std::string& line : lines)
    if (line.ends_with('\r')) line.pop_back();
  if (lines.empty())
    throw DataError(fmt::format("'{}' is empty", path), "a CSV file begins with a header line");
  header_ = lines.front();
  if (header_.starts_with("\xef\xbb\xbf")) header_.erase(0, 3);
  delimiter_ = delimiter ? *delimiter : delimiter_in(header_);
  columns_ = cut(header_, delimiter_).size();
  records_.assign(lines.begin() + 1, lines.end());
  numeric_.assign(columns_, true);
  for (const std::string& record : records_) {
    const auto cells = cut(record, delimiter_);
    for (std::size_t i = 0; i < std::min(cells.size(), columns_); ++i)
      if (parse_number(cells[i]).kind == CellKind::text) numeric_[i] = false;
  }
  if (user) {
    find_users(*user);
  } else {
    for (std::size_t i = 0; i < records_.size(); ++i) units_.push_back({i});
  }
}

void CsvText::find_users(const UserColumn& user) {
  const std::vector<std::string> all = names();
  const auto found = std::ranges::find(all, user.name);
  if (found == all.end())
    throw DataError(fmt::format("the file has no column '{}', which names the users", user.name));
  user_ = static_cast<std::size_t>(found - all.begin());
  contributions_ = user.contributions;
  std::map<std::string, std::size_t> unit_of;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    std::vector<std::string> own = cells(records_[i]);
    own.resize(columns_);
    const auto [at, fresh] = unit_of.emplace(own[*user_], units_.size());
    if (fresh) units_.emplace_back();
    units_[at->second].push_back(i);
  }
  // A number, whatever the type of the column.
  for (std::uint64_t name = 7'000'001; unit_of.contains(stranger_ = std::to_string(name));) ++name;
}

std::string CsvText::made_up_record(std::mt19937_64& random, bool unreadable) const {
  static const std::vector<std::string> kNumbers = {"0", "1", "-1", "1e300", "-1e300", "1e-300"},
                                        kTexts = {"zz", "0", ""},
                                        kUnreadable = {"", "nan", "?", "zz", "1e300"};
  std::string record;
  for (std::size_t i = 0; i < columns_; ++i) {
    if (i > 0) record += delimiter_;
    if (i == user_) {
      record += stranger_;
      continue;
    }
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

CsvText::Unit CsvText::made_up(std::size_t records, std::mt19937_64& random,
                               bool unreadable) const {
  Unit unit;
  for (std::size_t i = 0; i < records; ++i) unit.push_back(made_up_record(random, unreadable));
  return unit;
}

CsvText::Unit CsvText::made_up(std::mt19937_64& random, bool unreadable) const {
  constexpr std::uint64_t kMostOfAUser = 64;
  if (!user_) return made_up(1, random, unreadable);
  const std::uint64_t kept = std::min(contributions_, kMostOfAUser);
  return made_up(1 + random() % (kept + 3), random, unreadable);
}

CsvText::Unit CsvText::nulled(const Unit& unit) const {
  Unit result;
  for (const std::string& record : unit) {
    std::vector<std::string> blanks(columns_);
    if (user_) {
      const std::vector<std::string> cells = cut(record, delimiter_);
      if (*user_ < cells.size()) blanks[*user_] = cells[*user_];
    }
    std::string line;
    for (std::size_t i = 0; i < columns_; ++i)
      line += (i > 0 ? std::string(1, delimiter_) : "") + blanks[i];
    result.push_back(std::move(line));
  }
  return result;
}

std::string CsvText::without(const std::vector<std::size_t>& left_out) const {
  std::string text = header_ + "\n";
  std::size_t next = 0;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    if (next < left_out.size() && left_out[next] == i) {
      ++next;
    } else {
      text += records_[i] + "\n";
    }
  }
  return text;
}

namespace {

std::string followed_by(std::string text, const CsvText::Unit& unit) {
  for (const std::string& record : unit) text += record + "\n";
  return text;
}

}  // namespace

CsvText::Pair CsvText::neighbours(Change change, std::mt19937_64& random, bool unreadable) const {
  if (change == Change::add) {
    const std::string others = without({});
    return {others, followed_by(others, made_up(random, unreadable)), 0};
  }
  if (units_.empty()) throw DataError("there is no record to change", "give a file with records");
  const std::vector<std::size_t>& chosen = units_[random() % units_.size()];
  const std::string others = without(chosen);
  Unit own;
  for (const std::size_t i : chosen) own.push_back(records_[i]);
  const std::string with = followed_by(others, own);
  const std::size_t record = chosen.front() + 1;
  if (change == Change::drop) return {with, others, record};
  return {with,
          followed_by(others, change == Change::null ? nulled(own)
                                                     : made_up(own.size(), random, unreadable)),
          record};
}

CsvText::Pair CsvText::neighbours(Change change, const Unit& unit, const Unit& other,
                                  std::mt19937_64& random) const {
  const bool room = change == Change::add || change == Change::drop || units_.empty();
  const std::vector<std::size_t> left_out =
      room ? std::vector<std::size_t>() : units_[random() % units_.size()];
  // As many records as were there: under these relations their number is public.
  const auto fitting = [&](const Unit& from) {
    if (left_out.empty()) return from;
    Unit result;
    for (std::size_t i = 0; i < left_out.size(); ++i) result.push_back(from[i % from.size()]);
    return result;
  };
  const std::string others = without(left_out), with = followed_by(others, fitting(unit));
  switch (change) {
    case Change::drop: return {with, others, 0};
    case Change::add: return {others, with, 0};
    case Change::replace: return {with, followed_by(others, fitting(other)), 0};
    case Change::null: return {with, followed_by(others, nulled(fitting(unit))), 0};
  }
  return {};
}

CsvText::Unit CsvText::crossed(const Unit& most, const Unit& some, std::mt19937_64& random) const {
  Unit result = most;
  for (std::string& record : result) record = crossed(record, some[random() % some.size()], random);
  return result;
}

std::string CsvText::crossed(const std::string& most, const std::string& some,
                             std::mt19937_64& random) const {
  std::vector<std::string> cells = cut(most, delimiter_);
  const std::vector<std::string> others = cut(some, delimiter_);
  cells.resize(columns_);
  const std::size_t sure = random() % columns_;
  for (std::size_t i = 0; i < std::min(columns_, others.size()); ++i)
    if (i == sure || random() % 8 == 0) cells[i] = others[i];
  std::string record;
  for (std::size_t i = 0; i < columns_; ++i)
    record += (i > 0 ? std::string(1, delimiter_) : "") + cells[i];
  return record;
}

}  // namespace sotto::cli
