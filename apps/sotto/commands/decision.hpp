// --threshold: which of two classes is predicted, from its probability. Post-processing of the
// model.
#pragma once

#include <optional>
#include <span>

#include "commands.hpp"
#include "sotto/learning/model.hpp"

namespace sotto::cli {

Option threshold_option();
// Throws InvalidArgument when the model does not tell two classes apart.
std::optional<double> threshold_of(const Arguments& arguments, const Model& model);

// A record's columns (SupervisedModel) with the prediction that the threshold makes.
void decide(std::span<double> columns, double threshold);
// The same beside the truth.
void decide(std::vector<ScoredRow>& rows, double threshold);

}  // namespace sotto::cli
