// A public list of candidate models, read from a file: one candidate a line, its parameters
// separated by commas, in the order of the
// "weights" of a model file. Empty lines and lines that start with # are skipped.
#pragma once

#include <string>
#include <vector>

namespace sotto {

std::vector<std::vector<double>> read_candidates(const std::string& path);  // throws DataError

}  // namespace sotto
