#include "sotto/learning/detail/pipeline_model.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/learning/mapped_source.hpp"
#include "sotto/learning/pipeline.hpp"

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFile = "pipeline.json";

std::string file_of(std::size_t step, const std::string& name) {
  return fmt::format("step_{}_{}", step + 1, name);
}

std::unique_ptr<Model> load_pipeline(std::span<const Family> families, const Files& files,
                                     const Facts& facts) {
  const auto damaged = [] {
    throw DataError("'pipeline.json' holds no pipeline that this version knows",
                    "restore it from where the artifact was copied");
  };
  const auto file = files.find(kFile);
  if (file == files.end() || !facts.encoder) damaged();
  try {
    const Json json = parse_json(file->second, "'pipeline.json'");
    if (json.at("schema") != 1 || json.at("type") != "pipeline" || !json.at("steps").is_array() ||
        json["steps"].empty() || json["steps"].size() > kMostPipelineSteps)
      damaged();
    std::vector<PipelineModel::Stage> stages;
    for (std::size_t i = 0; i < json["steps"].size(); ++i) {
      const Json& step = json["steps"][i];
      const Family* family = find_family(families, step.at("family").get<std::string>());
      if (family == nullptr || family->load == nullptr || family->kinds.empty())
        throw Unsupported("a step is of a family that is not known here");
      Facts own = facts;
      if (i > 0) {
        Schema input = schema_from_json(step.at("input"), "a step of the pipeline");
        input.rows.reset();
        // What the step before writes is what this one reads.
        const Schema wanted =
            mapped_schema(stages.back().facts.encoder->schema(), stages.back().model->columns());
        if (input.columns.size() < wanted.columns.size() - (wanted.target() ? 1 : 0)) damaged();
        for (std::size_t c = 0; c < input.columns.size(); ++c)
          if (c >= wanted.columns.size() || input.columns[c].name != wanted.columns[c].name ||
              input.columns[c].type != wanted.columns[c].type ||
              input.columns[c].values != wanted.columns[c].values ||
              input.columns[c].category != wanted.columns[c].category)
            damaged();
        own = table_facts(std::move(input));
      }
      Files of_step;
      for (const Json& name : step.at("files")) {
        const auto found = files.find(file_of(i, name.get<std::string>()));
        if (found == files.end()) damaged();
        of_step[name.get<std::string>()] = found->second;
      }
      std::unique_ptr<Model> model = family->load(of_step, own);
      if (i + 1 < json["steps"].size() && model->task() != Task::transform) damaged();
      stages.push_back({family, std::move(own), std::move(model)});
    }
    return std::make_unique<PipelineModel>(std::move(stages));
  } catch (const nlohmann::json::exception&) {
    damaged();
  }
  return nullptr;
}

}  // namespace

// The records as the last step sees them.
template <class F>
auto PipelineModel::with_input(const Block& block, const F& f) const {
  std::optional<Table> table;
  for (std::size_t i = 0; i + 1 < stages_.size(); ++i)
    table.emplace(mapped_block(*stages_[i].model, table ? *table : block.table(),
                               *stages_[i + 1].facts.encoder));
  return table ? f(*table) : f(block);
}

Files PipelineModel::files() const {
  Json json = {{"schema", 1}, {"type", "pipeline"}, {"steps", Json::array()}};
  Files all;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    Json step = {{"family", stages_[i].family->name},
                 {"input", to_json(stages_[i].facts.encoder->schema())},
                 {"files", Json::array()}};
    for (auto& [name, bytes] : stages_[i].model->files()) {
      step["files"].push_back(name);
      all[file_of(i, name)] = bytes;
    }
    json["steps"].push_back(std::move(step));
  }
  all[kFile] = json.dump() + "\n";
  return all;
}

std::vector<double> PipelineModel::apply(const Block& block) const {
  return with_input(block, [&](const Block& input) { return last().apply(input); });
}

std::vector<ScoredRow> PipelineModel::score(const Block& block,
                                            std::optional<std::size_t> group) const {
  return with_input(block, [&](const Block& input) { return last().score(input, group); });
}

const UnsupervisedModel* measured_model(const Model& model) {
  const auto* pipeline = dynamic_cast<const PipelineModel*>(&model);
  return dynamic_cast<const UnsupervisedModel*>(pipeline != nullptr ? &pipeline->last() : &model);
}

std::vector<std::unique_ptr<Source>> measured_sources(const Model& model,
                                                      std::unique_ptr<Source> records) {
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::move(records));
  const auto* pipeline = dynamic_cast<const PipelineModel*>(&model);
  for (std::size_t i = 0; pipeline != nullptr && i + 1 < pipeline->stages().size(); ++i)
    sources.push_back(mapped_source(*sources.back(), *pipeline->stages()[i].model,
                                    *pipeline->stages()[i + 1].facts.encoder));
  return sources;
}

Family pipeline_family(std::function<std::span<const Family>()> families) {
  return {.name = "pipeline",
          .title = "Pipelines",
          .kinds = {},
          .methods = {{"pipeline", "steps with a part of the budget each"}},
          .load = [families = std::move(families)](const Files& files, Facts& facts) {
            return load_pipeline(families(), files, facts);
          }};
}

}  // namespace sotto
