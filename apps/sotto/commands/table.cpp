// The table itself: which commands there are, in the order in which help lists them.
#include "commands/commands.hpp"
#include "commands/pate.hpp"
#include "commands/tune.hpp"

namespace sotto::cli {
namespace {

std::vector<Option> common_options() {
  const std::string group = "Common options";
  return {
      {.name = "quiet",
       .type = Type::flag,
       .help = "print nothing but the result and errors",
       .letter = 'q',
       .group = group},
      {.name = "color",
       .type = Type::choice,
       .value = "WHEN",
       .help = "colour the output",
       .fallback = "auto",
       .choices = {"auto", "always", "never"},
       .group = group},
      {.name = "help", .type = Type::flag, .help = "show this help", .letter = 'h', .group = group},
  };
}

void add_common_options(Command& command) {
  const auto common = common_options();
  command.options.insert(command.options.end(), common.begin(), common.end());
  for (Command& c : command.commands) add_common_options(c);
}

Command make_table() {
  Command root{
      .name = "sotto",
      .summary = "differentially private statistics and machine learning",
      .description =
          "Results go to standard output, everything else to standard error; --json makes results "
          "machine-readable. "
          "Every result that touches private data comes with its guarantee: what one record is, "
          "which data sets are "
          "neighbours, epsilon and delta.",
      .examples = {{"The mean of a column, with epsilon 0.5",
                    "sotto release mean --data people.csv --column age --lower 17 --upper 90 "
                    "--epsilon 0.5"},
                   {"The epsilon of a training run described as events",
                    "sotto account training.json --delta 1e-5"},
                   {"How much noise a budget needs",
                    "sotto calibrate unknown_noise.json --epsilon 1 --delta 1e-5"}},
      .options = {{.name = "version",
                   .type = Type::flag,
                   .help = "show the version and what is built in",
                   .group = "Common options"},
                  json_option()},
      .commands =
          {
              release_command(),    schema_command(),    train_command(),    evaluate_command(),
              predict_command(),    transform_command(), tune_command(),     sweep_command(),
              synthesize_command(), inspect_command(),   verify_command(),   ledger_command(),
              key_command(),        audit_command(),     attack_command(),   account_command(),
              calibrate_command(),  local_command(),     noise_command(),    bench_command(),
              completion_command(), pate_command(),      features_command(), man_command(),
              help_command(),       docs_command(),
          },
  };
  root.options.back().group = "Common options";
  add_common_options(root);
  return root;
}

}  // namespace

const Command& table() {
  static const Command root = make_table();
  return root;
}

}  // namespace sotto::cli
