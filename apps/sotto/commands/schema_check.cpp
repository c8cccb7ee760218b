// sotto schema check: everything that is wrong with a schema, and whether a file fits it.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "options/reader_options.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/nearest_name.hpp"
#include "sotto/core/text.hpp"
#include "sotto/data/byte_source.hpp"
#include "sotto/data/csv.hpp"
#include "sotto/data/encoder.hpp"
#include "sotto/data/number.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShownCells = 3;  // of a column
constexpr std::size_t kMostTextBytes = std::size_t{16} << 20;

// How the cells of one column are read, and how often not as they are.
class CheckedColumn {
 public:
  CheckedColumn(const ColumnSchema& column, const Schema& schema, std::size_t field)
      : column_(column), field_(field), readers_(readers(column, schema)) {
    ColumnSchema strict = column;
    strict.missing = Missing::refuse;
    strict.invalid = Invalid::refuse;
    strict_ = readers(strict, schema);
  }

  const ColumnSchema& column() const { return column_; }
  std::size_t field() const { return field_; }
  bool is_missing(std::string_view cell) const { return readers_.front().is_missing(cell); }
  // Throws CellRefused.
  void see(std::string_view cell) {
    ++counts_.cells;
    const bool absent = is_missing(cell);
    counts_.missing += absent ? 1 : 0;
    if (column_.type == ColumnType::text) return;
    if (!absent) {
      const bool clamped = std::any_of(readers_.begin(), readers_.end(),
                                       [&](const auto& r) { return r.is_clamped(cell); });
      counts_.clamped += clamped ? 1 : 0;
      const bool foreign = !is_read(strict_, cell);
      counts_.other += foreign && column_.type == ColumnType::categorical ? 1 : 0;
      counts_.unreadable += foreign && column_.type != ColumnType::categorical ? 1 : 0;
    }
    for (const ColumnEncoder& reader : readers_) read(reader, cell);
  }

  struct Counts {
    std::uint64_t cells = 0, clamped = 0, other = 0, missing = 0, unreadable = 0;
    std::uint64_t refused = 0, with_comma = 0;  // of those refused: numbers if a comma is a point
  };
  const Counts& counts() const { return counts_; }
  // How many were refused with this one.
  std::uint64_t refuse(std::string_view cell) {
    const bool comma = column_.type == ColumnType::numeric && cell.find('.') == cell.npos &&
                       parse_number(with_point(cell, scratch_)).kind == CellKind::number;
    counts_.with_comma += comma ? 1 : 0;
    return ++counts_.refused;
  }

 private:
  static std::vector<ColumnEncoder> readers(const ColumnSchema& c, const Schema& schema) {
    std::vector<ColumnEncoder> list;
    for (const DatePart part : c.parts)
      list.emplace_back(c, part, schema.scaling, schema.missing_values);
    if (list.empty()) list.emplace_back(c, schema.scaling, schema.missing_values);
    return list;
  }
  static void read(const ColumnEncoder& e, std::string_view cell) {
    e.is_categorical() || e.column().role == Role::group ? static_cast<void>(e.index(cell))
                                                         : static_cast<void>(e.value(cell));
  }
  static bool is_read(const std::vector<ColumnEncoder>& readers, std::string_view cell) {
    try {
      for (const ColumnEncoder& reader : readers) read(reader, cell);
      return true;
    } catch (const CellRefused&) {
      return false;
    }
  }

  ColumnSchema column_;
  std::size_t field_;
  std::vector<ColumnEncoder> readers_, strict_;
  Counts counts_;
  std::string scratch_;
};

// What the file has against the schema, for its curator's eyes.
struct FileFindings {
  std::vector<SchemaProblem> problems;
  std::vector<std::string> notes;
  std::vector<std::pair<std::string, CheckedColumn::Counts>> columns;
};

// Columns that are encoded, read cell by cell; those refused are listed until there are too many.
void check_cells(CsvReader& reader, const Schema& schema, FileFindings& found) {
  std::vector<CheckedColumn> columns;
  for (const ColumnSchema& c : schema.columns) {
    const auto& names = reader.columns();
    const bool encoded = c.role != Role::ignore && c.role != Role::user;
    if (encoded && std::find(names.begin(), names.end(), c.name) != names.end())
      columns.emplace_back(c, schema, reader.column(c.name));
  }
  std::uint64_t rows = 0, foreign = 0, with_comma = 0;
  std::string scratch;
  const auto cell_of = [&](const CheckedColumn& column, std::span<const std::string_view> cells) {
    const std::string_view cell = cells[column.field()];
    return reader.decimal_comma() && column.column().type == ColumnType::numeric
               ? with_point(cell, scratch)
               : cell;
  };
  reader.for_each_row([&](std::span<const std::string_view> cells, std::uint64_t row) {
    rows = row;
    const bool null = schema.relation == Relation::zero_out &&
                      std::all_of(columns.begin(), columns.end(), [&](const auto& column) {
                        return column.is_missing(cell_of(column, cells));
                      });
    if (null) return;
    for (CheckedColumn& column : columns) {
      try {
        const std::string_view cell = cell_of(column, cells);
        foreign += is_utf8(cell) ? 0 : 1;
        column.see(cell);
      } catch (const CellRefused& why) {
        if (column.refuse(cell_of(column, cells)) > kShownCells) continue;
        found.problems.push_back(
            {.where = fmt::format("row {}, column '{}'", row, column.column().name),
             .what = why.what,
             .hint = for_command_line(why.hint)});
      }
    }
  });
  for (const CheckedColumn& column : columns) {
    with_comma += column.counts().with_comma;
    if (column.counts().refused > kShownCells)
      found.notes.push_back(
          fmt::format("{} cells of column '{}' are refused in all; the first {} are listed",
                      column.counts().refused, column.column().name, kShownCells));
  }
  if (with_comma > 0 && !reader.decimal_comma())
    found.notes.push_back(fmt::format(
        "{} of them are numbers with a decimal comma: try --decimal comma", with_comma));
  if (foreign > 0)
    found.notes.push_back(fmt::format(
        "{} cells are not UTF-8 and match no declared value: try --encoding latin-1", foreign));
  const bool exact = count_is_public(schema.relation) && schema.unit == Unit::record;
  if (exact && schema.rows && rows != *schema.rows)
    found.problems.push_back(
        {.where = "rows",
         .what = fmt::format("the file has {} rows; the schema declares {}", rows, *schema.rows),
         .hint = "under this relation the number of rows is public and must be right"});
  for (const CheckedColumn& column : columns)
    found.columns.emplace_back(column.column().name, column.counts());
}

// Shares of cells that are not taken as they are, for whoever may see the data.
std::string shares_table(const FileFindings& found) {
  std::size_t width = 6;
  for (const auto& [name, counts] : found.columns) width = std::max(width, name.size());
  std::string out = fmt::format(
      "NOT PRIVATE: shares of cells, for the curator, never to be published\n"
      "  {:<{}}  {:>9}  {:>9}  {:>9}  {:>10}\n",
      "column", width, "clamped", "other", "missing", "unreadable");
  for (const auto& [name, counts] : found.columns) {
    const auto& c = counts;
    const auto share = [&](std::uint64_t count) {
      return c.cells == 0 ? std::string("-")
                          : fmt::format("{:.4g} %", 100.0 * static_cast<double>(count) /
                                                        static_cast<double>(c.cells));
    };
    out += fmt::format("  {:<{}}  {:>9}  {:>9}  {:>9}  {:>10}\n", visible(name), width,
                       share(c.clamped), share(c.other), share(c.missing), share(c.unreadable));
  }
  return out;
}

FileFindings check_file(const std::string& path, const Schema& schema, CsvOptions options) {
  if (!options.header) options.names = schema.names();
  CsvReader reader(path, options);
  FileFindings found;
  std::vector<std::string> unused = reader.columns();
  for (const ColumnSchema& c : schema.columns) {
    const auto at = std::find(unused.begin(), unused.end(), c.name);
    if (at != unused.end()) {
      unused.erase(at);
    } else if (c.role != Role::ignore) {
      found.problems.push_back(
          {.where = "columns." + c.name,
           .what = fmt::format("is not a column of {}", reader.label()),
           .hint = name_hint(c.name, reader.columns(), "columns of the file")});
    }
  }
  if (!unused.empty())
    found.notes.push_back(fmt::format("columns that the schema does not name are not read: {}",
                                      fmt::join(unused, ", ")));
  check_cells(reader, schema, found);
  return found;
}

// Valid, yet training will ask for more.
std::vector<std::string> advice(const Schema& schema) {
  std::vector<std::string> notes;
  if (!schema.rows) notes.emplace_back("no rows: 'sotto train' needs a declared number of rows");
  if (schema.target() == nullptr)
    notes.emplace_back(
        "no target: give --target COLUMN to 'sotto train', or a column role = \"target\"");
  const bool features = std::any_of(schema.columns.begin(), schema.columns.end(),
                                    [](const ColumnSchema& c) { return c.role == Role::feature; });
  if (!features) notes.emplace_back("no feature: there is nothing to predict from");
  return notes;
}

Json to_json(const SchemaProblem& p) {
  Json json = {{"where", p.where}, {"what", p.what}, {"hint", p.hint}};
  if (p.line) json["line"] = p.line;
  if (p.column) json["column"] = p.column;
  return json;
}

std::string position(const SchemaProblem& p) {
  if (!p.line) return "";
  return p.column ? fmt::format("line {}, column {}: ", p.line, p.column)
                  : fmt::format("line {}: ", p.line);
}

void run_schema_check(const Arguments& arguments, Context& context) {
  const std::string path = arguments.positionals().front();
  const std::string text = read_all(path, kMostTextBytes);
  std::vector<SchemaProblem> problems = schema_problems(text);
  std::vector<std::string> notes;
  const bool shares = arguments.flag("private-ok");
  if (shares && !arguments.given("data"))
    throw InvalidArgument("--private-ok is about the cells of a file", "give --data FILE");
  FileFindings found;
  if (problems.empty()) {
    const Schema schema = Schema::from_toml(text, path);
    notes = advice(schema);
    if (arguments.given("data")) {
      found = check_file(arguments.text("data"), schema, csv_options(arguments));
      problems = found.problems;
      notes.insert(notes.end(), found.notes.begin(), found.notes.end());
      context.note("what is said about the file's rows is for its curator: NOT PRIVATE");
    }
  } else if (arguments.given("data")) {
    notes.emplace_back("the file was not read: the schema comes first");
  }
  if (arguments.flag("json")) {
    Json json = {{"schema", 1}, {"valid", problems.empty()}, {"problems", Json::array()}};
    for (const SchemaProblem& p : problems) json["problems"].push_back(to_json(p));
    json["notes"] = notes;
    for (const auto& [name, c] : found.columns) {
      if (!shares) break;
      json["warning"] = "NOT PRIVATE";
      json["columns"][name] = {{"cells", c.cells},
                               {"clamped", c.clamped},
                               {"other", c.other},
                               {"missing", c.missing},
                               {"unreadable", c.unreadable}};
    }
    context.out.print("{}\n", json.dump());
  } else {
    for (const SchemaProblem& p : problems) {
      context.out.print("{}{}{}\n", position(p), p.where.empty() ? "" : p.where + " ", p.what);
      if (!p.hint.empty()) context.out.print("    {}\n", p.hint);
    }
    for (const std::string& note : notes) context.out.print("note: {}\n", note);
    if (shares && !found.columns.empty()) context.out.print("{}", Lines{shares_table(found)});
    if (problems.empty()) context.out.print("{}: no problem found\n", path);
  }
  if (problems.empty()) return;
  context.out.flush();
  throw DataError(problems.size() == 1 ? fmt::format("{}: 1 problem", path)
                                       : fmt::format("{}: {} problems", path, problems.size()));
}

}  // namespace

Command schema_check_command() {
  Command command{
      .name = "check",
      .summary = "explain everything that is wrong with a schema",
      .description =
          "Lists every problem with its line and what to do. With --data also whether a file "
          "fits the schema: columns that are missing and cells that would be refused, by row "
          "number and column, never by content. With --private-ok also which share of each column "
          "is clamped, other, missing or unreadable: exact figures of the data, for its curator "
          "alone. Exit code 3 when there is a problem.",
      .examples = {{"Is it right?", "sotto schema check people.toml"},
                   {"Does the file fit?", "sotto schema check people.toml --data people.csv"},
                   {"Do bounds and categories cover it?",
                    "sotto schema check people.toml --data people.csv --private-ok"}},
      .positionals = {{.name = "SCHEMA", .help = "TOML file", .type = Type::file}},
      .options = {{.name = "data",
                   .type = Type::file,
                   .value = "FILE",
                   .help = "also check this CSV file, or the answer of --query, against the "
                           "schema",
                   .group = "Data"},
                  {.name = "private-ok",
                   .type = Type::flag,
                   .help = "also show the shares of cells that are clamped, other, missing or "
                           "unreadable: NOT PRIVATE, never to be published",
                   .group = "Data"}},
      .run = run_schema_check};
  for (Option& option : reader_options()) command.options.push_back(std::move(option));
  command.options.push_back(json_option());
  command.options.push_back(output_option());
  return command;
}

}  // namespace sotto::cli
