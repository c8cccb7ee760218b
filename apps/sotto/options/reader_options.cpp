#include "reader_options.hpp"

#include <map>

namespace sotto::cli {
namespace {

const std::map<std::string, char> kDelimiters = {{"comma", ','}, {"semicolon", ';'}, {"tab", '\t'},
                                                 {"bar", '|'},   {",", ','},         {";", ';'},
                                                 {"|", '|'}};
const std::map<std::string, Encoding> kEncodings = {{"utf-8", Encoding::utf_8},
                                                    {"latin-1", Encoding::latin_1},
                                                    {"windows-1252", Encoding::windows_1252},
                                                    {"utf-16", Encoding::utf_16}};

}  // namespace

std::vector<Option> reader_options() {
  return {{.name = "no-header",
           .type = Type::flag,
           .help = "the first row is data; columns come in the order of the schema, or are named "
                   "1, 2, ...",
           .group = "Data"},
          {.name = "delimiter",
           .type = Type::choice,
           .value = "C",
           .help = "what separates the fields; auto takes the one that is most frequent in the "
                   "header line, and the comma without one",
           .fallback = "auto",
           .choices = {"auto", "comma", "semicolon", "tab", "bar", ",", ";", "|"},
           .group = "Data"},
          {.name = "decimal",
           .type = Type::choice,
           .value = "MARK",
           .help = "how numbers are written: 1.5 or 1,5",
           .fallback = "point",
           .choices = {"point", "comma"},
           .group = "Data"},
          {.name = "encoding",
           .type = Type::choice,
           .value = "NAME",
           .help = "how text is written",
           .fallback = "utf-8",
           .choices = {"utf-8", "latin-1", "windows-1252", "utf-16"},
           .group = "Data"},
          {.name = "query",
           .type = Type::text,
           .value = "SELECT",
           .help = "the rows of a database, read in a read-only transaction",
           .group = "Data"}};
}

CsvOptions csv_options(const Arguments& arguments) {
  const auto has = [&](const char* name) {
    return find_option(arguments.command(), name) != nullptr;
  };
  CsvOptions options;
  options.header = !has("no-header") || !arguments.flag("no-header");
  if (has("missing-values") && arguments.given("missing-values"))
    options.missing_values = arguments.list("missing-values");
  if (!has("delimiter")) return options;  // the command reads no table
  const auto delimiter = kDelimiters.find(arguments.text("delimiter"));
  if (delimiter != kDelimiters.end()) options.delimiter = delimiter->second;
  options.decimal_comma = arguments.text("decimal") == "comma";
  options.encoding = kEncodings.at(arguments.text("encoding"));
  if (arguments.given("query")) options.query = arguments.text("query");
  return options;
}

}  // namespace sotto::cli
