#include "sotto/data/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>
#include <utility>

#include "sotto/core/error.hpp"
#include "sotto/core/nearest_name.hpp"
#include "sotto/core/text.hpp"
#include "sotto/data/detail/database.hpp"
#include "sotto/data/detail/ordered_map.hpp"
#include "sotto/data/detail/short_decimal.hpp"
#include "sotto/data/number.hpp"
#include "sotto/data/read_witness.hpp"
#include "sotto/data/source_error.hpp"

namespace sotto {

struct CsvReader::FirstPass {
  CsvBlockReader blocks;
  CsvBlock block;  // the first one that holds a record
  bool has_block = false;
  std::size_t mark = 0;     // length of the byte-order mark, when the block is the file's first
  std::uint64_t lines = 0;  // empty lines in the blocks before it
  std::uint64_t blank = 0;  // those of them that are rows and are still to be delivered
};

namespace {

struct Item {
  CsvBlock block;
  bool first = false;
};

CsvBlock blank_block(std::size_t lines) {
  CsvBlock block;
  block.bytes.assign(lines + CsvCursor::kPadding, '\n');
  block.size = lines;
  return block;
}

struct Parsed {
  std::shared_ptr<void> result;  // null when there is a fault
  std::uint64_t records = 0, lines = 0;
  std::optional<CsvFault> fault;
};

// The fields of a block with the bytes they point into.
struct TextBlock {
  CsvBlock block;
  std::vector<CsvField> fields;
};

// The number of lines when all of them are empty, else 0.
std::uint64_t empty_lines(std::string_view text) {
  std::uint64_t lines = 0;
  while (!text.empty()) {
    const std::size_t length = text.starts_with('\n') ? 1 : text.starts_with("\r\n") ? 2 : 0;
    if (length == 0) return 0;
    text.remove_prefix(length);
    ++lines;
  }
  return lines;
}

std::string place(const std::vector<std::string>& columns, std::size_t column) {
  return column < columns.size() ? fmt::format("column '{}'", columns[column])
                                 : fmt::format("field {}", column + 1);
}

// Without a header row the first line is a record, and what is wrong with it is no public fact.
[[noreturn]] void header_error(const CsvOptions& options, const std::string& what,
                               const std::string& hint) {
  if (options.header) throw SourceError(what, hint);
  throw DataError(what, hint);
}

bool is_missing_marker(const CsvOptions& options, std::string_view cell) {
  const auto& markers = options.missing_values;
  return !markers.empty() &&
         std::find(markers.begin(), markers.end(), trimmed(cell)) != markers.end();
}

double number_of(const CsvRecords& records, const CsvField& field, std::size_t column,
                 const CsvOptions& options, MissingNumbers missing) {
  std::string scratch;
  double number = 0;
  const bool marker = is_missing_marker(options, field.raw);  // also if it is a number, such as -99
  if (!marker && !options.decimal_comma &&
      detail::short_decimal(field.raw.data(), field.raw.size(), number))
    return number;
  const NumberCell cell =
      parse_number(options.decimal_comma ? with_point(field.raw, scratch) : field.raw);
  if (cell.kind == CellKind::number && !marker) return cell.value;
  if (cell.kind == CellKind::text && !marker) {
    records.refuse(column, "the cell is not a number",
                   options.decimal_comma
                       ? "numbers have decimal commas here; correct the file, or name the texts "
                         "that mean a missing value"
                       : "correct the file, or name the texts that mean a missing value; `decimal` "
                         "comma reads 1,5");
  }
  if (missing == MissingNumbers::as_nan) return std::numeric_limits<double>::quiet_NaN();
  if (cell.kind == CellKind::not_finite) {
    records.refuse(column, "the cell is NaN, infinite or too large for a double",
                   "correct the file, or declare what a missing value becomes");
  }
  records.refuse(column, "the cell is empty or marked as missing",
                 "correct the file, or declare what a missing value becomes");
}

struct Separator {
  char character;
  const char* name;
};
constexpr Separator kSeparators[] = {
    {',', "comma"}, {';', "semicolon"}, {'\t', "tab"}, {'|', "bar"}};

// The separator that is most frequent in the first line with anything on it, outside of quotes; the
// comma where that leaves a choice. Looks at no other line.
char most_frequent(std::string_view text) {
  while (text.starts_with('\n') || text.starts_with("\r\n"))
    text.remove_prefix(text.front() == '\n' ? 1 : 2);
  char best = ',';
  std::size_t most = 0;
  for (const Separator& separator : kSeparators) {
    std::size_t count = 0;
    bool quoted = false;
    for (const char c : text.substr(0, text.find('\n'))) {
      if (c == '"') quoted = !quoted;
      count += !quoted && c == separator.character ? 1 : 0;
    }
    if (count > most) best = separator.character;
    most = std::max(most, count);
  }
  return best;
}

CsvReader::Opener opener_of(const std::string& path, const CsvOptions& options) {
  if (is_database(path)) {
    const auto open = [path, query = options.query] {
      return ReadWitness::watched(open_query(path, query), path);
    };
    if (!options.repeatable) return open;
    return [open, spool = std::shared_ptr<Spool>()]() mutable {
      if (!spool) spool = std::make_shared<Spool>(*open());
      return spool->open();
    };
  }
  return [path, options]() -> std::unique_ptr<ByteSource> {
    if (!options.query.empty())
      throw SourceError(fmt::format("`query` is for databases, and {} is none", path),
                        "an address begins with postgresql://; SQLite files are told by their "
                        "first bytes");
    return as_utf8(open_bytes(path), options.encoding, path);
  };
}

// What a database answers has one form, whatever was said about files.
CsvOptions options_of(const std::string& path, CsvOptions options) {
  if (!is_database(path)) return options;
  options.header = true;
  options.names.clear();
  options.delimiter = ',';
  return options;
}

// Formats that are no text, told by how they begin.
const char* other_format(std::string_view text) {
  if (text.starts_with("PAR1\x15")) return "Parquet";
  if (text.starts_with("PK\x03\x04")) return "a ZIP archive or a spreadsheet";
  if (text.starts_with("ARROW1")) return "Arrow";
  return nullptr;
}

}  // namespace

bool CsvRecords::next(std::vector<CsvField>& fields) {
  if (!cursor_->next(fields)) return false;
  if (fields.size() == columns_->size()) return true;
  throw CsvFault{cursor_->record(), cursor_->line(), std::nullopt,
                 fmt::format("the record has {} fields; there are {} columns", fields.size(),
                             columns_->size()),
                 "a field that contains the delimiter must be quoted"};
}

void CsvRecords::refuse(std::size_t column, std::string what, std::string hint) const {
  throw CsvFault{cursor_->record(), cursor_->line(), column, std::move(what), std::move(hint)};
}

CsvReader::CsvReader(const std::string& path, const CsvOptions& options)
    : CsvReader(path == "-" ? "standard input" : shown_place(path), opener_of(path, options),
                options_of(path, options)) {
  if (path != "-") return;
  open_ = []() -> std::unique_ptr<ByteSource> {
    throw Unsupported("standard input can be read only once", "give the name of a file");
  };
}

CsvReader CsvReader::from_text(std::string text, CsvOptions options, const std::string& label) {
  auto shared = std::make_shared<const std::string>(std::move(text));
  const Encoding encoding = options.encoding;
  return CsvReader(
      label,
      [shared, label, encoding] { return as_utf8(bytes_of(*shared, label), encoding, label); },
      std::move(options));
}

CsvReader::CsvReader(std::string label, Opener open, CsvOptions options)
    : label_(std::move(label)), open_(std::move(open)), options_(std::move(options)) {
  constexpr std::string_view kReserved("\"\r\n\0", 4);
  if (options_.delimiter && kReserved.find(*options_.delimiter) != std::string_view::npos) {
    throw InvalidArgument("the delimiter must not be a quote, a line end or NUL");
  }
  first_pass_ = open_pass();
  if (options_.header && first_pass_->has_block)
    looks_like_ = most_frequent(first_pass_->block.text().substr(first_pass_->mark));
  delimiter_ = options_.delimiter.value_or(looks_like_);
  const auto empty = [&] {
    throw SourceError(fmt::format("{} is empty", label_),
                      "a header row with the columns' names is expected");
  };
  if (!first_pass_->has_block) {
    if (options_.header) empty();
    // Without a header row there may be no record at all, or nothing in any of them.
    shapeless_ = true;
    columns_ = options_.names.empty() ? std::vector<std::string>{"1"} : options_.names;
    return;
  }
  CsvCursor cursor(first_pass_->block.text().substr(first_pass_->mark), delimiter_,
                   options_.max_field_bytes);
  std::vector<CsvField> fields;
  try {
    if (!cursor.next(fields)) invariant_broken("a block of empty lines");
  } catch (const CsvFault& fault) {
    // Not header_error: a quote that the header leaves open ends, or does not, among the records.
    throw DataError(fmt::format("{}: line {}, {}: {}", label_, first_pass_->lines + fault.line + 1,
                                place({}, fault.column.value_or(0)), fault.what),
                    fault.hint);
  }
  std::string scratch;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].raw.find('\r') != std::string_view::npos && options_.header) {
      header_error(
          options_,
          fmt::format("{}: the header holds a carriage return without a line feed", label_),
          "convert the line ends to LF or CRLF");
    }
    if (options_.header && !is_utf8(fields[i].raw)) {
      throw SourceError(fmt::format("{}: the name of column {} is not UTF-8", label_, i + 1),
                        "say how the file is written, e.g. `encoding` latin-1, or convert it");
    }
    columns_.emplace_back(options_.header ? std::string(trimmed(fields[i].text(scratch)))
                                          : std::to_string(i + 1));
  }
  if (options_.header || options_.names.empty()) return;
  if (options_.names.size() != columns_.size()) {
    throw DataError(fmt::format("{} has {} columns; {} names are declared", label_, columns_.size(),
                                options_.names.size()));
  }
  columns_ = options_.names;
}

std::shared_ptr<CsvReader::FirstPass> CsvReader::open_pass() const {
  auto pass = std::make_shared<FirstPass>(
      FirstPass{CsvBlockReader(open_(), options_.block_bytes, options_.max_record_bytes),
                {},
                false,
                0,
                0,
                0});
  try {
    for (bool first = true; (pass->has_block = pass->blocks.next(pass->block)); first = false) {
      pass->mark = first ? mark_length(pass->block.text()) : 0;
      const std::uint64_t lines = empty_lines(pass->block.text().substr(pass->mark));
      if (lines == 0) break;
      pass->lines += lines;
    }
  } catch (const CsvFault& fault) {
    raise(fault, 0, pass->lines);
  }
  return pass;
}

// The length of the byte-order mark.
std::size_t CsvReader::mark_length(std::string_view text) const {
  if (text.starts_with("\xef\xbb\xbf")) return 3;
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    header_error(options_, fmt::format("{} is UTF-16", label_),
                 "say so with `encoding` utf-16, or convert it to UTF-8");
  }
  if (const char* format = other_format(text))
    header_error(options_, fmt::format("{} is {}, which is not read", label_, format),
                 "write it as CSV first, e.g. with pandas: read_parquet or read_excel, then "
                 "to_csv(index=False)");
  return 0;
}

std::string CsvReader::separator_hint() const {
  const auto* found = std::find_if(std::begin(kSeparators), std::end(kSeparators),
                                   [&](const Separator& s) { return s.character == looks_like_; });
  return fmt::format("the header looks {}-separated: use `delimiter` {}", found->name, found->name);
}

std::size_t CsvReader::column(std::string_view name) const {
  if (shapeless_ && options_.names.empty()) return 0;
  const auto found = std::find(columns_.begin(), columns_.end(), name);
  if (found == columns_.end()) {
    header_error(
        options_, fmt::format("{} has no column '{}'", label_, name),
        looks_like_ != delimiter_ ? separator_hint() : name_hint(name, columns_, "columns"));
  }
  if (std::find(found + 1, columns_.end(), name) != columns_.end()) {
    header_error(options_, fmt::format("{} has more than one column '{}'", label_, name),
                 "give the columns different names");
  }
  return static_cast<std::size_t>(found - columns_.begin());
}

void CsvReader::raise(const CsvFault& fault, std::uint64_t rows, std::uint64_t lines) const {
  const std::string column = fault.column ? ", " + place(columns_, *fault.column) : "";
  throw DataError(fmt::format("{}: row {} (line {}){}: {}", label_, rows + fault.record + 1,
                              lines + fault.line + 1, column, fault.what),
                  fault.hint);
}

void CsvReader::run(const std::function<std::shared_ptr<void>(CsvRecords&)>& map,
                    const std::function<void(void*, std::uint64_t)>& consume) {
  std::shared_ptr<FirstPass> pass = first_pass_ ? std::move(first_pass_) : open_pass();
  first_pass_.reset();
  if (!options_.header && blank_lines_are_rows()) pass->blank = std::exchange(pass->lines, 0);

  const auto produce = [&](Item& item) {
    if (pass->blank > 0) {
      const std::uint64_t lines = std::min<std::uint64_t>(pass->blank, options_.block_bytes);
      item.block = blank_block(lines);
      item.first = false;
      pass->blank -= lines;
      return true;
    }
    item.first = pass->has_block;
    if (!item.first) return pass->blocks.next(item.block);
    item.block = std::move(pass->block);
    pass->has_block = false;
    return true;
  };
  const auto parse = [&](Item& item) {
    Parsed parsed;
    const std::string_view text = item.block.text().substr(item.first ? pass->mark : 0);
    CsvCursor cursor(text, delimiter_, options_.max_field_bytes);
    const bool skip = item.first && options_.header;
    try {
      std::vector<CsvField> header;
      if (skip) cursor.next(header);
      if (blank_lines_are_rows()) cursor.take_blank_lines();
      CsvRecords records(item.block, cursor, columns_);
      parsed.result = map(records);
    } catch (const CsvFault& fault) {
      parsed.fault = fault;
      if (skip) --parsed.fault->record;
    }
    parsed.records = cursor.records() - skip;
    parsed.lines = cursor.lines();
    return parsed;
  };
  std::uint64_t rows = 0, lines = pass->lines;
  const auto take = [&](Parsed&& parsed) {
    if (parsed.fault) raise(*parsed.fault, rows, lines);
    consume(parsed.result.get(), rows + 1);
    rows += parsed.records;
    lines += parsed.lines;
  };
  const unsigned machine = std::max(1U, std::thread::hardware_concurrency());
  const unsigned threads = options_.threads > 0 ? options_.threads : machine;
  try {
    // A file of one block is not worth a thread.
    ordered_map<Item, Parsed>(pass->blocks.ended() ? 1 : threads, produce, parse, take);
  } catch (const CsvFault& fault) {  // from cutting the file into blocks
    raise(fault, rows, lines);
  }
}

void CsvReader::for_each_matrix(
    std::span<const std::size_t> columns,
    const std::function<void(std::span<const double>, std::uint64_t)>& visit,
    MissingNumbers missing) {
  std::atomic<std::size_t> usual_size = 0;  // blocks are much alike
  map_blocks<std::vector<double>>(
      [&](CsvRecords& records) {
        std::vector<double> values;
        values.reserve(usual_size + usual_size / 16);
        std::vector<CsvField> fields;
        while (records.next(fields)) {
          for (const std::size_t c : columns) {
            values.push_back(number_of(records, fields[c], c, options_, missing));
          }
        }
        usual_size = values.size();
        return values;
      },
      [&](std::vector<double>&& values, std::uint64_t first_row) { visit(values, first_row); });
}

void CsvReader::for_each_numbers(
    std::string_view column,
    const std::function<void(std::span<const double>, std::uint64_t)>& visit,
    MissingNumbers missing) {
  const std::size_t wanted = this->column(column);
  for_each_matrix({&wanted, 1}, visit, missing);
}

void CsvReader::for_each_number(std::string_view column,
                                const std::function<void(double, std::uint64_t)>& visit,
                                MissingNumbers missing) {
  for_each_numbers(
      column,
      [&](std::span<const double> values, std::uint64_t row) {
        for (const double value : values) visit(value, row++);
      },
      missing);
}

void CsvReader::for_each_row(
    const std::function<void(std::span<const std::string_view>, std::uint64_t)>& visit) {
  const std::size_t width = columns_.size();
  std::vector<std::string_view> cells(width);
  std::vector<std::string> scratch(width);
  map_blocks<TextBlock>(
      [&](CsvRecords& records) {
        TextBlock text;
        std::vector<CsvField> fields;
        while (records.next(fields)) {
          text.fields.insert(text.fields.end(), fields.begin(), fields.end());
        }
        text.block = records.take_block();
        return text;
      },
      [&](TextBlock&& text, std::uint64_t row) {
        for (std::size_t at = 0; at < text.fields.size(); at += width, ++row) {
          for (std::size_t c = 0; c < width; ++c) cells[c] = text.fields[at + c].text(scratch[c]);
          visit(cells, row);
        }
      });
}

void CsvReader::for_each_text(std::string_view column,
                              const std::function<void(std::string_view, std::uint64_t)>& visit) {
  const std::size_t wanted = this->column(column);
  std::string scratch;
  map_blocks<TextBlock>(
      [&](CsvRecords& records) {
        TextBlock text;
        std::vector<CsvField> fields;
        while (records.next(fields)) text.fields.push_back(fields[wanted]);
        text.block = records.take_block();
        return text;
      },
      [&](TextBlock&& text, std::uint64_t row) {
        for (const CsvField& field : text.fields) {
          const std::string_view cell = field.text(scratch);
          visit(is_missing_marker(options_, cell) ? std::string_view() : cell, row++);
        }
      });
}

std::uint64_t CsvReader::count_rows() {
  std::uint64_t rows = 0;
  map_blocks<std::uint64_t>(
      [](CsvRecords& records) {
        std::uint64_t n = 0;
        std::vector<CsvField> fields;
        while (records.next(fields)) ++n;
        return n;
      },
      [&](std::uint64_t&& n, std::uint64_t) { rows += n; });
  return rows;
}

}  // namespace sotto
