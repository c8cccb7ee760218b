// Many models trained in this process on records in memory, side by side on all processors, and
// what each says of some records: the ground of attacks and of audits of training.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "commands/record_set.hpp"
#include "families.hpp"
#include "options/model_options.hpp"
#include "sotto/audit/membership.hpp"
#include "sotto/learning/source.hpp"

namespace sotto::cli {

struct ManyModels {
  // A plan is run by one thread at a time: each has its own.
  std::function<std::unique_ptr<TrainingPlan>()> plan;
  std::size_t count = 0;
  // The records of the k-th model. Called from any thread.
  std::function<std::shared_ptr<const RecordSet>(std::size_t k)> data;
  const RecordSet* probe = nullptr;  // what the models are asked about
  bool one_thread = false;           // families that have threads of their own
  std::function<void()> done = {};   // after each model, on the calling thread
};

// sights[k][i]: what the k-th model says of the i-th record of the probe.
std::vector<std::vector<audit::Sight>> sights_of_models(const ManyModels& models, Rng& rng);

// As sights_of_models, with anything that is wanted of a model. use: called from any thread.
void train_many(const ManyModels& models, Rng& rng,
                const std::function<void(std::size_t k, const Model& model)>& use);
std::vector<audit::Sight> sights_of(const Model& model, const Block& probe);

// The request with those of the options that its method knows: a model without privacy beside a
// private one is fitted with what both can mean.
// facts: what is declared; by default --schema says it.
using FactsOf = std::function<Facts(const TrainingRequest&)>;
TrainingRequest fitting_request(const Arguments& arguments, const Family& family,
                                const std::string& method, std::optional<Budget> budget,
                                const FactsOf& facts = {});

// A model without privacy, where the family has one, and a private one: for attacks on both.
struct Route {
  std::string label;  // "without privacy", "epsilon 1"
  TrainingRequest request;
};
std::vector<Route> both_routes(const Arguments& arguments, const Family& family,
                               const FactsOf& facts = {});

// Facts about records, where these are the unit. Throws Unsupported for others, and for images
// unless these are welcome.
enum class Forms { tables, any };
Facts record_facts(const Arguments& arguments, const Family& family, const TrainingRequest& request,
                   Forms forms = Forms::tables);

// --method for commands that train by one route many times.
Option route_option();

// --data, --schema, --model, --method, --epsilon and --delta.
std::vector<Option> attacked_model_options();

}  // namespace sotto::cli
