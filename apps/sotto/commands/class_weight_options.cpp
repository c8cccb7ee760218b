#include "class_weight_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sotto/core/error.hpp"
#include "sotto/core/nearest_name.hpp"
#include "sotto/data/number.hpp"
#include "sotto/learning/class_weights.hpp"

namespace sotto::cli {
namespace {

constexpr double kForShares = 0.1;  // of the budget, where nobody knows the shares

// "no=1,yes=9": a positive number for each class, in the order of the classes.
std::vector<double> figures_of(const std::string& option, const std::vector<std::string>& entries,
                               const std::vector<std::string>& classes) {
  std::vector<double> figures(classes.size());
  const auto refuse = [&](const std::string& what, const std::string& hint) {
    throw InvalidArgument(fmt::format("--{} {}", option, what), hint);
  };
  for (const std::string& entry : entries) {
    const std::size_t sign = entry.rfind('=');
    const std::string label = entry.substr(0, sign);
    const auto found = std::find(classes.begin(), classes.end(), label);
    if (sign == std::string::npos || found == classes.end())
      refuse(fmt::format("holds '{}', which names no class", entry),
             sign == std::string::npos ? "write CLASS=NUMBER,CLASS=NUMBER"
                                       : name_hint(label, classes, "classes"));
    const NumberCell number = parse_number(entry.substr(sign + 1));
    double& figure = figures[static_cast<std::size_t>(found - classes.begin())];
    if (number.kind != CellKind::number || !(number.value > 0))
      refuse(fmt::format("holds '{}'; the number must be above 0", entry), "");
    if (figure != 0) refuse(fmt::format("names the class '{}' twice", label), "");
    figure = number.value;
  }
  for (std::size_t c = 0; c < classes.size(); ++c)
    if (figures[c] == 0)
      refuse(fmt::format("says nothing of the class '{}'", classes[c]),
             fmt::format("the classes are {}", fmt::join(classes, ", ")));
  return figures;
}

}  // namespace

std::vector<Option> class_weight_options() {
  return {{.name = "class-weight",
           .type = Type::list,
           .value = "balanced|A=W,B=W",
           .help = "weigh the probabilities of classes: balanced counts rare classes as much as "
                   "common ones; costs nothing with weights or --class-shares, else a tenth of the "
                   "budget finds the shares"},
          {.name = "class-shares",
           .type = Type::list,
           .value = "A=S,B=S",
           .help = "how common the classes are, a public fact; for --class-weight balanced"}};
}

std::unique_ptr<TrainingPlan> plan_weighted(const Arguments& arguments, const Family& family,
                                            const Facts& facts, const TrainingRequest& request) {
  if (!arguments.given("class-weight")) {
    if (arguments.given("class-shares"))
      throw InvalidArgument("--class-shares is for --class-weight balanced");
    return plan_training(family, facts, request);
  }
  const std::vector<std::string> classes = facts.classes();
  if (classes.empty())
    throw InvalidArgument("--class-weight is about classes, and the target is a number");
  const std::vector<std::string> asked = arguments.list("class-weight");
  const bool balanced = asked == std::vector<std::string>{"balanced"};
  if (!balanced && arguments.given("class-shares"))
    throw InvalidArgument("--class-shares is for --class-weight balanced",
                          "weights that are given need no shares");
  if (!balanced)
    return weighted_training(plan_training(family, facts, request),
                             figures_of("class-weight", asked, classes));
  if (arguments.given("class-shares")) {
    const std::vector<double> shares =
        figures_of("class-shares", arguments.list("class-shares"), classes);
    return weighted_training(plan_training(family, facts, request), balanced_weights(shares, 0));
  }
  if (family.resumable)
    throw InvalidArgument(
        "--class-weight balanced needs --class-shares for this model: a run that "
        "is taken up again would count the classes again",
        "declare them, e.g. --class-shares no=0.9,yes=0.1");
  TrainingRequest rest = request;
  const Budget& whole = required_budget(request);
  rest.budget = whole.part(1 - kForShares);
  if (const auto* approximate = std::get_if<ApproximateBudget>(&rest.budget->kind()))
    rest.delta = approximate->delta.value();
  return balanced_training(plan_training(family, facts, rest), facts, whole.part(kForShares));
}

}  // namespace sotto::cli
