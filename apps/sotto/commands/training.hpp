// From the options of a command that trains to what the library asks for. No family is named here.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "families.hpp"
#include "options/model_options.hpp"
#include "sotto/learning/source.hpp"
#include "sotto/learning/suggestion.hpp"

namespace sotto::cli {

// What a paid run that writes files takes: --dataset, --sign, a ledger, a budget, a dry run,
// a seed, and how to print.
std::vector<Option> certified_run_options();

// The kind of model that --model says; without it the family's first kind for the schema's target.
std::string kind_of(const Arguments& arguments);

// The kind, its options and the method; the budget is the caller's.
TrainingRequest request_of(const Arguments& arguments, const Family& family,
                           const std::string& method);

// For sotto train. What to train: as --model says, or as public facts suggest.
Suggestion chosen_model(const Arguments& arguments);
// By the route and with the budget that the options name.
TrainingRequest request_of(const Arguments& arguments, const Suggestion& choice);

// What is declared: a schema, or figures about images. Reads no private data.
Facts facts_of(const Arguments& arguments, const Family& family, const TrainingRequest& request);

// --image and --classes of a folder of images.
ImageFacts declared_images(const Arguments& arguments);

// The same facts with another declared number of rows, or with none.
Facts with_rows(const Facts& facts, std::optional<std::uint64_t> rows);

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
