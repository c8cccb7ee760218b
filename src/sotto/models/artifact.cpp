#include "sotto/models/artifact.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"

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
  return parse_json(file->second, fmt::format("'{}/{}'", directory, name));
}

}  // namespace

void check_fit(const LinearModel& model, const Encoder& encoder) {
  const auto fail = [](const std::string& why) {
    throw DataError("the model does not fit its encoder: " + why,
                    "restore the artifact from where it was copied");
  };
  if (model.features != encoder.width())
    fail(fmt::format("it has {} features, an encoded record has {}", model.features,
                     encoder.width()));
  if (!encoder.has_target()) fail("the schema has no target");
  if (encoder.is_classification() != (model.loss != Loss::squared))
    fail(fmt::format("its loss is {}", name(model.loss)));
  const std::size_t classes =
      encoder.is_classification() ? encoder.target().labels().size() : std::size_t{2};
  const std::size_t outputs = classes == 2 ? 1 : classes;
  if (classes < 2 || model.outputs != outputs)
    fail(fmt::format("it has {} outputs, the target needs {}", model.outputs, outputs));
}

void write_artifact(const std::string& directory, const LinearModel& model, const Encoder& encoder,
                    Certificate certificate) {
  write_certified(directory,
                  {{"model.json", to_json(model).dump(1) + "\n"},
                   {"encoder.json", to_json(encoder).dump(1) + "\n"}},
                  std::move(certificate));
}

Artifact read_artifact(const std::string& directory) {
  CertifiedDirectory place = read_certified(directory);
  Artifact artifact{linear_model_from_json(json_of(place, "model.json", directory)),
                    encoder_from_json(json_of(place, "encoder.json", directory)),
                    std::move(place.certificate)};
  check_fit(artifact.model, artifact.encoder);
  return artifact;
}

}  // namespace sotto
