// Inversion of models of images: the image that a model is surest of, for each class.
#pragma once

#include <string>
#include <vector>

#include "commands/many_models.hpp"
#include "commands/record_set.hpp"

namespace sotto::cli {

struct ImagePortrait {
  std::vector<std::uint8_t> pixels;
  double likelihood = 0;
  double likeness = 0;      // correlation with how the class differs from all images
  bool recognised = false;  // it is more like its own class than like any other
};

// One for each declared class. truth: images of all classes.
std::vector<ImagePortrait> image_portraits(const Model& model, const Images& truth,
                                           std::size_t classes);

// All portraits side by side, as a PGM file.
std::string portraits_pgm(const std::vector<std::vector<ImagePortrait>>& rows, std::size_t height,
                          std::size_t width);

}  // namespace sotto::cli
