// An artifact: a directory with a model, its encoder and the certificate that speaks about both.
//
//   model.json        the released parameters
//   encoder.json      the schema, from which the encoding follows
//   certificate.json  what is guaranteed, the events, and the digests of the two files above
// It is written beside its place and renamed when complete, so a crash leaves no half of one. Nothing that was not released
// privately goes into it (unless the certificate says NOT PRIVATE).
#pragma once

#include <string>

#include "sotto/core/certified_directory.hpp"
#include "sotto/data/encoder.hpp"
#include "sotto/models/linear/linear_model.hpp"

namespace sotto {

struct Artifact {
  LinearModel model;
  Encoder encoder;
  Certificate certificate;
};

// Fills in the digests. Throws StorageError when it cannot write, InvalidArgument when the directory exists and is not empty.
void write_artifact(const std::string& directory, const LinearModel& model, const Encoder& encoder,
                    Certificate certificate);

// Whoever hands over an artifact may have paired any model with any encoder, and certified the pair. Throws DataError.
void check_fit(const LinearModel& model, const Encoder& encoder);

// Throws DataError when something is missing or damaged or the model does not fit its encoder, VerificationFailed when a file is not the
// one that was certified.
Artifact read_artifact(const std::string& directory);

}  // namespace sotto
