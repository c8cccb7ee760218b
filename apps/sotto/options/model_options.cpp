#include "model_options.hpp"

#include "sotto/core/error.hpp"

namespace sotto::cli {

std::vector<Option> training_data_options() {
  std::vector<Option> options = {
      {.name = "data",
       .type = Type::file,
       .value = "FILE",
       .help =
           std::string(kTableHelp) + "; for networks also a folder with the IDX files of images",
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
       .group = "Data"}};
  for (Option& option : reader_options()) options.push_back(std::move(option));
  return options;
}

Schema schema_of(const Arguments& arguments) {
  if (!arguments.given("schema"))
    throw InvalidArgument(arguments.title() + " needs --schema FILE",
                          "it holds the public facts about the data; see docs/reference/schema.md");
  Schema schema = Schema::from_file(arguments.text("schema"));
  return arguments.given("target") ? schema.with_target(arguments.text("target")) : schema;
}

std::vector<Option> model_data_options() {
  std::vector<Option> options = {{.name = "model",
                                  .type = Type::file,
                                  .value = "DIR",
                                  .help = "the directory that sotto train wrote",
                                  .required = true,
                                  .group = "Data"},
                                 {.name = "data",
                                  .type = Type::file,
                                  .value = "FILE",
                                  .help = kTableHelp,
                                  .required = true,
                                  .group = "Data"}};
  for (Option& option : reader_options()) options.push_back(std::move(option));
  return options;
}

TableOptions table_options(const Arguments& arguments, const Schema& schema) {
  TableOptions options;
  options.csv = csv_options(arguments);
  if (!options.csv.header) options.csv.names = schema.names();
  return options;
}

}  // namespace sotto::cli
