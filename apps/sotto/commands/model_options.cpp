#include "model_options.hpp"

namespace sotto::cli {

std::vector<Option> training_data_options() {
  return {{.name = "data",
           .type = Type::file,
           .value = "FILE",
           .help = "CSV file, plain or gzip",
           .required = true,
           .group = "Data"},
          {.name = "schema",
           .type = Type::file,
           .value = "FILE",
           .help = "the public facts about the data, as TOML",
           .required = true,
           .group = "Data"},
          {.name = "target",
           .type = Type::text,
           .value = "COLUMN",
           .help = "what to predict; default: the schema's target",
           .group = "Data"},
          {.name = "no-header",
           .type = Type::flag,
           .help = "the first row is data; columns come in the order of the schema",
           .group = "Data"}};
}

std::vector<Option> budget_options() {
  return {{.name = "epsilon",
           .type = Type::number,
           .value = "E",
           .help = "budget, together with --delta",
           .range = Range::above(0),
           .hint = "typical values lie between 0.1 (strong) and 10 (weak)",
           .group = "Privacy"},
          {.name = "delta",
           .type = Type::number,
           .value = "D",
           .help = "failure probability, well below 1 / number of rows",
           .range = Range::inside(0, 1),
           .hint = "choose delta well below 1 / (number of rows), e.g. 1e-6",
           .group = "Privacy"},
          {.name = "rho",
           .type = Type::number,
           .value = "R",
           .help = "budget as zero-concentrated DP instead of --epsilon",
           .range = Range::above(0),
           .group = "Privacy"}};
}

Schema schema_of(const Arguments& arguments) {
  Schema schema = Schema::from_file(arguments.text("schema"));
  return arguments.given("target") ? schema.with_target(arguments.text("target")) : schema;
}

Encoder encoder_of(const Arguments& arguments) { return Encoder(schema_of(arguments)); }

TableOptions table_options(const Arguments& arguments) {
  TableOptions options;
  options.csv.header = !arguments.flag("no-header");
  return options;
}

}  // namespace sotto::cli
