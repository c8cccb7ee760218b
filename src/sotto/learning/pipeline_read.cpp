// The steps of a pipeline from its TOML file.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/data/toml.hpp"
#include "sotto/learning/pipeline.hpp"

namespace sotto {

std::vector<PipelineStep> read_pipeline(std::string_view toml, const std::string& label) {
  const nlohmann::ordered_json json = parse_toml(toml, label);
  const auto refuse = [&](const std::string& what, const std::string& hint = "") {
    throw DataError(fmt::format("{}: {}", label, what), hint);
  };
  if (!json.is_object() || json.size() != 1 || !json.contains("steps") ||
      !json["steps"].is_object() || json["steps"].empty())
    refuse("a pipeline is a list of steps and nothing else", "write [steps.NAME] for each step");
  if (json["steps"].size() > kMostPipelineSteps)
    refuse(fmt::format("it has more than {} steps", kMostPipelineSteps));
  std::vector<PipelineStep> steps;
  for (const auto& [name, table] : json["steps"].items()) {
    if (!table.is_object()) refuse(fmt::format("steps.{} is no table", name));
    PipelineStep step{.name = name, .kind = name, .method = {}};
    for (const auto& [key, value] : table.items()) {
      if (key == "weight" || key == "share") {
        if (!value.is_number() || !(value.get<double>() > 0) || !std::isfinite(value.get<double>()))
          refuse(fmt::format("steps.{}.{} must be a number above 0", name, key));
        if (key == "weight") step.weight = value.get<double>();
        if (key == "share") step.share = value.get<double>();
      } else if (key == "model" || key == "method") {
        if (!value.is_string()) refuse(fmt::format("steps.{}.{} must be a word", name, key));
        (key == "model" ? step.kind : step.method) = value.get<std::string>();
      } else if (value.is_boolean()) {
        if (value.get<bool>()) step.options[key] = {"true"};
      } else if (value.is_string() || value.is_number()) {
        step.options[key] = {value.is_string() ? value.get<std::string>() : value.dump()};
      } else {
        refuse(fmt::format("steps.{}.{} must be a number, a word, true or false", name, key));
      }
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace sotto
