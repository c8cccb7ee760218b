// sotto release summary: several statistics of the columns of a schema, with one budget.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "options/model_options.hpp"
#include "release.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/core/text.hpp"
#include "sotto/learning/source.hpp"
#include "sotto/learning/summary.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

Json line_json(const SummaryLine& line, bool groups) {
  Json json = {{"statistic", line.statistic}};
  if (groups) json["group"] = line.group;
  if (line.counts.empty()) {
    json["value"] = line.value ? Json(*line.value) : Json(nullptr);
  } else {
    json["value"] = Json::object();
    for (const auto& [category, count] : line.counts) json["value"][category] = count;
  }
  json["noise"] = cli::to_json(line.noise);
  return json;
}

std::string interval_text(const NoiseInfo& noise) {
  return noise.half_width_95 ? fmt::format("  ±{}", round_up(*noise.half_width_95, 4))
                             : std::string();
}

std::string to_text(const Summary& summary) {
  std::string text;
  for (const SummaryLine& line : summary) {
    const std::string head =
        visible(line.group.empty() ? line.statistic : line.statistic + " of " + line.group);
    if (line.counts.empty()) {
      text += fmt::format("\n  {:<32}  {}{}", head,
                          line.value ? fmt::format("{:.6g}", *line.value) : "drowned in the noise",
                          line.value ? interval_text(line.noise) : "");
      continue;
    }
    text += fmt::format("\n  {:<32}", head);
    for (const auto& [category, count] : line.counts)
      text += fmt::format("  {} {:.0f}", visible(category), count);
    text += interval_text(line.noise);
  }
  return text;
}

}  // namespace

PreparedRelease prepare_summary(const Arguments& arguments, Context& context) {
  const Schema schema = Schema::from_file(arguments.text("schema"));
  SummaryRequest request;
  for (const std::string& text : arguments.list("statistics"))
    request.statistics.push_back(summary_statistic(text));
  if (arguments.given("where"))
    for (const std::string& text : arguments.list("where"))
      request.conditions.push_back(summary_condition(text));
  if (arguments.given("by-group")) request.group = arguments.text("by-group");
  const bool groups = !request.group.empty();
  const SummaryPlan plan(schema, std::move(request), budget_of(arguments));
  if (schema.rows) check_delta(arguments, *schema.rows, "declared rows", context);
  // Not the name of the data, which may be an address with a password: this goes into certificates.
  std::string what = fmt::format("summary of {}", fmt::join(arguments.list("statistics"), ", "));
  if (groups) what += " by " + arguments.text("by-group");
  if (arguments.given("where"))
    what += fmt::format(" where {}", fmt::join(arguments.list("where"), " and "));
  return {.what = std::move(what),
          .plan = plan.describe(),
          .event = plan.event(),
          .relation = plan.relation(),
          .unit = std::string(name(plan.facts().unit)),
          .run =
              [plan, groups, arguments](Rng& rng) {
                const auto source =
                    table_file(arguments.text("data"), plan.facts().encoder,
                               table_options(arguments, plan.facts().encoder->schema()));
                const Release<Summary> release = plan.run(*source, rng);
                Json lines = Json::array();
                for (const SummaryLine& line : release.value)
                  lines.push_back(line_json(line, groups));
                return Answer{.value = std::move(lines),
                              .text = to_text(release.value),
                              .event = release.event,
                              .rows = 0};
              },
          .schema = schema};
}

std::vector<Option> summary_options() {
  std::vector<Option> options = {
      {.name = "data",
       .type = Type::file,
       .value = "FILE",
       .help = kTableHelp,
       .required = true,
       .group = "Data"},
      {.name = "schema",
       .type = Type::file,
       .value = "FILE",
       .help = "the public facts about the data, as TOML",
       .required = true,
       .group = "Data"},
      {.name = "statistics",
       .type = Type::list,
       .value = "A,B",
       .help = "count, sum:C, mean:C, variance:C, median:C, quantile:C:P, histogram:C, "
               "covariance:C:D, correlation:C:D, for columns C and D",
       .required = true,
       .group = "Data"},
      {.name = "by-group",
       .type = Type::text,
       .value = "COLUMN",
       .help = "each statistic for every declared value of this column",
       .group = "Data"},
      {.name = "where",
       .type = Type::list,
       .value = "A,B",
       .help = "only rows that meet these: age>=30, age<65, city=Turin|Milan",
       .group = "Data"}};
  for (Option& option : reader_options()) options.push_back(std::move(option));
  return options;
}

}  // namespace sotto::cli
