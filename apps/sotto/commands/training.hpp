// From the options of a command that trains to what the library asks for. No family is named here.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "families.hpp"
#include "options/model_options.hpp"
#include "sotto/learning/source.hpp"

namespace sotto::cli {

// The kind of model that --model says; without it the family's first kind for the schema's target.
std::string kind_of(const Arguments& arguments);

// The kind, its options and the method; the budget is the caller's.
TrainingRequest request_of(const Arguments& arguments, const Family& family,
                           const std::string& method);

// What is declared: a schema, or figures about images. Reads no private data.
Facts facts_of(const Arguments& arguments, const Family& family, const TrainingRequest& request);

// The records to train on. `option` names the file or folder, `part` the part of a folder.
std::unique_ptr<Source> source_of(const Arguments& arguments, const Facts& facts,
                                  const std::string& option = "data",
                                  const std::string& part = "train");

// The records that a model is applied to: --data, under the facts of its artifact.
std::unique_ptr<Source> applied_source(const Arguments& arguments, const Facts& facts,
                                       const TableOptions& options);

// "epsilon = 1, delta = 1e-05 (add_remove, unit: one record)", or that there is none.
struct Cost;
std::string promise(const std::optional<Event>& event, const Facts& facts, const Cost& cost);

}  // namespace sotto::cli
