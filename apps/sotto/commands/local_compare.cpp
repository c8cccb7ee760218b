// sotto local compare: the error that every protocol would have, before anything is collected.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "local.hpp"
#include "local_plot.hpp"
#include "shell/output_file.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/local/server/choice.hpp"

namespace sotto::cli {
namespace {

using namespace sotto::local;
using Json = nlohmann::ordered_json;

double share_of(const Arguments& arguments) {
  return arguments.given("share") ? arguments.number("share")
                                  : 1 / static_cast<double>(arguments.whole("domain"));
}

// Standard errors over a range of ε around the one asked for.
std::string plot_of(const Arguments& arguments) {
  constexpr int kPoints = 25;
  constexpr double kLeast = 0.1, kMost = 8;
  const std::uint64_t k = arguments.whole("domain"), n = arguments.whole("reports");
  Plot plot{.title = "Error of a share by local protocols",
            .subtitle = fmt::format("{} categories, {} reports", k, n),
            .x_label = "epsilon of a report",
            .y_label = "standard error",
            .log_x = true,
            .log_y = true,
            .series = {}};
  for (int i = 0; i < kPoints; ++i) {
    const double e = kLeast * std::pow(kMost / kLeast, static_cast<double>(i) / (kPoints - 1));
    for (const PredictedError& p : predicted_errors(e, k, n, share_of(arguments))) {
      auto found = std::find_if(plot.series.begin(), plot.series.end(),
                                [&](const PlotSeries& s) { return s.label == p.protocol; });
      if (found == plot.series.end())
        found =
            plot.series.insert(found, {.label = p.protocol,
                                       .color = plot_color(plot.series.size()),
                                       .dashed = plot.series.size() >= std::size(kPlotColors) / 2});
      found->points.emplace_back(e, p.standard_error);
    }
  }
  return to_svg(plot);
}

void run_local_compare(const Arguments& arguments, Context& context) {
  const double epsilon = arguments.number("epsilon");
  const std::uint64_t k = arguments.whole("domain"), n = arguments.whole("reports");
  const auto all = predicted_errors(epsilon, k, n, share_of(arguments));
  const std::string chosen = best_protocol(epsilon, k, n);
  if (arguments.given("plot")) write_file(arguments.text("plot"), plot_of(arguments));
  if (arguments.flag("json")) {
    Json list = Json::array();
    for (const PredictedError& p : all)
      list.push_back({{"protocol", p.protocol},
                      {"standard_error", p.standard_error},
                      {"unit_variance", p.unit_variance},
                      {"report_bytes", p.report_bytes},
                      {"epsilon", p.epsilon}});
    context.out.print("{}\n", Json{{"schema", 1},
                                   {"domain", k},
                                   {"reports", n},
                                   {"share", share_of(arguments)},
                                   {"protocols", list},
                                   {"auto", chosen}}
                                  .dump());
    return;
  }
  context.out.print("{:<10} {:>14} {:>12} {:>12}\n", "protocol", "standard error", "n·variance",
                    "report bytes");
  for (const PredictedError& p : all)
    context.out.print("{:<10} {:>14.6f} {:>12.4f} {:>12}\n", p.protocol, p.standard_error,
                      p.unit_variance, p.report_bytes);
  context.out.print("auto is {}\n", chosen);
}

}  // namespace

Command local_compare_command() {
  return {.name = "compare",
          .summary = "the error of every protocol, predicted",
          .description =
              "For k categories, n reports and epsilon: the standard error of the estimate of a "
              "share, from the formulas of the protocols. Nothing is read.",
          .examples = {{"A hundred categories",
                        "sotto local compare --domain 100 --reports 10000 --epsilon 1"},
                       {"And over a range of epsilon, as a plot",
                        "sotto local compare --domain 100 --reports 10000 --epsilon 1 --plot "
                        "errors.svg"}},
          .options = {{.name = "domain",
                       .type = Type::whole,
                       .value = "K",
                       .help = "how many categories",
                       .range = Range::between(2, static_cast<double>(kMostCategories)),
                       .required = true},
                      {.name = "reports",
                       .type = Type::whole,
                       .value = "N",
                       .help = "how many reports",
                       .range = Range::between(1, 0x1p32),
                       .required = true},
                      {.name = "epsilon",
                       .type = Type::number,
                       .value = "E",
                       .help = "privacy of one report",
                       .range = Range::above(0),
                       .required = true},
                      {.name = "share",
                       .type = Type::number,
                       .value = "F",
                       .help = "true share of the category; without, 1/K",
                       .range = Range::between(0, 1)},
                      {.name = "plot",
                       .type = Type::file,
                       .value = "FILE.svg",
                       .help = "also draw the errors over epsilon"},
                      json_option(),
                      output_option()},
          .run = run_local_compare};
}

}  // namespace sotto::cli
