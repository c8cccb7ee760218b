// sotto audit train: canaries in the data of a training command, guessed from its models.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "commands/attack.hpp"
#include "commands/audit.hpp"
#include "commands/canaries.hpp"
#include "commands/class_weight_options.hpp"
#include "commands/commands.hpp"
#include "commands/many_models.hpp"
#include "commands/training.hpp"
#include "options/parse.hpp"
#include "paid/cost.hpp"
#include "shell/deep_dispatch.hpp"
#include "shell/workshop.hpp"
#include "sotto/audit/scores.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/progress.hpp"
#include "sotto/core/rounded_text.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

// A training command that may be run many times on files of ours.
Arguments checked(const Call& call) {
  if (call.command().name != "train")
    throw InvalidArgument(fmt::format("'{}' trains no model", call.title()),
                          "e.g. sotto audit train -- train --data people.csv ...");
  const Arguments inner = call.arguments();
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

// How much of y follows from x, from 0 to 1.
double slope(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0, together = 0, alone = 0;
  for (std::size_t i = 0; i < x.size(); ++i) mean_x += x[i] / n, mean_y += y[i] / n;
  for (std::size_t i = 0; i < x.size(); ++i) {
    together += (x[i] - mean_x) * (y[i] - mean_y);
    alone += (x[i] - mean_x) * (x[i] - mean_x);
  }
  return alone > 0 ? std::clamp(together / alone, 0.0, 1.0) : 0;
}

// What the canaries proved.
struct Finding {
  double epsilon_lower = 0, ceiling = 0;
  audit::ScoreAudit scores;
  std::size_t canaries = 0, models = 0, in = 0;
};

class TrainingAudit {
 public:
  TrainingAudit(const Arguments& arguments, const Arguments& inner, Context& context)
      : arguments_(arguments),
        inner_(inner),
        context_(context),
        choice_(chosen_model(inner)),
        request_(request_of(inner, choice_)),
        facts_(facts_of(inner, *choice_.family, request_)),
        rng_(attack_rng(arguments, context)),
        random_(rng_.next_u64()) {
    if (facts_.images)
      throw Unsupported("sotto audit train writes canaries into tables only", "give a CSV file");
    if (facts_.unit == Unit::user && facts_.relation != Relation::add_remove)
      throw Unsupported("canaries that are users can only be added",
                        "audit a schema with relation = \"add_remove\"");
    any_ = with_rows(facts_, std::nullopt);
    const auto plan = new_plan();
    method_ = plan->explain().method;
    if (plan->event()) claim_ = cost_of(*plan->event(), plan->relation(), inner).epsilon;
    if (arguments.given("claim")) claim_ = arguments.number("claim");
  }

  Finding found() {
    const CsvText text(inner_.text("data"), csv_options(inner_).delimiter);
    Canaries canaries(text, facts_.encoder->schema(), csv_options(inner_).decimal_comma);
    const std::vector<std::string> lines = canary_lines(text, canaries);
    canaries.take_places(lines.size(), random_);
    std::string all = text.header() + "\n";
    for (const std::string& line : lines) all += line + "\n";
    const Table probe = loaded("canaries.csv", all, *any_.encoder);
    return arguments_.whole("runs") > 1 ? many_runs(canaries, lines, probe)
                                        : one_run(canaries, lines, probe);
  }

  std::optional<double> claim() const { return claim_; }
  const std::string& method() const { return method_; }
  double delta() const { return inner_.maybe_number("delta").value_or(0); }
  Relation relation() const { return facts_.relation; }
  const std::string& kind() const { return choice_.kind; }

 private:
  std::unique_ptr<TrainingPlan> new_plan() const {
    return plan_weighted(inner_, *choice_.family, facts_, request_);
  }
  Table loaded(const std::string& name, const std::string& text, const Encoder& encoder) const {
    workshop_.write(name, text);
    return load_table(workshop_.path(name), encoder, table_options(inner_, encoder.schema()));
  }
  std::vector<std::string> canary_lines(const CsvText& text, const Canaries& canaries) {
    const std::size_t wanted = arguments_.whole("runs") > 1 ? 1 : arguments_.whole("canaries");
    if (!arguments_.given("canary-file"))
      return canaries.made(parse_canary(arguments_.text("canary")), wanted, random_);
    const CsvText given(arguments_.text("canary-file"), text.delimiter());
    if (given.header() != text.header())
      throw DataError(
          fmt::format("'{}' has other columns than the data", arguments_.text("canary-file")),
          "both files need the same header line");
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < given.records(); ++i) lines.push_back(given.record(i));
    if (lines.empty()) throw DataError("there is no canary in the file");
    if (arguments_.whole("runs") > 1) lines.resize(1);
    return lines;
  }
  std::vector<std::vector<audit::Sight>> sights(std::size_t count, const Table& probe,
                                                std::function<const Table&(std::size_t)> data) {
    Progress progress(context_.progress("training", count));
    std::uint64_t trained = 0;
    const ManyModels models{.plan = [this] { return new_plan(); },
                            .count = count,
                            // Tables outlive the models: nothing is owned.
                            .data =
                                [&](std::size_t k) {
                                  return std::shared_ptr<const Table>(
                                      std::shared_ptr<const Table>(), &data(k));
                                },
                            .probe = &probe,
                            .one_thread = choice_.family->host != "sotto",
                            .done = [&] { progress.advance(++trained); }};
    auto all = sights_of_models(models, rng_);
    progress.finish();
    return all;
  }

  // Each canary by a coin of its own; models without any canary tell how hard each is.
  Finding one_run(const Canaries& canaries, const std::vector<std::string>& lines,
                  const Table& probe) {
    std::vector<bool> in(lines.size());
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = (rng_.next_u64() & 1) != 0;
    const Table with = loaded("with.csv", canaries.file(lines, in), *facts_.encoder),
                without =
                    loaded("without.csv", canaries.file(lines, std::vector<bool>(lines.size())),
                           *facts_.encoder);
    const std::size_t references = arguments_.whole("references");
    const auto seen = sights(1 + references, probe, [&](std::size_t k) -> const Table& {
      return k == 0 ? with : without;
    });
    std::vector<double> shown, usual(lines.size()), members, others;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      shown.push_back(seen[0][i].confidence);
      for (std::size_t r = 1; r <= references; ++r)
        usual[i] += seen[r][i].confidence / static_cast<double>(references);
    }
    const double share = slope(usual, shown);
    for (std::size_t i = 0; i < lines.size(); ++i)
      (in[i] ? members : others).push_back(shown[i] - share * usual[i]);
    Finding f;
    f.scores = audit::audit_scores(members, others, options());
    f.epsilon_lower = f.scores.one_run;
    f.ceiling = f.scores.one_run_ceiling;
    f.canaries = lines.size(), f.models = 1, f.in = members.size();
    return f;
  }
  // One canary, in every other model.
  Finding many_runs(const Canaries& canaries, const std::vector<std::string>& lines,
                    const Table& probe) {
    const Table with = loaded("with.csv", canaries.file(lines, {true}), *facts_.encoder),
                without = loaded("without.csv", canaries.file(lines, {false}), *facts_.encoder);
    const std::size_t runs = arguments_.whole("runs");
    const auto seen = sights(
        runs, probe, [&](std::size_t k) -> const Table& { return k % 2 == 0 ? with : without; });
    std::vector<double> members, others;
    for (std::size_t k = 0; k < runs; ++k)
      (k % 2 == 0 ? members : others).push_back(seen[k][0].confidence);
    Finding f;
    f.scores = audit::audit_scores(members, others, options());
    f.epsilon_lower = f.scores.clopper_pearson;
    f.ceiling = f.scores.clopper_pearson_ceiling;
    f.canaries = 1, f.models = runs, f.in = members.size();
    return f;
  }
  audit::ScoreOptions options() const {
    return {.delta = delta(), .confidence = arguments_.number("confidence")};
  }

  const Arguments &arguments_, &inner_;
  Context& context_;
  Suggestion choice_;
  TrainingRequest request_;
  Facts facts_, any_;
  Rng rng_;
  std::mt19937_64 random_;
  Workshop workshop_{"sotto-audit"};
  std::string method_;
  std::optional<double> claim_;
};

void print(const Finding& f, const TrainingAudit& audit, const Arguments& arguments,
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
  context.out.print("  {}\n", audit.claim() ? "claimed: epsilon = " + round_up(*audit.claim())
                                            : "nothing is claimed: NOT PRIVATE");
}

void run(const Arguments& arguments, Context& context) {
  const std::vector<std::string> words = arguments.positionals();
  const Call call = parse(table(), words);
  const Arguments inner = checked(call);
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
  const Finding f = audit.found();
  if (arguments.flag("json")) {
    context.out.print("{}\n", Json({{"schema", 1},
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
       .range = Range::between(4, 1e6)},
      {.name = "canary",
       .type = Type::choice,
       .value = "KIND",
       .help = "what they are: somebody's record with another target, the middle of all bounds, "
               "or their ends",
       .fallback = "mislabelled",
       .choices = {"mislabelled", "blank", "extreme"}},
      {.name = "canary-file",
       .type = Type::file,
       .value = "FILE",
       .help = "canaries of your choice, under the header of the data"},
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
                        "1e-6 --out model"}},
          .positionals = {{.name = "COMMAND", .help = "train and its words", .many = true}},
          .options = std::move(options),
          .run = run,
          .usage = "[options] -- train [words]"};
}

}  // namespace sotto::cli
