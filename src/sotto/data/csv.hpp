// CSV files (RFC 4180), plain or gzip, and what databases answer, read as a stream by several
// threads in bounded memory.
//
//   CsvReader reader("people.csv");
//   reader.for_each_number("age", [&](double age, std::uint64_t row) { … });
//
// Quotes, line ends inside quotes, LF and CRLF, a UTF-8 byte-order mark; spaces around a number are
// allowed. The delimiter is found in the header line where it is not given, and nowhere else: names
// of columns are public, rows are not. Rows are counted from 1 and are data records: the header is
// no row, nor is an empty line where there are several columns; in a file of one column it is a row
// whose cell is missing.
// Callbacks run on the calling thread in file order, and what they see does not depend on the
// number of threads. Errors are DataErrors that name the file, the column and the row number, and
// never quote a cell. Earlier rows have been delivered by then: release nothing before a pass is
// over.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/data/csv_block.hpp"
#include "sotto/data/csv_record.hpp"
#include "sotto/data/encoding.hpp"

namespace sotto {

struct CsvOptions {
  bool header = true;
  std::vector<std::string> names = {};  // without a header: the columns' names; default "1", "2", …
  // Default: of comma, semicolon, tab and bar the one that is most frequent in the header line
  // outside of quotes; the comma where that leaves a choice or there is no header.
  std::optional<char> delimiter = {};
  bool decimal_comma = false;  // 1,5 is one and a half
  Encoding encoding = Encoding::utf_8;
  std::string query = {};   // of a database (database.hpp)
  bool repeatable = false;  // every pass sees the same rows, also of a database
  std::vector<std::string> missing_values =
      {};                // cells that mean "missing", e.g. "?", "NA"; an empty cell always does
  unsigned threads = 0;  // 0: as many as the machine has
  std::size_t block_bytes = std::size_t{1} << 18;  // fits the second-level cache
  std::size_t max_field_bytes = std::size_t{1} << 20;
  std::size_t max_record_bytes = std::size_t{64} << 20;
};

// What becomes of a missing, NaN or infinite cell in a numeric column. Text is always refused.
enum class MissingNumbers { refuse, as_nan };

// The records of one block, on the thread that parses it.
class CsvRecords {
 public:
  CsvRecords(CsvBlock& block, CsvCursor& cursor, const std::vector<std::string>& columns)
      : block_(&block), cursor_(&cursor), columns_(&columns) {}

  // One field for each column; views into the block.
  bool next(std::vector<CsvField>& fields);
  // Refuses the record that next() gave, because of this column.
  [[noreturn]] void refuse(std::size_t column, std::string what, std::string hint = {}) const;
  // Takes the block away, so that the fields outlive the call; no next() after it.
  CsvBlock take_block() { return std::move(*block_); }

 private:
  CsvBlock* block_;
  CsvCursor* cursor_;
  const std::vector<std::string>* columns_;
};

class CsvReader {
 public:
  // A file, "-" (standard input, one pass only) or a database.
  explicit CsvReader(const std::string& path, const CsvOptions& options = {});
  static CsvReader from_text(std::string text, CsvOptions options = {},
                             const std::string& label = "<text>");

  // Text from anywhere; `open` is called once for each pass.
  using Opener = std::function<std::unique_ptr<ByteSource>()>;
  static CsvReader from_source(const std::string& label, Opener open, CsvOptions options = {}) {
    return CsvReader(label, std::move(open), std::move(options));
  }

  const std::string& label() const { return label_; }
  const std::vector<std::string>& columns() const { return columns_; }
  bool decimal_comma() const { return options_.decimal_comma; }
  // Where the column stands; throws DataError that suggests the nearest name.
  std::size_t column(std::string_view name) const;

  void for_each_number(std::string_view column,
                       const std::function<void(double value, std::uint64_t row)>& visit,
                       MissingNumbers missing = MissingNumbers::refuse);
  // The same in runs, for speed: values of the rows first_row, first_row + 1, …
  void for_each_numbers(
      std::string_view column,
      const std::function<void(std::span<const double> values, std::uint64_t first_row)>& visit,
      MissingNumbers missing = MissingNumbers::refuse);
  // Several columns: rows × columns values, row by row.
  void for_each_matrix(
      std::span<const std::size_t> columns,
      const std::function<void(std::span<const double> values, std::uint64_t first_row)>& visit,
      MissingNumbers missing = MissingNumbers::refuse);
  // A cell that is marked as missing comes as an empty one.
  void for_each_text(std::string_view column,
                     const std::function<void(std::string_view text, std::uint64_t row)>& visit);
  void for_each_row(
      const std::function<void(std::span<const std::string_view> cells, std::uint64_t row)>& visit);
  std::uint64_t count_rows();

  // The engine below all of the above: `map` turns the records of a block into a Result, on any
  // thread; `consume(Result&&, first_row)` gets the results in order on the calling thread.
  template <class Result>
  void map_blocks(const std::function<Result(CsvRecords&)>& map,
                  const std::function<void(Result&&, std::uint64_t)>& consume) {
    run([&](CsvRecords& records) { return std::make_shared<Result>(map(records)); },
        [&](void* result, std::uint64_t first_row) {
          consume(std::move(*static_cast<Result*>(result)), first_row);
        });
  }

 private:
  struct FirstPass;  // what opening the file has read already

  CsvReader(std::string label, Opener open, CsvOptions options);
  void run(const std::function<std::shared_ptr<void>(CsvRecords&)>& map,
           const std::function<void(void*, std::uint64_t)>& consume);
  std::shared_ptr<FirstPass> open_pass() const;
  std::size_t mark_length(std::string_view text) const;
  std::string separator_hint() const;
  bool blank_lines_are_rows() const { return columns_.size() == 1; }
  [[noreturn]] void raise(const CsvFault& fault, std::uint64_t rows, std::uint64_t lines) const;

  std::string label_;
  Opener open_;
  CsvOptions options_;
  char delimiter_ = ',', looks_like_ = ',';  // used, and most frequent in the header
  std::vector<std::string> columns_;
  bool shapeless_ =
      false;  // no header and no line with anything on it: whatever column is asked for is there
  std::shared_ptr<FirstPass> first_pass_;
};

}  // namespace sotto
