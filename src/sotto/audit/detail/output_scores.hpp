// Scores that may tell outputs of two inputs apart, learnt from some of the outputs.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace sotto::audit {

struct Output {
  std::string text;
  std::vector<double> numbers;  // its fields, where all of them are numbers
};

Output parse_output(const std::string& line);

struct OutputScore {
  std::string words;  // "field 2", "how often the text occurs"
  std::function<double(const Output&)> of;
};

std::vector<OutputScore> output_scores(const std::vector<Output>& first,
                                       const std::vector<Output>& second);

}  // namespace sotto::audit
