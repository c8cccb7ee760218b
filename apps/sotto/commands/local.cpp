// sotto local: reports from devices that trust nobody, and what a collector learns.
#include "local.hpp"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "sotto/core/error.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/data/byte_source.hpp"
#include "sotto/local/server/central.hpp"
#include "sotto/local/server/choice.hpp"

namespace sotto::cli {
namespace {

constexpr std::size_t kMostValuesBytes = std::size_t{256} << 20;

std::vector<std::string> lines_of(const std::string& path) {
  const std::string text = read_all(path, kMostValuesBytes);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find('\n', at);
    if (end == std::string::npos) end = text.size();
    std::string line = text.substr(at, end - at);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!is_utf8(line))
      throw DataError(fmt::format("line {} of {} is not UTF-8", lines.size() + 1, path));
    lines.push_back(std::move(line));
    at = end + 1;
  }
  return lines;
}

}  // namespace

void add_protocol_options(Command& command, bool with_auto) {
  const std::string group = "Protocol";
  std::vector<std::string> names;
  for (const local::ProtocolKind& kind : local::protocol_kinds()) names.push_back(kind.name);
  if (with_auto) names.emplace_back("auto");
  std::vector<Option> options = {
      {.name = "protocol",
       .type = Type::choice,
       .value = "NAME",
       .help = "how a value becomes a report",
       .choices = names,
       .required = true,
       .group = group},
      {.name = "epsilon",
       .type = Type::number,
       .value = "E",
       .help = "privacy of one report; needed, but by rappor, whose options say it",
       .range = Range::above(0),
       .group = group},
      {.name = "values",
       .type = Type::list,
       .value = "A,B,…",
       .help = "the categories, all that a value may be",
       .group = group},
      {.name = "values-file",
       .type = Type::file,
       .value = "FILE",
       .help = "the categories, one a line",
       .group = group},
      {.name = "domain",
       .type = Type::whole,
       .value = "K",
       .help = "the categories are the numbers 0 to K-1",
       .range = Range::between(2, static_cast<double>(local::kMostCategories)),
       .group = group}};
  command.options.insert(command.options.begin(), options.begin(), options.end());
  command.selector = "protocol";
  for (const local::ProtocolKind& kind : local::protocol_kinds()) {
    Variant variant{.value = kind.name, .title = kind.title, .help = kind.help};
    for (const Option& option : local::protocol_options(kind))
      variant.options.push_back(as_typed(option));
    command.variants.push_back(std::move(variant));
  }
  if (with_auto)
    command.variants.push_back({.value = "auto",
                                .title = "Chosen by its error",
                                .help = "the least error for these categories and epsilon",
                                .options = {{.name = "expected-reports",
                                             .type = Type::whole,
                                             .value = "N",
                                             .help = "about how many there will be; without, a "
                                                     "million",
                                             .range = Range::between(1, 0x1p32)}}});
}

local::Declaration declared_protocol(const Arguments& arguments) {
  local::Declaration start{.protocol = arguments.text("protocol"), .epsilon = 0};
  if (arguments.given("epsilon")) {
    start.epsilon = arguments.number("epsilon");
  } else if (start.protocol == "auto" || !local::protocol_kind(start.protocol).derives_epsilon) {
    throw InvalidArgument(fmt::format("--protocol {} needs --epsilon E", start.protocol),
                          "typical values lie between 0.5 (strong) and 4 (weak)");
  }
  const int ways =
      arguments.given("values") + arguments.given("values-file") + arguments.given("domain");
  if (ways > 1)
    throw InvalidArgument("--values, --values-file and --domain say the same; give one of them");
  if (arguments.given("values")) start.values = arguments.list("values");
  if (arguments.given("values-file")) start.values = lines_of(arguments.text("values-file"));
  if (arguments.given("domain")) start.domain = arguments.whole("domain");
  if (std::set<std::string>(start.values.begin(), start.values.end()).size() != start.values.size())
    throw InvalidArgument("a category is named twice");
  if (start.protocol == "auto") {
    const std::uint64_t k = start.values.empty() ? start.domain : start.values.size();
    if (k < 2)
      throw InvalidArgument("auto chooses for two categories or more",
                            "name them with --values, or say how many with --domain");
    start.protocol = local::best_protocol(start.epsilon, k,
                                          arguments.given("expected-reports")
                                              ? arguments.whole("expected-reports")
                                              : local::kExpectedReports);
  }
  const local::ProtocolKind& kind = local::protocol_kind(start.protocol);
  const std::vector<Option> options = local::protocol_options(kind);
  const bool chosen = arguments.text("protocol") == "auto";
  return local::declare(std::move(start),
                        chosen ? OptionValues(options, {}) : arguments.values_of(options));
}

nlohmann::ordered_json central_json(const local::Declaration& declaration, std::uint64_t reports,
                                    Delta delta, Context& context) {
  if (declaration.whole("epochs") > 1 || reports == 0) return nullptr;
  if (delta.value() * std::sqrt(static_cast<double>(reports)) >= 1)
    throw InvalidArgument(
        fmt::format("--delta is {}; for {} reports it must be below 1/sqrt(reports) = {:.3g}",
                    delta.value(), reports, 1 / std::sqrt(static_cast<double>(reports))),
        "choose delta far below 1/reports");
  const Bound bound = local::central_guarantee(declaration, reports, delta);
  if (delta.value() * static_cast<double>(reports) >= 1)
    context.note("delta is not below 1 / (number of reports): choose a smaller one with --delta");
  return {{"epsilon", bound.upper},
          {"epsilon_lower", bound.lower},
          {"delta", delta.value()},
          {"rests_on", local::kShufflerTrust}};
}

void print_central(const nlohmann::ordered_json& central, Context& context) {
  if (central.is_null()) return;
  const double lower = central["epsilon_lower"].get<double>();
  context.out.print(
      "central: epsilon {}{} at delta {}; {}\n", round_up(central["epsilon"].get<double>()),
      lower > 0 ? fmt::format(" (not below {} by any analysis)", round_down(lower)) : "",
      central["delta"].get<double>(), central["rests_on"].get<std::string>());
}

Command local_command() {
  return {
      .name = "local",
      .summary = "reports from devices that trust nobody, and what a collector learns",
      .description =
          "Each client noises its own value before it leaves the device (local differential "
          "privacy). A collector adds reports up and estimates how many clients have which "
          "value. Nobody has to be trusted for the guarantee of a report.",
      .examples = {{"Three reports",
                    "sotto local report --protocol oue --epsilon 1 --values a,b,c --in "
                    "values.txt --out reports.bin"},
                   {"Add them up", "sotto local collect reports.bin --out counts.acc"},
                   {"What they say", "sotto local estimate counts.acc"}},
      .commands = {local_report_command(), local_shuffle_command(), local_collect_command(),
                   local_estimate_command(), local_compare_command(), local_simulate_command()}};
}

}  // namespace sotto::cli
