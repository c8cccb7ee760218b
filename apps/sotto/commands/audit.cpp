// sotto audit: lower bounds of ε from attempts to break a claim.
#include "commands/audit.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "sotto/audit/counts.hpp"
#include "sotto/audit/one_run.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/rounded_text.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

Option count_option(const std::string& name, const std::string& help) {
  return {.name = name,
          .type = Type::whole,
          .value = "N",
          .help = help,
          .range = Range::between(0, 0x1p53),
          .required = true};
}

double alpha(const Arguments& arguments) { return 1 - arguments.number("confidence"); }

std::string percent(const Arguments& arguments) {
  return fmt::format("{:g} %", 100 * arguments.number("confidence"));
}

void run_counts(const Arguments& arguments, Context& context) {
  const audit::AttackCounts counts{
      arguments.whole("true-positives"), arguments.whole("false-negatives"),
      arguments.whole("false-positives"), arguments.whole("true-negatives")};
  const double delta = arguments.number("delta");
  const audit::ErrorRates rates = audit::error_rates(counts, alpha(arguments));
  const double epsilon = audit::epsilon_of(rates, delta);
  const audit::GaussianEstimate gaussian = audit::gaussian_estimate(rates, delta);
  const double ceiling = audit::clopper_pearson_ceiling(counts.members(), counts.nonmembers(),
                                                        delta, alpha(arguments));
  if (arguments.flag("json")) {
    context.out.print(
        "{}\n", Json({{"schema", 1},
                      {"epsilon_lower", epsilon},
                      {"ceiling", ceiling},
                      {"false_negative_rate_upper", rates.false_negative},
                      {"false_positive_rate_upper", rates.false_positive},
                      {"gdp",
                       {{"mu_lower", gaussian.mu},
                        {"epsilon_lower",
                         std::isfinite(gaussian.epsilon) ? Json(gaussian.epsilon) : Json(nullptr)},
                        {"assumes", "a Gaussian trade-off"}}},
                      {"delta", delta},
                      {"confidence", arguments.number("confidence")}})
                    .dump());
  } else if (context.quiet) {
    context.out.print("{}\n", round_down(epsilon));
  } else {
    context.out.print("epsilon is at least {} at delta = {}, with confidence {}\n",
                      round_down(epsilon), arguments.text("delta"), percent(arguments));
    context.out.print("  so many trials can prove at most {}\n", round_down(ceiling));
    print_gaussian(gaussian, context);
  }
  hold_against_claim(arguments, epsilon, context);
}

void run_one_run(const Arguments& arguments, Context& context) {
  const audit::OneRun run{arguments.whole("canaries"), arguments.whole("guesses"),
                          arguments.whole("correct")};
  const double delta = arguments.number("delta");
  const double epsilon = audit::one_run_epsilon(run, delta, alpha(arguments)),
               ceiling = audit::one_run_ceiling(run, delta, alpha(arguments));
  const audit::GaussianEstimate gaussian =
      audit::one_run_gaussian_estimate(run, delta, alpha(arguments));
  if (arguments.flag("json")) {
    context.out.print(
        "{}\n", Json({{"schema", 1},
                      {"epsilon_lower", epsilon},
                      {"ceiling", ceiling},
                      {"gdp",
                       {{"mu_lower", gaussian.mu},
                        {"epsilon_lower",
                         std::isfinite(gaussian.epsilon) ? Json(gaussian.epsilon) : Json(nullptr)},
                        {"assumes", "a Gaussian trade-off"}}},
                      {"delta", delta},
                      {"confidence", arguments.number("confidence")}})
                    .dump());
  } else if (context.quiet) {
    context.out.print("{}\n", round_down(epsilon));
  } else {
    context.out.print("epsilon is at least {} at delta = {}, with confidence {}\n",
                      round_down(epsilon), arguments.text("delta"), percent(arguments));
    context.out.print("  {} guesses can prove at most {}\n", run.guesses, round_down(ceiling));
    print_gaussian(gaussian, context);
  }
  hold_against_claim(arguments, epsilon, context);
}

}  // namespace

std::vector<Option> audit_options() {
  return {{.name = "delta",
           .type = Type::number,
           .value = "D",
           .help = "the delta of the claim",
           .fallback = "0",
           .range = {.lower = 0, .upper = 1, .open_upper = true}},
          {.name = "confidence",
           .type = Type::number,
           .value = "P",
           .help = "how sure the bound is to hold",
           .fallback = "0.95",
           .range = Range::inside(0.5, 1)},
          {.name = "claim",
           .type = Type::number,
           .value = "E",
           .help = "the epsilon that was claimed; exit code 5 when the bound exceeds it",
           .range = Range::from(0)},
          json_option(),
          output_option()};
}

void hold_against_claim(const Arguments& arguments, double epsilon_lower, Context& context) {
  const auto claim = arguments.maybe_number("claim");
  if (!claim || epsilon_lower <= *claim) return;
  context.out.flush();
  throw VerificationFailed(
      fmt::format("the claim epsilon = {} is refuted: it is at least {} with confidence {}",
                  arguments.text("claim"), round_down(epsilon_lower), percent(arguments)),
      "look for a wrong sensitivity, too little noise, or a release without noise");
}

void print_gaussian(const audit::GaussianEstimate& estimate, Context& context) {
  if (!std::isfinite(estimate.epsilon)) return;
  context.out.print("  if the trade-off were Gaussian: at least {} (mu = {}), an estimate\n",
                    round_down(estimate.epsilon), round_down(estimate.mu));
}

Command audit_counts_command() {
  std::vector<Option> options = {
      count_option("true-positives", "members that the test called members"),
      count_option("false-negatives", "members that it did not"),
      count_option("false-positives", "non-members that it called members"),
      count_option("true-negatives", "non-members that it did not")};
  for (Option& o : audit_options()) options.push_back(std::move(o));
  return {.name = "counts",
          .summary = "bound epsilon by how often a membership test was right",
          .description =
              "The test must have been fixed before the trials: one that was chosen to fit them "
              "proves nothing. sotto audit scores pays for that choice.",
          .examples = {{"A thousand models with a record and a thousand without",
                        "sotto audit counts --true-positives 900 --false-negatives 100 "
                        "--false-positives 20 --true-negatives 980"}},
          .options = std::move(options),
          .run = run_counts};
}

Command audit_one_run_command() {
  std::vector<Option> options = {count_option("canaries", "how many coins were thrown"),
                                 count_option("guesses", "how many of them were guessed"),
                                 count_option("correct", "how many guesses were right")};
  for (Option& o : audit_options()) options.push_back(std::move(o));
  return {.name = "one-run",
          .summary = "bound epsilon by guesses of many coins in one run",
          .description =
              "Each canary was put into the data by a fair coin of its own. The guesses may be "
              "made in any way from what was released; how many are made must be fixed before.",
          .examples = {{"A thousand canaries, a hundred guesses",
                        "sotto audit one-run --canaries 1000 --guesses 100 --correct 95 --delta "
                        "1e-5"}},
          .options = std::move(options),
          .run = run_one_run};
}

Command audit_command() {
  return {.name = "audit",
          .summary = "try to refute a privacy claim",
          .description =
              "Lower bounds of epsilon that hold with the stated confidence, whatever was "
              "audited: a program of ours or of others. What an audit reads and prints is as "
              "private as the records behind it.",
          .examples = {{"Scores of members and of others, against a claim",
                        "sotto audit scores --members in.csv --nonmembers out.csv --delta 1e-5 "
                        "--claim 1"}},
          .commands = {audit_replay_command(), audit_scores_command(), audit_mechanism_command(),
                       audit_one_run_command(), audit_counts_command()}};
}

}  // namespace sotto::cli
