#include "sotto/learning/family.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sotto/core/error.hpp"
#include "sotto/core/nearest_name.hpp"

namespace sotto {
namespace {

template <class List>
auto* find_named(const List& list, std::string_view name) {
  const auto it =
      std::find_if(list.begin(), list.end(), [&](const auto& item) { return item.name == name; });
  return it == list.end() ? nullptr : &*it;
}

bool knows(const Method& method, const std::string& option) {
  return std::find(method.options.begin(), method.options.end(), option) != method.options.end();
}

}  // namespace

const Kind* find_kind(const Family& family, std::string_view kind) {
  return find_named(family.kinds, kind);
}

const Method* find_method(const Family& family, std::string_view method) {
  return find_named(family.methods, method);
}

const Family* find_family(std::span<const Family> families, std::string_view name) {
  return find_named(families, name);
}

const Family* family_of_kind(std::span<const Family> families, std::string_view kind) {
  const auto it = std::find_if(families.begin(), families.end(), [&](const Family& family) {
    return find_kind(family, kind) != nullptr;
  });
  return it == families.end() ? nullptr : &*it;
}

std::vector<Option> options_of(const Family& family, std::string_view kind) {
  const Kind* found = find_kind(family, kind);
  if (found == nullptr) {
    std::vector<std::string> names;
    for (const Kind& k : family.kinds) names.push_back(k.name);
    throw InvalidArgument(fmt::format("unknown model '{}'", kind),
                          name_hint(kind, names, "models"));
  }
  std::vector<Option> options = family.options;
  options.insert(options.end(), found->options.begin(), found->options.end());
  return options;
}

TrainingRequest make_request(const Family& family, std::string kind, const Budget& budget,
                             OptionValues::Raw options) {
  TrainingRequest request;
  request.options = OptionValues(options_of(family, kind), std::move(options));
  request.kind = std::move(kind);
  request.method = family.methods.front().name;
  request.budget = budget;
  if (const auto* approximate = std::get_if<ApproximateBudget>(&budget.kind()))
    request.delta = approximate->delta.value();
  return request;
}

void check_method_options(const Family& family, const std::string& method,
                          const OptionValues& options) {
  const Method* chosen = find_method(family, method);
  if (chosen == nullptr || method == "auto") return;
  for (const Option& option : options.declared()) {
    if (!options.given(option.name) || knows(*chosen, option.name)) continue;
    std::vector<std::string> others;
    for (const Method& other : family.methods)
      if (knows(other, option.name)) others.push_back(other.name);
    throw InvalidArgument(
        fmt::format("`{}` means nothing to the method {}", option.name, method),
        others.empty() ? std::string("leave it out")
                       : fmt::format("leave it out, or use `method` {}", fmt::join(others, ", ")));
  }
}

Facts facts_for(const Family& family, Schema schema, const TrainingRequest& request) {
  const Kind* kind = find_kind(family, request.kind);
  const bool no_target =
      kind != nullptr && std::all_of(kind->tasks.begin(), kind->tasks.end(), [](Task task) {
        return task == Task::cluster || task == Task::transform;
      });
  for (ColumnSchema& column : schema.columns)
    if (no_target && column.role == Role::target) column.role = Role::ignore;
  return table_facts(family.prepare != nullptr ? family.prepare(std::move(schema), request)
                                               : std::move(schema));
}

std::unique_ptr<TrainingPlan> plan_training(const Family& family, const Facts& facts,
                                            const TrainingRequest& request) {
  if (family.plan == nullptr)
    throw NotBuilt(fmt::format("{} are trained by {}", family.title, family.host));
  options_of(family, request.kind);  // throws for a kind of another family
  if (find_method(family, request.method) == nullptr) {
    std::vector<std::string> names;
    for (const Method& method : family.methods) names.push_back(method.name);
    throw InvalidArgument(fmt::format("unknown method '{}'", request.method),
                          name_hint(request.method, names, "methods"));
  }
  if (request.method == "none" && request.budget) {
    throw InvalidArgument("the method none has no privacy, yet a budget is given",
                          "leave out the budget, or choose another method");
  }
  if (!facts.encoder && !family.reads_images)
    throw Unsupported(fmt::format("{} read tables, not images", family.title));
  check_method_options(family, request.method, request.options);
  if (!request.spreads.empty() && !(family.takes_spreads && request.method == "none"))
    throw Unsupported(fmt::format("{} cannot be fitted to standardised columns", family.title),
                      "choose a linear model, or leave the columns as they are");
  return family.plan(facts, request);
}

const Budget& required_budget(const TrainingRequest& request) {
  if (!request.budget) {
    throw InvalidArgument("training needs a budget",
                          "give `epsilon`, `epsilon` with `delta`, or `rho`");
  }
  return *request.budget;
}

}  // namespace sotto
