// sotto calibrate: the one unknown number of a specification that meets a budget.
#include "sotto/accounting/calibrate.hpp"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "options/spec_argument.hpp"
#include "sotto/accounting/statement.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/core/rounded_text.hpp"

namespace sotto::cli {
namespace {

void run_calibrate(const Arguments& arguments, Context& context) {
  const std::string text = read_spec(arguments);
  SpecTemplate spec = SpecTemplate::parse(text);
  if (arguments.given("relation")) {
    auto document = parse_json(text, "the specification");
    document["relation"] = arguments.text("relation");
    spec = SpecTemplate::parse(document.dump());
  }
  const Delta delta(arguments.number("delta"));
  const auto start = std::chrono::steady_clock::now();
  const auto found =
      calibrate(spec, Epsilon(arguments.number("epsilon")), delta, account_options(arguments));
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const Spec solved = spec.with(found.value);

  if (arguments.flag("json")) {
    const nlohmann::ordered_json json = {{"schema", 1},
                                         {"unknown", found.unknown},
                                         {"value", found.value},
                                         {"epsilon", found.epsilon.upper},
                                         {"epsilon_lower", found.epsilon.lower},
                                         {"delta", delta.value()},
                                         {"accountant", name(found.epsilon.accountant)},
                                         {"relation", name(solved.relation)},
                                         {"seconds", seconds}};
    context.out.print("{}\n", json.dump());
  } else if (context.quiet) {
    context.out.print("{}\n", found.value);
  } else {
    context.out.print("{} = {}\n{}", found.unknown, context.bold(fmt::format("{}", found.value)),
                      Lines{statement(solved, delta, found.epsilon)});
  }
}

}  // namespace

Command calibrate_command() {
  Option relation = relation_option();
  relation.help += "; overrides the specification";
  std::vector<Option> options = {{.name = "epsilon",
                                  .type = Type::number,
                                  .value = "E",
                                  .help = "the epsilon to meet",
                                  .range = Range::above(0),
                                  .required = true},
                                 {.name = "delta",
                                  .type = Type::number,
                                  .value = "D",
                                  .help = "the delta to meet",
                                  .range = Range::inside(0, 1),
                                  .required = true}};
  for (auto& option : accountant_options()) options.push_back(std::move(option));
  options.push_back(std::move(relation));
  options.push_back(json_option());
  options.push_back(output_option());
  return {
      .name = "calibrate",
      .summary = "solve for the one number that makes events meet a budget",
      .description =
          "The specification is that of 'sotto account' with exactly one number written as \"?\": "
          "a noise "
          "multiplier, a scale, a count, a rate. The answer is on the safe side: its epsilon is at "
          "most the "
          "one asked for.",
      .examples = {{"How much noise for epsilon 1?",
                    "sotto calibrate unknown_noise.json --epsilon 1 --delta 1e-5"},
                   {"How many steps, as JSON",
                    "echo "
                    "'{\"schema\":1,\"relation\":\"add_remove\",\"events\":[{\"repeat\":{\"count\":"
                    "\"?\",\"event\":{\"gaussian\":{\"noise_multiplier\":20}}}}]}' | sotto "
                    "calibrate - --epsilon 1 --delta 1e-6 --json"}},
      .positionals = {spec_positional()},
      .options = std::move(options),
      .run = run_calibrate,
  };
}

}  // namespace sotto::cli
