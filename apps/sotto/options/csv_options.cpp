#include "options/csv_options.hpp"

namespace sotto::cli {

CsvOptions csv_options(const Arguments& arguments) {
  const auto has = [&](const char* name) {
    return find_option(arguments.command(), name) != nullptr && arguments.given(name);
  };
  CsvOptions options;
  options.header = !has("no-header");
  const std::string delimiter = has("delimiter") ? arguments.text("delimiter") : "comma";
  options.delimiter = delimiter == "tab"         ? '\t'
                      : delimiter == "semicolon" ? ';'
                      : delimiter == "bar"       ? '|'
                                                 : ',';
  if (has("missing-values")) options.missing_values = arguments.list("missing-values");
  return options;
}

}  // namespace sotto::cli
