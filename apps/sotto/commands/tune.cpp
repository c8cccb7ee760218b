// sotto tune: a private choice among options. A random number of trials, of which only the best
// leaves.
#include "tune.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "metric.hpp"
#include "paid/cost.hpp"
#include "paid/ritual.hpp"
#include "paid/signing.hpp"
#include "resuming.hpp"
#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/core/whole_file.hpp"
#include "sotto/learning/artifact.hpp"
#include "sotto/learning/certify.hpp"
#include "sotto/learning/tuning.hpp"
#include "sweep.hpp"
#include "training.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostGridBytes = std::size_t{1} << 20;
constexpr const char* kFirst = "first_good_enough";

// The public rows that trials are scored on, encoded as each candidate wants them.
class PublicRows {
 public:
  explicit PublicRows(const Arguments& arguments) : arguments_(arguments) {}

  std::vector<ScoredRow> scored(const Model& model, const Facts& facts) {
    std::vector<ScoredRow> rows;
    of(facts).each([&](const Block& block) {
      for (ScoredRow& row : model.score(block)) rows.push_back(std::move(row));
    });
    return rows;
  }
  // Finds what cannot be read before anything is paid for.
  void check(const Facts& facts) {
    std::size_t rows = 0;
    of(facts).each([&](const Block& block) { rows += block.rows(); });
    if (rows == 0) throw DataError("there are no rows to score trials on", "give rows");
  }

 private:
  struct Kept {
    Facts facts;
    std::optional<Table> table = {};
    std::unique_ptr<Source> source = {};
  };
  Source& of(const Facts& facts) {
    Facts any = facts.encoder ? with_rows(facts, std::nullopt) : facts;
    for (const auto& kept : kept_)
      if (!any.encoder || kept->facts.encoder->schema() == any.encoder->schema())
        return *kept->source;
    Kept& kept = *kept_.emplace_back(std::make_unique<Kept>(Kept{std::move(any)}));
    kept.source = source_of(arguments_, kept.facts, "validation", "t10k");
    if (kept.facts.encoder) {
      kept.table = kept.source->table();
      kept.source = table_in_memory(*kept.table);
    }
    return *kept.source;
  }

  const Arguments& arguments_;
  std::vector<std::unique_ptr<Kept>> kept_;
};

TrialCount count_of(const Arguments& arguments) {
  const double mean = arguments.number("trials-mean");
  if (arguments.text("trials-distribution") == name(SelectionDistribution::poisson)) {
    if (arguments.given("trials-shape"))
      throw InvalidArgument("--trials-shape is of the truncated negative binomial");
    return TrialCount::poisson(mean);
  }
  return TrialCount::truncated_negative_binomial(arguments.number("trials-shape"), mean);
}

std::vector<Candidate> candidates_of(const Arguments& arguments, const Family& family,
                                     const TrainingRequest& base) {
  if (arguments.given("grid")) {
    const std::string place = arguments.text("grid");
    return read_search_space(read_whole_file(place, kMostGridBytes), place, family, base.kind,
                             base.options);
  }
  return usual_search_space(family, base.kind, base.options);
}

TuningRequest request_for(const Arguments& arguments, PublicRows& rows) {
  if (!has_budget(arguments))
    throw InvalidArgument("sotto tune needs a budget", "e.g. --epsilon 1 --delta 1e-6");
  TuningRequest request;
  const Family& family = family_named(arguments);
  request.family = &family;
  request.base = request_of(
      arguments, family,
      arguments.given("method") ? arguments.text("method") : family.methods.front().name);
  request.candidates = candidates_of(arguments, family, request.base);
  request.drop_refused = !arguments.given("grid");
  request.budget = budget_of(arguments);
  request.count = count_of(arguments);
  const bool first = arguments.text("selection") == kFirst;
  if (first != arguments.given("good-enough"))
    throw InvalidArgument(
        first ? "--selection first_good_enough needs --good-enough SCORE"
              : "--good-enough SCORE is of --selection first_good_enough",
        "the best of all trials needs no score; the first that is good enough does");
  if (first) request.good_enough = arguments.number("good-enough");
  const Facts facts = facts_of(arguments, family, request.base);
  if (facts.images) {
    request.facts = [facts](const TrainingRequest&) { return Facts(facts); };
  } else {
    request.facts = [&family, schema = schema_of(arguments)](const TrainingRequest& asked) {
      return facts_for(family, schema, asked);
    };
  }
  request.open = [&arguments](const Facts& other) { return source_of(arguments, other); };
  if (!arguments.given("validation")) {
    if (arguments.given("metric"))
      throw InvalidArgument("--metric is of public rows: --validation FILE",
                            "a private score counts the rows that are right, or adds up errors");
    request.score_share = arguments.number("score-share");
    return request;
  }
  if (arguments.given("score-share"))
    throw InvalidArgument(
        "--score-share is of a private score, and --validation names public rows");
  if (is_same_file(arguments.text("data"), arguments.text("validation")))
    throw InvalidArgument("--validation names the private data itself: its rows are not public",
                          "leave it out to score on the private rows, with noise");
  const std::size_t classes = facts.classes().size();
  const std::string metric =
      metric_named(arguments.given("metric") ? arguments.text("metric") : "", classes);
  request.score = fmt::format("{} on public rows", metric);
  request.smaller_is_better = is_loss(metric);
  request.public_score = [&rows, metric, classes](const Model& model, const Facts& own) {
    return measured(metric, classes, rows.scored(model, own));
  };
  return request;
}

Json tuning_summary(const std::string& kind, const TuningPlan& plan, const Cost& cost) {
  const Explanation explanation = plan.explain();
  Json json = {{"schema", 1}, {"epsilon", nullptr}, {"delta", nullptr}};
  if (cost.epsilon) json["epsilon"] = *cost.epsilon;
  if (cost.delta) json["delta"] = *cost.delta;
  json["method"] = explanation.method;
  json["model"] = kind;
  json["relation"] = name(plan.relation());
  json.update(explanation.figures);
  return json;
}

void check_places_of_tuning(const Arguments& arguments) {
  if (!arguments.given("out"))
    throw InvalidArgument("sotto tune needs --out DIR, the place of the model",
                          "or --dry-run to see the cost only");
  check_artifact_place(arguments.text("out"));
}

void run_tune(const Arguments& arguments, Context& context) {
  if (!arguments.flag("dry-run")) check_places_of_tuning(arguments);
  PublicRows rows(arguments);
  TuningPlan plan(request_for(arguments, rows));
  const Family& family = family_named(arguments);
  const std::string kind = kind_of(arguments);
  const Facts& facts = plan.facts();
  if (facts.rows) check_delta(arguments, *facts.rows, "declared rows", context);
  const Cost cost = cost_of(*plan.event(), plan.relation(), arguments);
  const std::string guarantee = promise(plan.event(), facts, cost);
  std::string key;
  Resuming resuming(arguments, context, true, facts);

  PaidWork<TrainedModel> work;
  work.spec = Spec{plan.relation(), {*plan.event()}};
  work.unit = name(facts.unit);
  work.what = fmt::format("tuned {} model", kind);
  work.json = tuning_summary(kind, plan, cost);
  work.show = [&](const Json& quoted) {
    Json json = quoted;
    json["event"] = to_json(*plan.event());
    if (arguments.flag("json")) {
      context.out.print("{}\n", json.dump());
    } else {
      context.out.print("not run, no data read\n  would cost {}\n  plan       {}\n", guarantee,
                        plan.explain().words);
    }
  };
  work.prepare = [&](Rng& rng, const Payment* payment) {
    key = read_signing_key(arguments.given("sign") ? arguments.text("sign") : "");
    if (arguments.given("validation"))
      for (const Facts* each : plan.all_facts()) rows.check(*each);
    return resuming.prepare(plan, rng, *payment);
  };
  work.undo = [&] { resuming.forget(); };
  work.run = [&](Rng& rng) {
    const std::unique_ptr<Source> source = source_of(arguments, facts);
    return plan.run(*source, rng, resuming.control());
  };
  work.settle = [&](TrainedModel& trained) {
    const std::string digest =
        trained.value() != nullptr
            ? result_digest(digests_of(artifact_files(trained, plan.chosen_facts())))
            : result_digest({{"value", sha256("none")}});
    return digest + " " + plan.result();
  };
  work.publish = [&](TrainedModel&& trained, Json&& json, Rng& rng, const Payment* payment) {
    const bool found = trained.value() != nullptr;
    const Explanation explanation = plan.explain();
    json.update(explanation.figures);
    json["found"] = found;
    if (found) {
      Certificate c = certify_training(family, plan.chosen_facts(), plan, trained,
                                       arguments.maybe_number("delta").value_or(0), rng);
      c.dataset = arguments.given("dataset") ? arguments.text("dataset") : "";
      c.ledger = payment->reference();
      c.fingerprint = payment->fingerprint();
      write_artifact(arguments.text("out"), trained, plan.chosen_facts(), c, key);
      json["out"] = arguments.text("out");
    }
    resuming.done();
    const bool insecure = arguments.given("insecure-seed");
    if (arguments.flag("json")) {
      if (insecure) json["warning"] = kInsecure;
      payment->add_to(json);
      context.out.print("{}\n", json.dump());
      return;
    }
    if (found) {
      context.out.print("{} model in {}\n", kind, context.bold(arguments.text("out")));
    } else {
      context.out.print("no model: {}\n", arguments.given("good-enough")
                                              ? "no trial was good enough"
                                              : "the number of trials drawn was 0");
    }
    context.out.print("  guarantee  {}\n  plan       {}\n", guarantee, explanation.words);
    if (found)
      context.out.print("  score      {:.6g}\n", explanation.figures["score"].get<double>());
    if (insecure) context.out.print("  {}\n", kInsecure);
    if (found)
      context.note("next: sotto evaluate --model " + arguments.text("out") + " --data " +
                   (facts.images ? "TEST" : "TEST.csv"));
  };
  perform(arguments, context, std::move(work));
}

std::vector<Option> tuning_options() {
  return {{.name = "grid",
           .type = Type::file,
           .value = "FILE",
           .help = "what to try, as TOML: option = [values] or a range; default: usual values of "
                   "common options",
           .group = "Tuning"},
          {.name = "validation",
           .type = Type::file,
           .value = "FILE",
           .help = "public rows to score trials on; default: the private rows, with noise that is "
                   "part of every trial",
           .group = "Tuning"},
          {.name = "score-share",
           .type = Type::number,
           .value = "F",
           .help = "share of a trial's budget for a private score",
           .fallback = "0.1",
           .range = Range::inside(0, 1),
           .group = "Tuning"},
          {.name = "trials-mean",
           .type = Type::number,
           .value = "M",
           .help = "mean number of trials; how many there were is never told",
           .fallback = "10",
           .range = {.lower = 0, .upper = 1000, .open_lower = true},
           .group = "Tuning"},
          {.name = "trials-distribution",
           .type = Type::choice,
           .value = "LAW",
           .help = "of the number of trials",
           .fallback = std::string(name(SelectionDistribution::truncated_negative_binomial)),
           .choices = {std::string(name(SelectionDistribution::truncated_negative_binomial)),
                       std::string(name(SelectionDistribution::poisson))},
           .group = "Tuning"},
          {.name = "trials-shape",
           .type = Type::number,
           .value = "S",
           .help = "of the truncated negative binomial: 0 is logarithmic and cheapest, 1 geometric",
           .fallback = "0",
           .range = Range::between(0, 1),
           .group = "Tuning"},
          {.name = "selection",
           .type = Type::choice,
           .value = "RULE",
           .help = "which trial is released",
           .fallback = "best",
           .choices = {"best", kFirst},
           .group = "Tuning"},
          {.name = "good-enough",
           .type = Type::number,
           .value = "SCORE",
           .help = "the score that first_good_enough waits for; no model when no trial has it",
           .group = "Tuning"},
          {.name = "method",
           .type = Type::text,
           .value = "M",
           .help = "the route to privacy of candidates that do not name one",
           .group = "Tuning"},
          {.name = "checkpoint",
           .type = Type::file,
           .value = "FILE",
           .help = "where the state of the run is kept, secret; default: --out with .checkpoint"},
          {.name = "resume",
           .type = Type::flag,
           .help = "go on from the checkpoint; the options must be those of the first call"}};
}

}  // namespace

Command tune_command() {
  std::vector<Option> options = training_data_options();
  options.push_back(kind_option(true));
  for (Option& option : tuning_options()) options.push_back(std::move(option));
  options.push_back(
      metric_option("what public rows measure; default: accuracy, or r2 of a number"));
  options.push_back({.name = "out",
                     .type = Type::file,
                     .value = "DIR",
                     .help = "directory for model, encoder and certificate"});
  for (Option& option : certified_run_options())
    if (option.name != "rho") options.push_back(std::move(option));
  return {.name = "tune",
          .summary = "choose options of a model privately, and fit it",
          .description =
              "Runs a random number of trials, each with options drawn from a declared list, and "
              "releases the best model only. That costs little more than two or three trials, "
              "however many there were; how many there were is never told, and nothing is shown "
              "while it runs. Trying options by hand and keeping the best costs all the runs. "
              "Trials are scored on public rows, or on the private ones with noise. The time that "
              "a run takes depends on the number of trials: keep it to yourself.",
          .examples = {{"The ridge of a logistic regression, with epsilon 1 in all",
                        "sotto tune --data people.csv --schema people.toml --model logistic "
                        "--target city --epsilon 1 --delta 1e-5 --out tuned"},
                       {"What would it cost, scored on public rows?",
                        "sotto tune --data people.csv --schema people.toml --model linear "
                        "--validation public.csv --epsilon 1 --delta 1e-5 --dry-run"}},
          .options = std::move(options),
          .run = run_tune,
          .usage = "--data FILE --schema FILE --epsilon E [--delta D] --out DIR [options]",
          .selector = "model",
          .variants = kind_variants(true)};
}

}  // namespace sotto::cli
