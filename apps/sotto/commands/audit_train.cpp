// sotto audit train: canaries in the data of a training command, guessed from its models.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "commands/attack.hpp"
#include "commands/audit.hpp"
#include "commands/commands.hpp"
#include "commands/training_audit.hpp"
#include "options/parse.hpp"
#include "shell/deep_dispatch.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/rounded_text.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

// A training command that may be run many times on files of ours.
Arguments checked_training(const Call& call) {
  if (call.command().name != "train")
    throw InvalidArgument(fmt::format("'{}' trains no model", call.title()),
                          "e.g. sotto audit train -- train --data people.csv ...");
  Arguments inner = call.arguments();
  const auto refuse = [&](const char* option, const char* why, const char* hint) {
    if (find_option(inner.command(), option) != nullptr && inner.given(option))
      throw InvalidArgument(fmt::format("--{} cannot be audited: {}", option, why), hint);
  };
  refuse("ledger", "every model would be charged", "leave it out; nothing is released");
  refuse("query", "canaries are written into a file", "export the rows to a CSV file first");
  refuse("no-header", "canaries are written under the header", "give the file a header");
  refuse("insecure-seed", "every model would have the same noise",
         "give it to sotto audit train instead");
  refuse("resume", "every model is a new one", "leave it out");
  if (inner.text("encoding") == "utf-16")
    throw InvalidArgument("--encoding utf-16 cannot be audited", "write the file as utf-8 first");
  return inner;
}

// Canaries that are gradients have coordinates and noise of their own: each is a trial by itself,
// if noise is drawn as it should be.
void print_estimates(const TrainingFinding& f, Context& context) {
  const auto line = [&](const audit::GaussianEstimate& e, const char* how) {
    if (std::isfinite(e.epsilon))
      context.out.print(
          "  if the trade-off were Gaussian: at least {} (mu = {}), an estimate by {}\n",
          round_down(e.epsilon, 4), round_down(e.mu, 4), how);
  };
  if (f.models == 1) line(f.scores.one_run_gdp, "guesses of coins");
  line(f.scores.shift, "the means of the scores, these being normal");
  line(f.scores.gdp, f.models == 1 ? "error rates, canaries being independent" : "error rates");
}

Json estimate(const audit::GaussianEstimate& e) {
  return {{"mu_lower", e.mu},
          {"epsilon_lower", std::isfinite(e.epsilon) ? Json(e.epsilon) : Json(nullptr)},
          {"assumes", "a Gaussian trade-off"}};
}

void print(const TrainingFinding& f, const TrainingAudit& audit, const Arguments& arguments,
           Context& context) {
  context.out.print("{}\n", context.bold(kPrivateResult));
  if (f.models > 1) {
    context.out.print("{} {} models (method {}), {} of them with one canary more\n", f.models,
                      audit.kind(), audit.method(), f.in);
  } else {
    context.out.print("one {} model (method {}) with {} of {} canaries\n", audit.kind(),
                      audit.method(), f.in, f.canaries);
  }
  context.out.print(
      "  area under the curve {:.4f} ({:.4f} to {:.4f})\n"
      "  epsilon is at least {} at delta = {:g} ({}), with confidence {:g} %; at most {} "
      "possible\n",
      f.scores.auc.value, f.scores.auc.lower, f.scores.auc.upper, round_down(f.epsilon_lower, 4),
      audit.delta(), name(audit.relation()), 100 * arguments.number("confidence"),
      round_down(f.ceiling, 4));
  if (audit.by_gradient() || (audit.white_box() && f.models > 1)) print_estimates(f, context);
  context.out.print("  {}\n", audit.claim() ? "claimed: epsilon = " + round_up(*audit.claim())
                                            : "nothing is claimed: NOT PRIVATE");
}

void run_audit_train(const Arguments& arguments, Context& context) {
  const std::vector<std::string> words = arguments.positionals();
  const Call call = parse(table(), words);
  const Arguments inner = checked_training(call);
  if (is_deep_call(inner.command(), inner)) {
    std::vector<std::string> all = {"audit", "train"};
    for (const Option& option : arguments.command().options) {
      if (!arguments.given(option.name)) continue;
      all.push_back("--" + option.name);
      if (option.type != Type::flag) all.push_back(arguments.text(option.name));
    }
    all.push_back("--");
    all.insert(all.end(), words.begin(), words.end());
    deep_run("audit", all)(arguments, context);
    return;
  }
  TrainingAudit audit(arguments, inner, context);
  const TrainingFinding f = audit.found();
  if (arguments.flag("json")) {
    context.out.print(
        "{}\n",
        Json({{"schema", 1},
              {"warning", kPrivateResult},
              {"model", audit.kind()},
              {"method", audit.method()},
              {"relation", name(audit.relation())},
              {"models", f.models},
              {"canaries", f.canaries},
              {"in", f.in},
              {"auc", f.scores.auc.value},
              {"epsilon_lower", f.epsilon_lower},
              {"ceiling", f.ceiling},
              {"gdp", estimate(f.scores.gdp)},
              {"one_run_gdp", f.models == 1 ? estimate(f.scores.one_run_gdp) : Json(nullptr)},
              {"shift", estimate(f.scores.shift)},
              {"white_box", audit.white_box()},
              {"claim", audit.claim() ? Json(*audit.claim()) : Json(nullptr)},
              {"delta", audit.delta()},
              {"confidence", arguments.number("confidence")}})
            .dump());
  } else {
    print(f, audit, arguments, context);
  }
  if (audit.claim())
    hold_against_claim(*audit.claim(), f.epsilon_lower, arguments.number("confidence"), context);
}

}  // namespace

Command audit_train_command() {
  std::vector<Option> options = {
      {.name = "canaries",
       .type = Type::whole,
       .value = "M",
       .help = "made-up records, each put into the data by a fair coin",
       .fallback = "500",
       .range = Range::between(kLeastCanaries, 1e6)},
      {.name = "canary",
       .type = Type::choice,
       .value = "KIND",
       .help = "what they are: somebody's record with another target, the middle of all bounds, "
               "their ends, or gradients as long as clipping allows",
       .fallback = "mislabelled",
       .choices = {"mislabelled", "blank", "extreme", "gradient"}},
      {.name = "see",
       .type = Type::choice,
       .value = "WHAT",
       .help = "what guesses are made from: the model, or all that was released on the way to it "
               "(white box; canaries that are gradients always)",
       .fallback = "model",
       .choices = {"model", "releases"}},
      {.name = "canary-file",
       .type = Type::file,
       .value = "FILE",
       .help = "canaries of your choice, under the header of the data; of images a folder like "
               "that of the "
               "data"},
      {.name = "references",
       .type = Type::whole,
       .value = "K",
       .help = "models without canaries that tell how hard each canary is",
       .fallback = "8",
       .range = Range::between(0, 10000)},
      {.name = "runs",
       .type = Type::whole,
       .value = "R",
       .help = "so many models, every other one with one canary, instead of one model with many",
       .fallback = "1",
       .range = Range::between(1, 1e7)}};
  for (Option& o : audit_options()) {
    if (o.name == "delta") continue;
    if (o.name == "claim")
      o.help =
          "the epsilon to refute; default: that of the command. Exit code 5 when the bound "
          "exceeds it";
    options.push_back(std::move(o));
  }
  options.push_back(insecure_seed_option());
  return {.name = "train",
          .summary = "put canaries into the data of a training command and guess which were in",
          .description =
              "Canaries are lines of the data file: they are read, clamped, clipped and sampled "
              "like all others. Under add_remove they come after the records; else each takes the "
              "place of a record. The models are trained in this process and thrown away: nothing "
              "is written, released or charged. THE RESULT IS PRIVATE.",
          .examples = {{"One model, many canaries",
                        "sotto audit train --canaries 100 -- train --data people.csv --schema "
                        "people.toml --model logistic --target city --epsilon 1 --delta 1e-6 "
                        "--out model"},
                       {"A hundred models, one canary",
                        "sotto audit train --runs 100 --canary extreme -- train --data people.csv "
                        "--schema people.toml --model logistic --target city --epsilon 1 --delta "
                        "1e-6 --out model"},
                       {"Gradients as canaries, seen from inside",
                        "sotto audit train --canary gradient --canaries 1000 -- train --data "
                        "people.csv --schema people.toml --model mlp --target city --epsilon 4 "
                        "--delta 1e-6 --out model"}},
          .positionals = {{.name = "COMMAND", .help = "train and its words", .many = true}},
          .options = std::move(options),
          .run = run_audit_train,
          .usage = "[options] -- train [words]"};
}

}  // namespace sotto::cli
