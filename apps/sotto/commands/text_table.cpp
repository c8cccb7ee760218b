#include "commands/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sotto/core/error.hpp"
#include "sotto/data/byte_source.hpp"

namespace sotto::cli {
namespace {

constexpr std::size_t kLargest = std::size_t{1} << 30;
constexpr const char* kEnd = "end";

// Some characters mean something to a CSV file; their numbers do not.
std::string cell(char c) { return fmt::format("c{}", static_cast<int>(c)); }

char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string column(std::size_t i) { return fmt::format("character_{}", i + 1); }

}  // namespace

TextTable::TextTable(const std::string& alphabet, std::size_t length) : length_(length) {
  for (const char c : alphabet) {
    if (c < ' ' || c > '~')
      throw InvalidArgument("--alphabet has a character that is not printable ASCII");
    if (alphabet_.find(small(c)) == std::string::npos) alphabet_ += small(c);
  }
  if (alphabet_.size() < 2) throw InvalidArgument("--alphabet has fewer than two characters");
}

std::vector<std::string> TextTable::lines(const std::string& path) const {
  std::vector<std::string> all;
  std::string line;
  const auto take = [&] {
    if (!line.empty()) all.push_back(line.substr(0, length_));
    line.clear();
  };
  for (const char raw : read_all(path, kLargest)) {
    const char c = small(raw);
    if (c == '\n')
      take();
    else if (c != '\r')
      line += alphabet_.find(c) == std::string::npos ? alphabet_.back() : c;
  }
  take();
  if (all.empty()) throw DataError(fmt::format("'{}' has no line of text", path));
  return all;
}

std::string TextTable::fitting(const std::string& text) const {
  if (text.size() > length_)
    throw InvalidArgument(fmt::format("--secret is longer than --length {}", length_));
  std::string needed;
  for (const char c : text) needed += c == '#' ? "0123456789" : c == '?' ? "az" : std::string(1, c);
  for (const char c : needed)
    if (alphabet_.find(c) == std::string::npos)
      throw InvalidArgument(fmt::format("--secret needs '{}', which --alphabet does not have", c));
  return text;
}

Schema TextTable::schema(std::uint64_t rows) const {
  Schema schema;
  schema.rows = rows;
  for (std::size_t i = 0; i < length_; ++i) {
    ColumnSchema c;
    c.name = column(i);
    c.type = ColumnType::categorical;
    for (const char letter : alphabet_) c.values.push_back(cell(letter));
    c.values.push_back(kEnd);
    schema.columns.push_back(std::move(c));
  }
  return schema;
}

std::string TextTable::csv(const std::vector<std::string>& lines) const {
  std::string text;
  for (std::size_t i = 0; i < length_; ++i) text += (i > 0 ? "," : "") + column(i);
  for (const std::string& line : lines) {
    text += '\n';
    for (std::size_t i = 0; i < length_; ++i) {
      if (i > 0) text += ',';
      text += i < line.size() ? cell(line[i]) : kEnd;
    }
  }
  return text + "\n";
}

}  // namespace sotto::cli
