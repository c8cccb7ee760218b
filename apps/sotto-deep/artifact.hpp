// A trained network as an artifact: model.safetensors, network.json, encoder.json for tables, and the certificate of all.
#pragma once

#include <optional>
#include <string>

#include "sotto/core/certificate.hpp"
#include "sotto/data/encoder.hpp"
#include "sotto/deep/models/network.hpp"

namespace sotto::cli {

struct DeepArtifact {
  deep::Network network = nullptr;
  std::optional<Encoder> encoder;
  Certificate certificate;
  bool classification = true;
};

// torchscript: also model.pt. Throws StorageError, InvalidArgument.
void write_deep_artifact(const std::string& directory, deep::Network& network,
                         const Encoder* encoder, Certificate certificate, bool torchscript);
// Throws DataError, VerificationFailed.
DeepArtifact read_deep_artifact(const std::string& directory);

}  // namespace sotto::cli
