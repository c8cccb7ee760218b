// Pipelines: several steps, one after the other, as one plan with one budget, one certificate and
// one artifact.
//
// What       Every step but the last transforms records (bounds, scale, bins, pca); the last is any
//            model. A step is trained on what the steps before it make of the records. In front may
//            stand `categories`, which finds the values of columns.
// Guarantee  Costs at most the budget: the composition of the steps' events, known before a private
//            byte is read. What a step releases is public for those after it.
// Method     The budget is split by declared weights, or shares that add up to at most 1 (more is
//            refused): a pure ε linearly; an (ε, δ) becomes the
//            largest ρ whose parts together cost no more. The columns of a step are known before it
//            is trained, but for their bounds; no event depends on bounds, and run() checks that
//            what it spends is what was planned.
// Numerics   As the families' documents say.
// Reference  docs/adr/0013-pipelines.md.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/data/csv.hpp"
#include "sotto/learning/family.hpp"
#include "sotto/learning/unsupervised_model.hpp"

namespace sotto {

struct PipelineStep {
  std::string name;    // as the document calls it
  std::string kind;    // "pca", "logistic", …
  std::string method;  // empty: the family's default
  double weight = 1;
  std::optional<double> share = {};  // of the budget, instead of a weight; then all steps have one
  OptionValues::Raw options = {};
};

inline constexpr std::size_t kMostPipelineSteps = 20;

// A document, step by step in its order:
//   [steps.scale]
//   [steps.pca]
//   components = 5
//   weight = 3
//   [steps.income]
//   model = "logistic"
//   weight = 6
// Instead of weights all steps may say their `share` of the budget. Throws DataError.
std::vector<PipelineStep> read_pipeline(std::string_view toml, const std::string& label);

// A pipeline may begin with a step `categories` (found_categories.hpp), with the options `columns`
// and `most`. It reads texts, so it comes before the records are encoded, and whoever runs the plan
// runs it first: the facts are then those of what was found.
struct PlannedPipeline {
  Facts facts;  // of the records as they come
  std::unique_ptr<TrainingPlan> plan;
  bool finds_categories = false;
};
// Finds the categories of a plan with such a step, and returns the facts for the records. Once,
// before the plan is run.
Facts find_categories(TrainingPlan& plan, CsvReader& file, Rng& rng);
// families must outlive the plan. Throws InvalidArgument, Unsupported or DataError, all of it from
// public facts.
PlannedPipeline plan_pipeline(std::span<const Family> families, std::vector<PipelineStep> steps,
                              const Schema& schema, const std::optional<Budget>& budget,
                              std::optional<double> delta);

// What an evaluation without a target measures: the model itself, or the last step of a pipeline.
// Null where there is no such thing.
const UnsupervisedModel* measured_model(const Model& model);
// The records as that model sees them, after those in front: the last of the sources, each of which
// reads from the one before. The model must outlive them.
std::vector<std::unique_ptr<Source>> measured_sources(const Model& model,
                                                      std::unique_ptr<Source> records);

// What reads pipelines back: a family without kinds, since `model` does not name it. families must
// outlive it.
Family pipeline_family(std::function<std::span<const Family>()> families);

}  // namespace sotto
