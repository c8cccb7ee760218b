#include "commands/many_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <thread>

#include "commands/training.hpp"
#include "sotto/core/error.hpp"

namespace sotto::cli {
namespace {

// A typical residual, for want of a better one: a twentieth of the declared bounds.
double residual_unit(const Block& probe) {
  const auto& bounds = probe.table().encoder().target().column().bounds;
  return bounds ? (bounds->upper() - bounds->lower()) / 20 : 1;
}

}  // namespace

std::vector<audit::Sight> sights_of(const Model& model, const Block& probe) {
  std::vector<audit::Sight> sights;
  const bool classes = model.task() == Task::classify;
  const double unit = classes ? 1 : residual_unit(probe);
  for (const ScoredRow& row : model.score(probe))
    sights.push_back(
        classes ? audit::sight_of_class(row.probabilities, static_cast<std::uint32_t>(row.target))
                : audit::sight_of_number((row.target - row.prediction) / unit));
  return sights;
}

void train_many(const ManyModels& models, Rng& rng,
                const std::function<void(std::size_t, const Model&)>& use) {
  std::vector<Rng> streams;  // one for each model: what comes out does not depend on threads
  for (std::size_t k = 0; k < models.count; ++k) streams.push_back(rng.split());
  std::atomic<std::size_t> next{0}, finished{0};
  std::atomic<bool> failed{false};
  std::exception_ptr error;
  std::mutex guard;
  const auto work = [&](bool first) {
    try {
      const std::unique_ptr<TrainingPlan> plan = models.plan();
      std::size_t told = 0;
      for (std::size_t k = next++; k < models.count && !failed; k = next++) {
        const std::shared_ptr<const RecordSet> records = models.data(k);
        const std::unique_ptr<Source> source = records->source();
        const TrainedModel trained = plan->run(*source, streams[k]);
        use(k, *trained.value());
        ++finished;
        for (; first && models.done && told < finished; ++told) models.done();
      }
    } catch (...) {
      const std::lock_guard lock(guard);
      if (!failed.exchange(true)) error = std::current_exception();
    }
  };
  const unsigned threads =
      models.one_thread ? 1 : std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::thread> others;
  for (unsigned t = 1; t < threads; ++t) others.emplace_back(work, false);
  work(true);
  for (std::thread& t : others) t.join();
  if (error) std::rethrow_exception(error);
}

std::vector<std::vector<audit::Sight>> sights_of_models(const ManyModels& models, Rng& rng) {
  std::vector<std::vector<audit::Sight>> sights(models.count);
  train_many(models, rng, [&](std::size_t k, const Model& model) {
    sights[k] = sights_of(model, models.probe->block());
  });
  return sights;
}

namespace {

// What "auto" becomes for this table; other names as they are.
std::string settled_method(const Arguments& arguments, const Family& family,
                           const TrainingRequest& request, const FactsOf& facts_for_it) {
  if (request.method != "auto") return request.method;
  TrainingRequest plain = request;
  plain.options = OptionValues(options_of(family, request.kind), {});
  const Facts facts = facts_for_it ? facts_for_it(plain) : facts_of(arguments, family, plain);
  return facts.rows ? plan_training(family, facts, plain)->explain().method : request.method;
}

}  // namespace

TrainingRequest fitting_request(const Arguments& arguments, const Family& family,
                                const std::string& method, std::optional<Budget> budget,
                                const FactsOf& facts) {
  if (find_method(family, method) == nullptr)
    throw InvalidArgument(fmt::format("--method is '{}', which the model {} does not have", method,
                                      arguments.text("model")),
                          "see: sotto train --model " + arguments.text("model") + " --help");
  TrainingRequest request = request_of(arguments, family, method);
  request.budget = budget;
  const Method* settled = find_method(family, settled_method(arguments, family, request, facts));
  if (settled == nullptr || settled->name == "auto") return request;
  OptionValues::Raw given;
  const std::vector<Option> declared = options_of(family, request.kind);
  for (const Option& option : declared) {
    const std::string typed = as_typed(option).name;
    const bool known = std::ranges::find(settled->options, option.name) != settled->options.end();
    if (known && find_option(arguments.command(), typed) != nullptr && arguments.given(typed))
      given[option.name] = {option.type == OptionType::flag ? "" : arguments.text(typed)};
  }
  request.options = OptionValues(declared, std::move(given));
  return request;
}

std::vector<Route> both_routes(const Arguments& arguments, const Family& family,
                               const FactsOf& facts) {
  std::vector<Route> routes;
  if (find_method(family, "none") != nullptr)
    routes.push_back(
        {"without privacy", fitting_request(arguments, family, "none", std::nullopt, facts)});
  const std::string method =
      arguments.given("method") ? arguments.text("method") : family.methods.front().name;
  routes.push_back({fmt::format("epsilon {}", arguments.text("epsilon")),
                    fitting_request(arguments, family, method, budget_of(arguments), facts)});
  return routes;
}

Facts record_facts(const Arguments& arguments, const Family& family, const TrainingRequest& request,
                   Forms forms) {
  Facts facts = facts_of(arguments, family, request);
  if (facts.images && forms == Forms::tables)
    throw Unsupported(arguments.title() + " reads tables only", "give a CSV file");
  if (facts.unit == Unit::user)
    throw Unsupported(arguments.title() + " is about records, and the unit is the user",
                      "attack a schema whose unit is the record");
  return facts;
}

std::vector<Option> attacked_model_options() {
  std::vector<Option> options = training_data_options();
  options.push_back(kind_option(true));
  options.push_back(route_option());
  for (Option& option : budget_options()) {
    if (option.name == "rho") continue;
    option.required = option.name == "epsilon";
    options.push_back(std::move(option));
  }
  return options;
}

Option route_option() {
  return {.name = "method",
          .type = Type::text,
          .value = "M",
          .help = "the route to privacy; default: that of sotto train"};
}

}  // namespace sotto::cli
