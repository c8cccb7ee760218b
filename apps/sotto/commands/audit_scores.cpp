// sotto audit scores: two files of scores in, what they prove out.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "commands/audit.hpp"
#include "commands/commands.hpp"
#include "shell/output_file.hpp"
#include "sotto/audit/scores.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/data/csv.hpp"
#include "sotto/data/number.hpp"
#include "sotto/report/svg_plot.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

// One column of numbers, with or without a name above it.
std::vector<double> read_scores(const std::string& path, const Arguments& arguments) {
  CsvReader reader(path);
  const bool named = parse_number(reader.columns().front()).kind != CellKind::number;
  if (!named) reader = CsvReader(path, {.header = false});
  std::string column = reader.columns().front();
  if (arguments.given("column")) {
    column = arguments.text("column");
  } else if (reader.columns().size() > 1) {
    throw InvalidArgument(fmt::format("'{}' has {} columns", path, reader.columns().size()),
                          "say which one holds the scores: --column NAME");
  }
  std::vector<double> scores;
  reader.for_each_number(column, [&](double value, std::uint64_t) { scores.push_back(value); });
  return scores;
}

audit::ThresholdChoice choice_of(const std::string& name) {
  if (name == "split") return audit::ThresholdChoice::split;
  if (name == "multi_split") return audit::ThresholdChoice::multi_split;
  if (name == "explicit") return audit::ThresholdChoice::explicit_threshold;
  return audit::ThresholdChoice::bonferroni;
}

Json number_text(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }

Json to_json(const audit::ScoreAudit& a, const Arguments& arguments) {
  Json rates = Json::object(), intervals = Json::object();
  for (const audit::RateAt& r : a.tpr_at_fpr) {
    const std::string at = fmt::format("{:g}", r.false_positive_rate);
    rates[at] = r.true_positive_rate.value;
    intervals[at] = {r.true_positive_rate.lower, r.true_positive_rate.upper};
  }
  return {{"schema", 1},
          {"members", a.members},
          {"nonmembers", a.nonmembers},
          {"auc", a.auc.value},
          {"auc_interval", {a.auc.lower, a.auc.upper}},
          {"advantage", a.advantage},
          {"tpr_at_fpr", rates},
          {"tpr_at_fpr_interval", intervals},
          {"epsilon_lower",
           {{"clopper_pearson", a.clopper_pearson},
            {"gdp", number_text(a.gdp.epsilon)},
            {"one_run", a.one_run},
            {"one_run_gdp", number_text(a.one_run_gdp.epsilon)}}},
          {"ceiling",
           {{"clopper_pearson", a.clopper_pearson_ceiling},
            {"gdp", number_text(a.gdp_ceiling.epsilon)},
            {"one_run", a.one_run_ceiling}}},
          {"assumptions",
           {{"clopper_pearson", "scores are independent of each other"},
            {"gdp", "independent scores and a Gaussian trade-off: an estimate"},
            {"one_run", "members were chosen by fair coins"},
            {"one_run_gdp", "fair coins and a Gaussian trade-off: an estimate"}}},
          {"mu_lower", {{"gdp", a.gdp.mu}, {"one_run_gdp", a.one_run_gdp.mu}}},
          {"one_run_guesses", a.one_run_guesses},
          {"threshold_choice", arguments.text("threshold-choice")},
          {"delta", arguments.number("delta")},
          {"confidence", arguments.number("confidence")}};
}

void print(const audit::ScoreAudit& a, const Arguments& arguments, Context& context) {
  context.out.print(
      "{} members, {} non-members; area under the curve {:.4f} ({:.4f} to {:.4f}), "
      "advantage {:.4f}\n",
      a.members, a.nonmembers, a.auc.value, a.auc.lower, a.auc.upper, a.advantage);
  for (const audit::RateAt& r : a.tpr_at_fpr)
    context.out.print(
        "  {:>5.1f} % false positives: {:.2f} % of members found ({:.2f} to {:.2f})\n",
        100 * r.false_positive_rate, 100 * r.true_positive_rate.value,
        100 * r.true_positive_rate.lower, 100 * r.true_positive_rate.upper);
  context.out.print("\nepsilon at delta = {} is at least, with confidence {:g} %\n",
                    arguments.text("delta"), 100 * arguments.number("confidence"));
  const auto line = [&](const char* how, double bound, double ceiling, const char* given) {
    context.out.print("  {:<18}{:<11}{:<26}{}\n", how, round_down(bound, 4),
                      ceiling > 0 ? "at most " + round_down(ceiling, 4) + " possible" : "", given);
  };
  line("clopper_pearson", a.clopper_pearson, a.clopper_pearson_ceiling,
       "if scores are independent");
  line("one_run", a.one_run, a.one_run_ceiling, "if members were chosen by fair coins");
  line("gdp", a.gdp.epsilon, a.gdp_ceiling.epsilon, "estimate: if the trade-off is Gaussian");
  line("one_run_gdp", a.one_run_gdp.epsilon, 0, "estimate: fair coins and a Gaussian trade-off");
}

void draw(const std::string& path, const std::vector<double>& members,
          const std::vector<double>& nonmembers) {
  const double smallest = 0.5 / static_cast<double>(nonmembers.size());
  PlotSeries curve{.label = "scores", .color = "#b3261e"},
      chance{.label = "chance", .color = "#777777", .dashed = true};
  for (const auto& [fpr, tpr] : audit::roc_curve(members, nonmembers))
    curve.points.push_back({std::max(fpr, smallest), std::max(tpr, smallest)});
  chance.points = {{smallest, smallest}, {1, 1}};
  write_file(path,
             to_svg(Plot{.title = "How well scores tell members from others",
                         .subtitle = "private: as sensitive as the records",
                         .x_label = "false positive rate",
                         .y_label = "true positive rate",
                         .log_x = true,
                         .log_y = true,
                         .series = {curve, chance}}),
             Readers::owner);
}

void run_audit_scores(const Arguments& arguments, Context& context) {
  const auto members = read_scores(arguments.text("members"), arguments),
             nonmembers = read_scores(arguments.text("nonmembers"), arguments);
  const bool known = arguments.given("threshold");
  if (known != (arguments.text("threshold-choice") == "explicit"))
    throw InvalidArgument("--threshold T and --threshold-choice explicit go together");
  audit::ScoreOptions options{.delta = arguments.number("delta"),
                              .confidence = arguments.number("confidence"),
                              .choice = choice_of(arguments.text("threshold-choice"))};
  if (known) options.threshold = arguments.number("threshold");
  const audit::ScoreAudit result = audit::audit_scores(members, nonmembers, options);
  if (arguments.given("draw")) {
    draw(arguments.text("draw"), members, nonmembers);
    context.note(fmt::format("wrote {}", arguments.text("draw")));
  }
  if (arguments.flag("json")) {
    context.out.print("{}\n", to_json(result, arguments).dump());
  } else {
    print(result, arguments, context);
  }
  const bool coins = arguments.flag("fair-coins");
  hold_against_claim(arguments, coins ? result.one_run : result.clopper_pearson, context);
}

}  // namespace

Command audit_scores_command() {
  std::vector<Option> options = {
      {.name = "members",
       .type = Type::file,
       .value = "FILE",
       .help = "scores of records that were in the data",
       .required = true},
      {.name = "nonmembers",
       .type = Type::file,
       .value = "FILE",
       .help = "scores of records that were not",
       .required = true},
      {.name = "column", .value = "NAME", .help = "the column of the scores, where there are more"},
      {.name = "threshold-choice",
       .type = Type::choice,
       .value = "HOW",
       .help = "how the threshold is chosen and paid for",
       .fallback = "bonferroni",
       .choices = {"bonferroni", "split", "multi_split", "explicit"}},
      {.name = "threshold",
       .type = Type::number,
       .value = "T",
       .help = "a threshold that was known before the scores"},
      {.name = "fair-coins",
       .type = Type::flag,
       .help = "members were chosen by fair coins in one run: the claim is held against one_run"},
      {.name = "draw",
       .type = Type::file,
       .value = "FILE",
       .help = "also draw the ROC curve as .svg, on logarithmic axes"}};
  for (Option& o : audit_options()) options.push_back(std::move(o));
  return {.name = "scores",
          .summary = "bound epsilon by scores of members and of non-members",
          .description =
              "A higher score says member. One number a line, with or without a header. Bounds pay "
              "for the choice of the threshold; beside each stands the most that so many scores "
              "can prove.",
          .examples = {{"Two files of scores",
                        "sotto audit scores --members in.csv --nonmembers out.csv --delta 1e-5"},
                       {"A gate for a build: exit code 5 when the claim is refuted",
                        "sotto audit scores --members in.csv --nonmembers out.csv --delta 1e-5 "
                        "--claim 1"}},
          .options = std::move(options),
          .run = run_audit_scores};
}

}  // namespace sotto::cli
