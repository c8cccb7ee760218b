// sotto account: what a list of events costs.
#include "sotto/accounting/account.hpp"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "commands/privacy_curve.hpp"
#include "options/spec_argument.hpp"
#include "shell/output_file.hpp"
#include "sotto/accounting/statement.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/rounded_text.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string trim_end(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

// The answer and how long it took.
struct Timed {
  Bound bound;
  double seconds;
};

Timed solve(const Spec& spec, const Arguments& arguments, const AccountOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const Bound bound = arguments.given("delta")
                          ? epsilon(spec, Delta(arguments.number("delta")), options)
                          : delta(spec, arguments.number("epsilon"), options);
  return {bound, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
}

Json to_json(const Spec& spec, const Arguments& arguments, const Timed& answer) {
  Json json = {{"schema", 1}};
  if (arguments.given("delta")) {
    json["epsilon"] = answer.bound.upper;
    json["epsilon_lower"] = answer.bound.lower;
    json["delta"] = arguments.number("delta");
  } else {
    json["epsilon"] = arguments.number("epsilon");
    json["delta"] = answer.bound.upper;
    json["delta_lower"] = answer.bound.lower;
  }
  json["accountant"] = name(answer.bound.accountant);
  json["relation"] = name(spec.relation);
  json["seconds"] = answer.seconds;
  return json;
}

void print_statement(const Spec& spec, const Arguments& arguments, const Bound& bound,
                     Context& context) {
  if (arguments.given("delta")) {
    context.out.print("{}\n",
                      Lines{trim_end(statement(spec, Delta(arguments.number("delta")), bound))});
    return;
  }
  context.out.print("delta = {} at epsilon = {}\n", round_up(bound.upper),
                    arguments.text("epsilon"));
  if (bound.upper > 0 && bound.upper < 1) {
    Bound at = bound;
    at.upper = arguments.number("epsilon");
    at.lower = 0;
    context.out.print("{}\n", Lines{trim_end(statement(spec, Delta(bound.upper), at))});
  }
}

// Every accountant by itself: an answer or the reason why there is none.
std::vector<Comparison> compare_all(const Spec& spec, const Arguments& arguments,
                                    const AccountOptions& options) {
  if (arguments.given("delta")) return compare(spec, Delta(arguments.number("delta")), options);
  std::vector<Comparison> table;
  for (const std::string& choice : find_option(arguments.command(), "accountant")->choices) {
    if (choice == "auto") continue;
    AccountOptions one = options;
    one.accountant = parse_accountant(choice);
    Comparison line{one.accountant, std::nullopt, {}};
    try {
      line.bound = delta(spec, arguments.number("epsilon"), one);
    } catch (const Error& e) {
      if (e.code() == ErrorCode::internal) throw;
      line.refusal = e.what();
    }
    table.push_back(std::move(line));
  }
  return table;
}

Json comparison_json(const std::vector<Comparison>& table, const std::string& unknown) {
  Json lines = Json::array();
  for (const Comparison& line : table) {
    Json json = {{"accountant", name(line.accountant)}};
    if (line.bound) {
      json[unknown] = line.bound->upper;
      json[unknown + "_lower"] = line.bound->lower;
      json["conversion"] = line.bound->conversion;
    } else {
      json["refusal"] = line.refusal;
    }
    lines.push_back(std::move(json));
  }
  return lines;
}

void print_comparison(const std::vector<Comparison>& table, const std::string& unknown,
                      Context& context) {
  context.out.print("\n{:<12}{:<14}{:<14}{}\n", "accountant", unknown, "lower bound", "how");
  for (const Comparison& line : table) {
    if (line.bound) {
      context.out.print(
          "{:<12}{:<14}{:<14}{}\n", name(line.accountant), round_up(line.bound->upper),
          line.bound->lower > 0 ? round_down(line.bound->lower) : "-", line.bound->conversion);
    } else {
      context.out.print("{:<12}{:<14}{:<14}{}\n", name(line.accountant), "-", "-", line.refusal);
    }
  }
}

void write_curve(const std::string& path, const Spec& spec, const Arguments& arguments,
                 const AccountOptions& options, const Bound& bound, Context& context) {
  const bool by_delta = arguments.given("delta");
  const double at_epsilon = by_delta ? bound.upper : arguments.number("epsilon");
  const double at_delta = by_delta ? arguments.number("delta") : bound.upper;
  // Far enough to see the tail beyond the point that was asked for.
  const double largest = at_epsilon > 0 ? 1.6 * at_epsilon : 1;
  const auto curve = privacy_curve(spec, options, largest, context);
  write_file(path, path.ends_with(".csv") ? curve_csv(curve)
                                          : curve_svg(curve, spec.relation, at_epsilon, at_delta));
  context.note(fmt::format("wrote {}", path));
}

void run_account(const Arguments& arguments, Context& context) {
  if (arguments.given("delta") == arguments.given("epsilon")) {
    throw InvalidArgument("sotto account needs either --delta D or --epsilon E",
                          "--delta 1e-5 asks for epsilon, --epsilon 1 asks for delta");
  }
  const std::string curve = arguments.given("curve") ? arguments.text("curve") : "";
  if (!curve.empty() && !curve.ends_with(".svg") && !curve.ends_with(".csv")) {
    throw InvalidArgument(fmt::format("--curve is '{}'; its name must end in .svg or .csv", curve));
  }
  Spec spec = parse_spec(read_spec(arguments));
  if (arguments.given("relation")) spec.relation = parse_relation(arguments.text("relation"));
  const AccountOptions options = account_options(arguments);
  const Timed answer = solve(spec, arguments, options);
  const std::string unknown = arguments.given("delta") ? "epsilon" : "delta";

  std::vector<Comparison> comparison;
  if (arguments.flag("compare")) comparison = compare_all(spec, arguments, options);
  if (!curve.empty()) write_curve(curve, spec, arguments, options, answer.bound, context);
  if (arguments.flag("json")) {
    Json json = to_json(spec, arguments, answer);
    if (arguments.flag("compare")) json["comparison"] = comparison_json(comparison, unknown);
    context.out.print("{}\n", json.dump());
    return;
  }
  if (context.quiet) {
    context.out.print("{}\n", round_up(answer.bound.upper));
  } else {
    print_statement(spec, arguments, answer.bound, context);
  }
  if (arguments.flag("compare")) print_comparison(comparison, unknown, context);
}

}  // namespace

Command account_command() {
  Option relation = relation_option();
  relation.help += "; overrides the specification";
  std::vector<Option> options = {
      {.name = "delta",
       .type = Type::number,
       .value = "D",
       .help = "find epsilon at this delta",
       .range = Range::inside(0, 1),
       .hint = "choose delta well below 1 / (number of records), e.g. 1e-6"},
      {.name = "epsilon",
       .type = Type::number,
       .value = "E",
       .help = "find delta at this epsilon",
       .range = Range::from(0)}};
  for (auto& option : accountant_options()) options.push_back(std::move(option));
  options.push_back(std::move(relation));
  options.push_back(
      {.name = "curve",
       .type = Type::file,
       .value = "FILE",
       .help = "also write the privacy profile, delta over epsilon, as .svg or .csv"});
  options.push_back(
      {.name = "compare", .type = Type::flag, .help = "also show every accountant side by side"});
  options.push_back(json_option());
  options.push_back(output_option());
  return {
      .name = "account",
      .summary = "find the epsilon or delta of a list of events",
      .description =
          "The specification is {\"schema\":1,\"relation\":\"add_remove\",\"events\":[...]}; the "
          "events are listed in docs/events.md. The answer is "
          "an upper bound that holds, with a lower bound beside it that shows how tight it is.",
      .examples = {{"Epsilon of a training run", "sotto account training.json --delta 1e-5"},
                   {"Delta instead, as JSON", "sotto account training.json --epsilon 2 --json"},
                   {"From standard input",
                    "echo "
                    "'{\"schema\":1,\"relation\":\"add_remove\",\"events\":[{\"gaussian\":{\"noise_"
                    "multiplier\":1.1}}]}' | sotto account - --delta 1e-6"},
                   {"All accountants side by side, and a picture",
                    "sotto account training.json --delta 1e-5 --compare --curve profile.svg"}},
      .positionals = {spec_positional()},
      .options = std::move(options),
      .run = run_account,
      .usage = "SPEC (--delta D | --epsilon E) [options]",
  };
}

}  // namespace sotto::cli
