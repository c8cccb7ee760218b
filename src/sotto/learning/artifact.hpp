// An artifact: a directory with a model, its encoder and the certificate that speaks about both.
//
//   certificate.json  what is guaranteed, the family, the events, and the digests of all other
//                     files
//   encoder.json      the schema, from which the encoding follows; not for images
//   model.json, …     the files of the family
// It is written beside its place and renamed when complete, so a crash leaves no half of one.
// Nothing goes into it but what a plan has released, or a result whose certificate says NOT
// PRIVATE.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "sotto/core/certified_directory.hpp"
#include "sotto/learning/family.hpp"
#include "sotto/learning/training_plan.hpp"

namespace sotto {

// The certificate must be about this model: it quotes its event, or says NOT PRIVATE where there is
// none. Fills in the digests. Throws StorageError when it cannot write, InvalidArgument when the
// directory exists and is not empty.
void write_artifact(const std::string& directory, const TrainedModel& trained, const Facts& facts,
                    Certificate certificate, const std::string& signing_key = {});
// All that such a directory holds beside the certificate.
Files artifact_files(const TrainedModel& trained, const Facts& facts);

struct Artifact {
  const Family* family = nullptr;
  Facts facts;  // those of the encoder, with any number of rows
  std::unique_ptr<Model> model;
  Certificate certificate;
};

// Throws DataError when something is missing or damaged, VerificationFailed when a file is not the
// one that was certified, NotBuilt when another executable has the family.
Artifact read_artifact(const std::string& directory, std::span<const Family> families);

// The family that an artifact's certificate names, or that its files show for one written before
// certificates named it; empty when neither does. Reads no more than is needed to choose.
std::string family_of_artifact(const std::string& directory);

}  // namespace sotto
