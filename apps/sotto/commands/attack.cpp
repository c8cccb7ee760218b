// sotto attack: what others could find out, tried on one's own data.
#include "commands/attack.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "commands/commands.hpp"
#include "sotto/core/error.hpp"

namespace sotto::cli {

void make_attack_place(const Arguments& arguments) {
  if (!arguments.given("out")) return;
  std::error_code error;
  std::filesystem::create_directories(arguments.text("out"), error);
  if (error)
    throw StorageError(
        fmt::format("cannot make the directory '{}': {}", arguments.text("out"), error.message()));
}

Option attack_out_option(const std::string& help) {
  return {.name = "out", .type = Type::file, .value = "DIR", .help = help};
}

Rng attack_rng(const Arguments& arguments, Context& context) {
  if (std::optional<Rng> seeded = insecure_rng(arguments, context)) return std::move(*seeded);
  return context.rng().split();
}

Command attack_command() {
  return {.name = "attack",
          .summary = "see what others could find out, on your own data",
          .description =
              "Attacks from the literature, on a model without privacy and on a private one side "
              "by side. What an attack reads and prints is as private as the records; nothing of "
              "it is meant for others, and nothing is charged.",
          .examples = {{"Who was in the training data?",
                        "sotto attack membership --data people.csv --schema people.toml --model "
                        "logistic --target city --epsilon 1 --delta 1e-6 --shadows 4 --out "
                        "attack"}},
          .commands = {attack_membership_command(), attack_attribute_command(),
                       attack_inversion_command(), attack_extraction_command(),
                       attack_linkage_command(), attack_reconstruction_command()}};
}

}  // namespace sotto::cli
