// Options that several commands have, and what they do.
#include "commands.hpp"

namespace sotto::cli {

Option json_option() {
  return {.name = "json",
          .type = Type::flag,
          .help = "print the result as JSON (stable, \"schema\": 1)"};
}

Option output_option() {
  return {.name = "output",
          .type = Type::file,
          .value = "FILE",
          .help = "write the result to a file, whole or not at all, instead of standard output",
          .letter = 'o'};
}

Option relation_option() {
  return {.name = "relation",
          .type = Type::choice,
          .value = "R",
          .help =
              "which data sets are neighbours: one row more or less, one row replaced, or one row "
              "nulled",
          .choices = {"add_remove", "replace_one", "zero_out"}};
}

Option insecure_seed_option() {
  return {.name = "insecure-seed",
          .type = Type::whole,
          .value = "K",
          .help = "repeatable randomness for tests; the result is NOT PRIVATE"};
}

Option certificate_option() {
  return {.name = "certificate",
          .type = Type::file,
          .value = "FILE",
          .help = "also write a certificate, from which epsilon can be computed again",
          .group = "Privacy"};
}

std::optional<Rng> insecure_rng(const Arguments& arguments, Context& context) {
  if (!arguments.given("insecure-seed")) return std::nullopt;
  // Told even with --quiet: nobody may take such a result for a private one.
  context.err.print("{}: randomness comes from --insecure-seed\n", kInsecure);
  context.err.flush();
  return Rng::insecure_seed(arguments.whole("insecure-seed"));
}

}  // namespace sotto::cli
