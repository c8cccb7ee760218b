#include "artifact.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sotto/core/certified_directory.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/deep/training/safetensors.hpp"
#include "sotto/deep/training/safetensors_layout.hpp"

namespace sotto::cli {
namespace {

const std::string& file_of(const CertifiedDirectory& place, const std::string& name,
                           const std::string& directory) {
  const auto it = place.files.find(name);
  if (it == place.files.end())
    throw DataError(fmt::format("'{}/{}' is missing or not certified", directory, name),
                    "is this the directory that 'sotto train' wrote?");
  return it->second;
}

nlohmann::ordered_json json_of(const std::string& text, const std::string& name) {
  return parse_json(text, fmt::format("'{}'", name));
}

// Whoever hands over an artifact may have put any three files together. Checked before the network is built: a description costs nothing,
// what it describes may not fit into memory.
void check_fit(const deep::NetworkOptions& network, const Encoder* encoder,
               std::string_view weights) {
  const auto fail = [](const std::string& why) {
    throw DataError("the parts of the artifact do not fit each other: " + why,
                    "restore the artifact from where it was copied");
  };
  std::uint64_t elements = 0;
  for (const auto& [name, tensor] : deep::safetensors_layout(weights, "model.safetensors").tensors)
    elements += tensor.elements();
  if (elements != static_cast<std::uint64_t>(network.parameters()))
    fail(fmt::format("the network has {} parameters, the file {}", network.parameters(), elements));
  if (encoder == nullptr) {
    if (network.input.size() != 3 || network.input[0] != 1)
      fail("a network without an encoder takes images of one channel");
    return;
  }
  if (network.input != std::vector{static_cast<std::int64_t>(encoder->width())})
    fail(fmt::format("an encoded record has {} features, the network takes others",
                     encoder->width()));
  if (!encoder->has_target()) fail("the schema has no target");
  const std::size_t outputs =
      encoder->is_classification() ? encoder->target().labels().size() : std::size_t{1};
  if (static_cast<std::uint64_t>(network.outputs) != outputs)
    fail(fmt::format("the network has {} outputs, the target needs {}", network.outputs, outputs));
}

}  // namespace

void write_deep_artifact(const std::string& directory, deep::Network& network,
                         const Encoder* encoder, Certificate certificate, bool torchscript) {
  deep::TensorFile weights;
  for (const auto& p : network->named_parameters()) weights.tensors[p.key()] = p.value();
  weights.metadata["format"] = "sotto";
  // The weights may travel without their certificate.
  if (!certificate.is_private() || !certificate.secure())
    weights.metadata["warning"] = "NOT PRIVATE";
  std::map<std::string, std::string> files = {
      {"model.safetensors", deep::to_safetensors(weights)},
      {"network.json", deep::to_json(network->options()).dump(1) + "\n"}};
  if (encoder != nullptr) files["encoder.json"] = to_json(*encoder).dump(1) + "\n";
  if (torchscript) files["model.pt"] = deep::to_torchscript(network);
  write_certified(directory, files, std::move(certificate));
}

DeepArtifact read_deep_artifact(const std::string& directory) {
  CertifiedDirectory place = read_certified(directory);
  DeepArtifact artifact;
  const std::string& bytes = file_of(place, "model.safetensors", directory);
  const deep::NetworkOptions options =
      deep::network_from_json(json_of(file_of(place, "network.json", directory), "network.json"));
  if (place.files.contains("encoder.json")) {
    artifact.encoder.emplace(
        encoder_from_json(json_of(place.files.at("encoder.json"), "encoder.json")));
    artifact.classification = artifact.encoder->is_classification();
  }
  check_fit(options, artifact.encoder ? &*artifact.encoder : nullptr, bytes);
  artifact.network = deep::Network(options);
  const deep::TensorFile weights = deep::from_safetensors(bytes, "model.safetensors");
  const torch::NoGradGuard no_grad;
  auto parameters = artifact.network->named_parameters();
  for (auto& p : parameters) {
    const auto it = weights.tensors.find(p.key());
    if (it == weights.tensors.end() || it->second.sizes() != p.value().sizes())
      throw DataError(fmt::format("'{}/model.safetensors' does not fit network.json: tensor '{}'",
                                  directory, p.key()));
    p.value().copy_(it->second);
  }
  artifact.certificate = std::move(place.certificate);
  artifact.network->eval();
  return artifact;
}

}  // namespace sotto::cli
