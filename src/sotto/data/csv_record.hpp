// Records and fields of a block of CSV text (RFC 4180), without copying.
//
// A field may be quoted; inside quotes, delimiters and line ends are text and "" is a quote. A
// quote inside an unquoted field, or text after a closing quote, is a fault: with that rule a byte
// is inside quotes exactly when an odd number of quotes precedes it in its record, which is what
// lets a file be cut at record ends without parsing it (csv_block.hpp). Lines end in LF or CRLF. A
// line with nothing on it is not a record, unless records have one field: then it is an empty one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sotto {

// What is wrong, and where in the block; the reader turns it into a DataError with the place in the
// file.
struct CsvFault {
  std::uint64_t record = 0;           // 0-based in its block
  std::uint64_t line = 0;             // lines of the block before the record
  std::optional<std::size_t> column;  // 0-based
  std::string what, hint;
};

struct CsvField {
  std::string_view raw;  // without the surrounding quotes
  bool quoted = false;
  bool escaped = false;  // raw still holds doubled quotes

  // The text of the field; `scratch` is used only when quotes have to be undoubled.
  std::string_view text(std::string& scratch) const { return escaped ? undoubled(scratch) : raw; }

 private:
  std::string_view undoubled(std::string& scratch) const;
};

class CsvCursor {
 public:
  // The scan reads whole words, so this many bytes after the block must be readable.
  static constexpr std::size_t kPadding = 64;

  // The block holds whole records, the last one ended by a line feed.
  CsvCursor(std::string_view block, char delimiter, std::size_t max_field_bytes);

  // From here on lines with nothing on them are records with one empty field.
  void take_blank_lines() { blank_lines_ = true; }

  // False at the end of the block. Throws CsvFault.
  bool next(std::vector<CsvField>& fields);

  // Of the record last returned: its place in the block.
  std::uint64_t record() const { return records_ - 1; }
  std::uint64_t line() const { return record_line_; }
  // Of the block so far.
  std::uint64_t records() const { return records_; }
  std::uint64_t lines() const { return lines_; }

 private:
  std::size_t
  next_mark();  // position of the next delimiter, line feed or quote; block size at the end
  void load_marks();
  void add_quoted(std::vector<CsvField>& fields, std::size_t begin, std::size_t& mark);
  [[noreturn]] void fault(std::size_t column, std::string what, std::string hint) const;

  std::string_view block_;
  char delimiter_;
  std::size_t max_field_bytes_;
  bool has_nul_, blank_lines_ = false;
  std::size_t position_ = 0;  // start of the next record
  std::size_t word_ = 0;      // start of the 64 bytes whose marks are in marks_
  std::uint64_t marks_ = 0;
  std::uint64_t records_ = 0, lines_ = 0, record_line_ = 0;
};

}  // namespace sotto
