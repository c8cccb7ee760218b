#include "sotto/learning/pipeline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/nearest_name.hpp"
#include "sotto/data/number.hpp"
#include "sotto/learning/confirmed_budget.hpp"
#include "sotto/learning/detail/found_categories.hpp"
#include "sotto/learning/detail/pipeline_model.hpp"
#include "sotto/learning/mapped_source.hpp"
#include "sotto/learning/transform_plan.hpp"

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kCategories = "categories";
constexpr double kDeltaOfCategories = 0.1;  // of the budget's

// A step with its part of the budget.
struct Step {
  std::string name;
  const Family* family;
  TrainingRequest request;
  double share;
};

Facts facts_of(const Step& step, Schema schema) {
  return table_facts(step.family->prepare != nullptr
                         ? step.family->prepare(std::move(schema), step.request)
                         : std::move(schema));
}

// The facts for a step that follows one with these columns. The target stays for the last.
Facts following(const Step& step, const Facts& facts, const std::vector<OutputColumn>& columns) {
  Facts next = facts_of(step, mapped_schema(facts.encoder->schema(), columns));
  next.unit = facts.unit;
  next.contributions = facts.contributions;
  return next;
}

std::vector<OutputColumn> outputs_of(const TrainingPlan& plan) {
  const auto* transform = dynamic_cast<const TransformPlan*>(&plan);
  if (transform == nullptr) invariant_broken("a transformation that does not say what it writes");
  return transform->outputs();
}

// The step in front that finds values of columns.
struct CategoriesStep {
  Schema schema;
  FoundCategories::Options options;
  double share = 0, delta = 0;

  // A pure ε is ε²/2-zCDP: a part of ρ buys ε = √(2ρ), for all columns together by equal parts.
  FoundCategories for_budget(const Budget& budget) const {
    const double rho = std::get<ZcdpBudget>(budget.kind()).rho.value() * share;
    const auto columns = static_cast<double>(std::max<std::size_t>(1, options.columns.size()));
    return {schema, options, std::sqrt(2 * rho * columns), delta};
  }
};

// The plans of all steps for a budget, the bounds of columns between them yet unknown.
struct Planned {
  std::optional<FoundCategories> categories;
  std::vector<std::unique_ptr<TrainingPlan>> plans;
  std::vector<TrainingRequest> requests;

  Planned(const std::optional<CategoriesStep>& front, const std::vector<Step>& steps, Facts facts,
          const std::optional<Budget>& budget) {
    if (front) categories.emplace(front->for_budget(*budget));
    for (std::size_t i = 0; i < steps.size(); ++i) {
      TrainingRequest request = steps[i].request;
      if (budget) request.budget = budget->part(steps[i].share);
      if (i > 0) facts = following(steps[i], facts, outputs_of(*plans.back()));
      plans.push_back(plan_training(*steps[i].family, facts, request));
      requests.push_back(std::move(request));
    }
  }
  std::optional<Event> event() const {
    std::vector<Event> all;
    if (categories) all.push_back(categories->event());
    for (const auto& plan : plans) {
      if (!plan->event()) return std::nullopt;
      all.push_back(*plan->event());
    }
    return compose(std::move(all));
  }
};

class PipelineTraining final : public TrainingPlan {
 public:
  PipelineTraining(const std::optional<CategoriesStep>& front, std::vector<Step> steps, Facts facts,
                   const std::optional<Budget>& budget)
      : steps_(std::move(steps)),
        facts_(std::move(facts)),
        planned_(front, steps_, facts_, budget),
        share_of_categories_(front ? front->share : 0) {}

  Facts find(CsvReader& file, Rng& rng) {
    if (!planned_.categories) invariant_broken("a pipeline that finds no categories");
    const Facts expected = facts_;
    facts_ = facts_of(steps_.front(), planned_.categories->run(file, rng).value);
    facts_.unit = expected.unit;
    facts_.contributions = expected.contributions;
    auto again = plan_training(*steps_.front().family, facts_, planned_.requests.front());
    if (again->event() != planned_.plans.front()->event())
      invariant_broken("the cost of a step depends on the categories");
    planned_.plans.front() = std::move(again);
    found_ = true;
    return facts_;
  }

  std::optional<Event> event() const override { return planned_.event(); }
  Relation relation() const override { return facts_.relation; }

  Explanation explain() const override {
    Explanation e{.method = "pipeline"};
    std::vector<std::string> parts;
    e.figures["steps"] = Json::array();
    if (planned_.categories) {
      parts.push_back(fmt::format("categories ({:.3g} of the budget): {}", share_of_categories_,
                                  planned_.categories->describe()));
      e.figures["steps"].push_back({{"name", kCategories},
                                    {"model", kCategories},
                                    {"method", "stability_histogram"},
                                    {"share", share_of_categories_}});
    }
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      Explanation own = planned_.plans[i]->explain();
      parts.push_back(fmt::format("{} ({:.3g} of the budget, {}): {}", steps_[i].name,
                                  steps_[i].share, own.method, own.words));
      e.assumptions.insert(e.assumptions.end(), own.assumptions.begin(), own.assumptions.end());
      e.figures["steps"].push_back({{"name", steps_[i].name},
                                    {"model", steps_[i].request.kind},
                                    {"method", own.method},
                                    {"share", steps_[i].share}});
    }
    e.words = fmt::format("{}", fmt::join(parts, "; then "));
    return e;
  }

  TrainedModel run(Source& source, Rng& rng, RunControl& control) override {
    if (planned_.categories && !found_) invariant_broken("categories are found before records");
    source.keep();
    std::vector<PipelineModel::Stage> stages;
    std::vector<std::unique_ptr<Source>> mapped;
    Source* current = &source;
    Facts facts = facts_;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      std::unique_ptr<TrainingPlan> again;
      TrainingPlan* plan = planned_.plans[i].get();
      if (i > 0) {
        const Model& before = *stages.back().model;
        facts = following(steps_[i], facts, before.columns());
        again = plan_training(*steps_[i].family, facts, planned_.requests[i]);
        if (again->event() != plan->event())
          invariant_broken("the cost of a step depends on bounds");
        plan = again.get();
        mapped.push_back(mapped_source(*current, before, *facts.encoder));
        current = mapped.back().get();
      }
      TrainedModel trained = plan->run(*current, rng, control);
      stages.push_back({steps_[i].family, facts, std::move(trained).value()});
    }
    return finished(std::make_unique<PipelineModel>(std::move(stages)));
  }

 private:
  std::vector<Step> steps_;
  Facts facts_;
  Planned planned_;
  double share_of_categories_ = 0;
  bool found_ = false;
};

// The parts of the budget. Throws InvalidArgument when they are more than the whole.
std::vector<double> shares_of(const std::vector<PipelineStep>& steps) {
  const auto given = std::count_if(steps.begin(), steps.end(),
                                   [](const PipelineStep& step) { return step.share.has_value(); });
  if (given != 0 && static_cast<std::size_t>(given) != steps.size())
    throw InvalidArgument("some steps have a share of the budget and others have none",
                          "give all of them a share, or weights");
  double total = 0;
  for (const PipelineStep& step : steps) total += step.share.value_or(step.weight);
  if (!std::isfinite(total)) throw InvalidArgument("the weights of a pipeline are too large");
  if (given != 0 && total > 1 + 1e-12)
    throw InvalidArgument(
        fmt::format("the steps' shares add up to {:.6g}; together they may spend 1", total),
        "lower them, or give weights, which are split");
  std::vector<double> shares;
  for (const PipelineStep& step : steps)
    shares.push_back((step.share ? *step.share / std::max(1.0, total) : step.weight / total) *
                     (1 - 0x1p-40));
  return shares;
}

Step settled(const PipelineStep& asked, std::span<const Family> families, bool last, double share,
             std::optional<double> delta) {
  const Family* family = family_of_kind(families, asked.kind);
  if (asked.kind == kCategories)
    throw InvalidArgument("the step categories comes first, and something after it",
                          "it reads texts, which no other step leaves");
  if (family == nullptr) {
    std::vector<std::string> kinds;
    for (const Family& f : families)
      for (const Kind& k : f.kinds) kinds.push_back(k.name);
    throw InvalidArgument(fmt::format("step '{}': there is no model '{}'", asked.name, asked.kind),
                          name_hint(asked.kind, kinds, "models"));
  }
  const Kind& kind = *find_kind(*family, asked.kind);
  if (!last && (kind.tasks.size() != 1 || kind.tasks.front() != Task::transform))
    throw InvalidArgument(
        fmt::format("step '{}': {} is a model and must be the last step", asked.name, asked.kind),
        "steps before the last transform records: bounds, scale, bins, pca");
  Step step{asked.name, family, {}, share};
  step.request.kind = asked.kind;
  step.request.method = asked.method.empty() ? family->methods.front().name : asked.method;
  step.request.delta = delta;
  try {
    step.request.options = OptionValues(options_of(*family, asked.kind), asked.options);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(fmt::format("step '{}': {}", asked.name, error.what()), error.hint());
  }
  return step;
}

CategoriesStep categories_step(const PipelineStep& asked, const Schema& schema,
                               const std::optional<Budget>& budget, double share) {
  const auto* approximate = budget ? std::get_if<ApproximateBudget>(&budget->kind()) : nullptr;
  if (approximate == nullptr)
    throw InvalidArgument("finding categories needs an epsilon and a delta",
                          "give `epsilon` and `delta`, or declare the values in the schema");
  if (!asked.method.empty())
    throw InvalidArgument("the step categories has one method only", "leave out `method`");
  const OptionValues values(
      {{.name = "columns", .type = OptionType::text, .value = "NAMES", .help = "whose values"},
       {.name = "most",
        .type = OptionType::whole,
        .value = "N",
        .help = "values of a column",
        .fallback = "32",
        .range = Range::between(1, FoundCategories::kMost)}},
      asked.options);
  CategoriesStep step{schema, {}, share, approximate->delta.value() * kDeltaOfCategories};
  step.options.most = values.whole("most");
  std::string name;
  for (const char c : (values.given("columns") ? values.text("columns") : "") + ",") {
    if (c != ',') {
      name += c;
      continue;
    }
    if (const std::string_view inner = trimmed(name); !inner.empty())
      step.options.columns.emplace_back(inner);
    name.clear();
  }
  return step;
}

// Where the last step groups or transforms, a column that is declared as a target is left out.
Schema without_idle_target(Schema schema, const Step& last) {
  const Kind& kind = *find_kind(*last.family, last.request.kind);
  for (ColumnSchema& column : schema.columns)
    if (column.role == Role::target &&
        !std::any_of(kind.tasks.begin(), kind.tasks.end(), is_supervised))
      column.role = Role::ignore;
  return schema;
}

}  // namespace

PlannedPipeline plan_pipeline(std::span<const Family> families, std::vector<PipelineStep> asked,
                              const Schema& schema, const std::optional<Budget>& budget,
                              std::optional<double> delta) {
  if (asked.empty()) throw InvalidArgument("a pipeline has at least one step");
  std::vector<double> shares = shares_of(asked);
  std::optional<CategoriesStep> front;
  if (asked.size() > 1 && asked.front().kind == kCategories) {
    front.emplace(categories_step(asked.front(), schema, budget, shares.front()));
    asked.erase(asked.begin());
    shares.erase(shares.begin());
  }
  std::vector<Step> steps;
  for (std::size_t i = 0; i < asked.size(); ++i)
    steps.push_back(settled(asked[i], families, i + 1 == asked.size(), shares[i], delta));
  for (const Step& step : steps) {
    if ((step.request.method == "none") != (steps.front().request.method == "none"))
      throw InvalidArgument("some steps have noise and others have none",
                            "use the method none for all steps, or for no step");
  }
  if (steps.front().request.method != "none" && !budget)
    throw InvalidArgument("training needs a budget",
                          "give `epsilon`, `epsilon` with `delta`, or `rho`");
  if (front && steps.front().request.method == "none")
    throw InvalidArgument("categories are found with noise, and other steps have none",
                          "declare the values in the schema");
  const Schema used = without_idle_target(schema, steps.back());
  if (front) front->schema = used;
  Facts facts = facts_of(steps.front(),
                         front ? FoundCategories(used, front->options, 1, 1e-9).expected() : used);
  std::optional<Budget> share = budget;
  if (budget)
    share = confirmed(*budget, facts.relation,
                      [&](const Budget& b) { return *Planned(front, steps, facts, b).event(); });
  auto plan = std::make_unique<PipelineTraining>(front, std::move(steps), facts, share);
  return {std::move(facts), std::move(plan), front.has_value()};
}

Facts find_categories(TrainingPlan& plan, CsvReader& file, Rng& rng) {
  auto* pipeline = dynamic_cast<PipelineTraining*>(&plan);
  if (pipeline == nullptr) invariant_broken("a plan that finds no categories");
  return pipeline->find(file, rng);
}

}  // namespace sotto
