#include "model_options.hpp"

#include "options/csv_options.hpp"
#include "sotto/core/error.hpp"

namespace sotto::cli {

std::vector<Option> training_data_options() {
  return {{.name = "data",
           .type = Type::file,
           .value = "FILE",
           .help = "CSV, .npy or IDX file, plain or gzip; an array's columns are those of the "
                   "schema, in its order; for networks also a folder with the IDX files of images",
           .required = true,
           .group = "Data"},
          {.name = "schema",
           .type = Type::file,
           .value = "FILE",
           .help = "the public facts about the data, as TOML; not for images",
           .group = "Data"},
          {.name = "target",
           .type = Type::text,
           .value = "COLUMN",
           .help = "what to predict; default: the schema's target",
           .group = "Data"},
          no_header_option()};
}

Schema schema_of(const Arguments& arguments) {
  if (!arguments.given("schema"))
    throw InvalidArgument(arguments.title() + " needs --schema FILE",
                          "it holds the public facts about the data; see docs/reference/schema.md");
  Schema schema = Schema::from_file(arguments.text("schema"));
  return arguments.given("target") ? schema.with_target(arguments.text("target")) : schema;
}

TableOptions table_options(const Arguments& arguments) {
  TableOptions options;
  options.csv = csv_options(arguments);
  return options;
}

std::vector<Option> model_data_options() {
  return {{.name = "model",
           .type = Type::file,
           .value = "DIR",
           .help = "the directory that sotto train wrote",
           .required = true,
           .group = "Data"},
          {.name = "data",
           .type = Type::file,
           .value = "FILE",
           .help = "CSV, .npy or IDX file, plain or gzip; an array's columns are those of the "
                   "schema, in its order",
           .required = true,
           .group = "Data"},
          no_header_option()};
}

TableOptions table_options(const Arguments& arguments, const Schema& schema) {
  TableOptions options = table_options(arguments);
  options.csv.names = arguments.flag("no-header") ? schema.names() : std::vector<std::string>{};
  return options;
}

}  // namespace sotto::cli
