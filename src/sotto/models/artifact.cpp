#include "sotto/models/artifact.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

nlohmann::ordered_json json_of(const CertifiedDirectory& place, const std::string& name,
                               const std::string& directory) {
  const auto file = place.files.find(name);
  if (file == place.files.end()) {
    if (place.files.contains("model.safetensors"))
      throw Unsupported(fmt::format("'{}' holds a neural network, not a linear model", directory));
    throw DataError(fmt::format("'{}/{}' is missing or not certified", directory, name),
                    "is this the directory that 'sotto train' wrote?");
  }
  auto json = nlohmann::ordered_json::parse(file->second, nullptr, false);
  if (json.is_discarded())
    throw DataError(fmt::format("'{}/{}' is not valid JSON", directory, name));
  return json;
}

}  // namespace

void write_artifact(const std::string& directory, const LinearModel& model, const Encoder& encoder,
                    Certificate certificate) {
  write_certified(directory,
                  {{"model.json", to_json(model).dump(1) + "\n"},
                   {"encoder.json", to_json(encoder).dump(1) + "\n"}},
                  std::move(certificate));
}

Artifact read_artifact(const std::string& directory) {
  CertifiedDirectory place = read_certified(directory);
  return {linear_model_from_json(json_of(place, "model.json", directory)),
          encoder_from_json(json_of(place, "encoder.json", directory)),
          std::move(place.certificate)};
}

}  // namespace sotto
