// sotto local simulate: public values in, the error that protocols really have on them out.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "local.hpp"
#include "local_plot.hpp"
#include "shell/output_file.hpp"
#include "sotto/core/error.hpp"
#include "sotto/data/byte_source.hpp"

namespace sotto::cli {
namespace {

using namespace sotto::local;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMostValueBytes = std::size_t{1} << 30;

struct Population {
  std::vector<std::string> names;
  std::vector<std::uint64_t> values;
  std::vector<double> shares;
};

Population read_population(const std::string& path) {
  Population p;
  std::map<std::string, std::uint64_t, std::less<>> number;
  const std::string text = read_all(path, kMostValueBytes);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = as_utf8(std::string_view(text).substr(at, end - at));
    const auto [found, fresh] = number.try_emplace(line, p.names.size());
    if (fresh) p.names.push_back(line), p.shares.push_back(0);
    p.values.push_back(found->second);
    at = end + 1;
  }
  if (p.names.size() < 2) throw DataError("a simulation needs values of two kinds or more");
  for (const std::uint64_t v : p.values) p.shares[v] += 1 / static_cast<double>(p.values.size());
  return p;
}

struct Measured {
  double root_mean_square = 0, worst = 0, predicted = 0;
};

Measured measure(const Declaration& d, const Population& population, std::uint64_t rounds,
                 Rng& rng) {
  const auto randomizer = make_randomizer(d);
  std::vector<std::uint8_t> report(randomizer->report_bytes());
  Measured result;
  double squares = 0, variance = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const auto aggregator = make_frequency_aggregator(d);
    for (const std::uint64_t v : population.values) {
      randomizer->answer(v, nullptr, rng, report);
      aggregator->add(report);
    }
    const Frequencies f = aggregator->frequencies();
    for (std::size_t i = 0; i < f.share.size(); ++i) {
      const double error = f.share[i] - population.shares[i];
      squares += error * error;
      result.worst = std::max(result.worst, std::abs(error));
      if (round == 0) variance += aggregator->unit_variance(population.shares[i]);
    }
  }
  const auto k = static_cast<double>(population.shares.size());
  result.root_mean_square = std::sqrt(squares / (k * static_cast<double>(rounds)));
  result.predicted = std::sqrt(variance / (k * static_cast<double>(population.values.size())));
  return result;
}

// Measured errors as dots, what the formulas predict as dashed lines.
class ErrorPlot {
 public:
  explicit ErrorPlot(const Population& population, std::uint64_t rounds)
      : plot_{.title = "Error of a share by local protocols",
              .subtitle = fmt::format("{} public values of {} kinds, {} rounds",
                                      population.values.size(), population.names.size(), rounds),
              .x_label = "epsilon of a report",
              .y_label = "root mean square error",
              .log_x = true,
              .log_y = true,
              .series = {},
              .warning = "NOT PRIVATE"} {}

  void begin(const std::string& protocol) {
    const char* color = plot_color(plot_.series.size() / 2);
    plot_.series.push_back({.label = protocol, .color = color, .dots = true});
    plot_.series.push_back({.label = protocol + ", predicted", .color = color, .dashed = true});
  }
  void add(double epsilon, const Measured& m) {
    plot_.series[plot_.series.size() - 2].points.emplace_back(epsilon, m.root_mean_square);
    plot_.series.back().points.emplace_back(epsilon, m.predicted);
  }
  std::string svg() {
    for (PlotSeries& s : plot_.series) std::ranges::sort(s.points);
    return to_svg(plot_);
  }

 private:
  Plot plot_;
};

void run_local_simulate(const Arguments& arguments, Context& context) {
  const Population population = read_population(arguments.text("in"));
  context.note("values of a simulation are public: its result is NOT PRIVATE");
  std::vector<std::string> names;
  if (arguments.given("protocols")) {
    names = arguments.list("protocols");
  } else {
    for (const ProtocolKind& kind : protocol_kinds())
      if (kind.input == Input::category && kind.one_time && kind.listed) names.push_back(kind.name);
  }
  std::vector<double> epsilons;
  for (const std::string& text : arguments.list("epsilon")) {
    double value = 0;
    const char* end = text.data() + text.size();
    const auto [read, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || read != end || !(value > 0))
      throw InvalidArgument(fmt::format("--epsilon has '{}'; it is a list of numbers", text),
                            "e.g. 0.5,1,2,4");
    epsilons.push_back(value);
  }
  std::optional<Rng> seeded = insecure_rng(arguments, context);
  Rng& rng = seeded ? *seeded : context.rng();
  Json list = Json::array();
  ErrorPlot plot(population, arguments.whole("rounds"));
  if (!arguments.flag("json"))
    context.out.print("{:<10} {:>8} {:>14} {:>14} {:>14}\n", "protocol", "epsilon", "rms error",
                      "predicted", "worst error");
  for (const std::string& name : names) {
    const ProtocolKind& kind = protocol_kind(name);
    if (kind.input != Input::category || !kind.one_time || !kind.listed)
      throw InvalidArgument(fmt::format("{} is not a protocol for categories", name));
    plot.begin(name);
    for (const double epsilon : epsilons) {
      const Declaration d =
          declare({.protocol = name, .epsilon = epsilon, .domain = population.names.size()},
                  OptionValues(protocol_options(kind), {}));
      const Measured m = measure(d, population, arguments.whole("rounds"), rng);
      plot.add(epsilon, m);
      list.push_back({{"protocol", name},
                      {"epsilon", epsilon},
                      {"root_mean_square_error", m.root_mean_square},
                      {"predicted", m.predicted},
                      {"worst_error", m.worst}});
      if (!arguments.flag("json"))
        context.out.print("{:<10} {:>8} {:>14.6f} {:>14.6f} {:>14.6f}\n", name, epsilon,
                          m.root_mean_square, m.predicted, m.worst);
    }
  }
  if (arguments.given("plot")) write_file(arguments.text("plot"), plot.svg());
  if (arguments.flag("json"))
    context.out.print("{}\n", Json{{"schema", 1},
                                   {"values", population.values.size()},
                                   {"domain", population.names.size()},
                                   {"rounds", arguments.whole("rounds")},
                                   {"curve", list}}
                                  .dump());
}

}  // namespace

Command local_simulate_command() {
  return {.name = "simulate",
          .summary = "try protocols on public values and measure their errors",
          .description =
              "Makes reports of all values, estimates, and compares with the truth: root mean "
              "square and worst error over all categories, beside what the formulas predict. For "
              "public or made-up data only.",
          .examples = {{"Two protocols, two epsilons",
                        "sotto local simulate --in values.txt --protocols grr,oue --epsilon 1,2 "
                        "--rounds 20"},
                       {"The curves as a plot",
                        "sotto local simulate --in values.txt --protocols grr,oue --plot "
                        "errors.svg"}},
          .options = {{.name = "in",
                       .type = Type::file,
                       .value = "FILE",
                       .help = "public values, one a line",
                       .required = true},
                      {.name = "protocols",
                       .type = Type::list,
                       .value = "A,B,…",
                       .help = "which; without, all for categories"},
                      {.name = "epsilon",
                       .type = Type::list,
                       .value = "E,F,…",
                       .help = "privacy of one report; several make a curve",
                       .fallback = "0.5,1,2,4"},
                      {.name = "rounds",
                       .type = Type::whole,
                       .value = "N",
                       .help = "how often each is tried",
                       .fallback = "10",
                       .range = Range::between(1, 1e6)},
                      {.name = "plot",
                       .type = Type::file,
                       .value = "FILE.svg",
                       .help = "also draw the errors over epsilon, measured and predicted"},
                      json_option(),
                      output_option(),
                      insecure_seed_option()},
          .run = run_local_simulate};
}

}  // namespace sotto::cli
