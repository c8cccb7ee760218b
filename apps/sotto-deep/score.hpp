// What a network says about records, beside the truth: the form in which every kind of model is evaluated.
#pragma once

#include <vector>

#include "artifact.hpp"
#include "sotto/deep/training/records.hpp"
#include "sotto/models/evaluation.hpp"

namespace sotto::cli {

// Classes: probabilities and the most likely one; numbers in the unit of the target column. A network whose weights are not
// finite says nothing: all classes are then equally likely. A class that was not declared becomes the number of classes.
// The scores are as private as the records.
std::vector<ScoredRow> score_records(DeepArtifact& artifact, const deep::Records& records);
// The same for a network that is not an artifact yet; encoder: of a table.
std::vector<ScoredRow> score_records(deep::Network& network, const Encoder* encoder,
                                     const deep::Records& records);

}  // namespace sotto::cli
