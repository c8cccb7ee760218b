// Detail: what descents on feature rows release: the features, and one vector of parameters an
// output. What several of them say adds up.
#pragma once

#include <memory>
#include <vector>

#include "sotto/learning/model.hpp"
#include "sotto/models/kernel/detail/feature_map.hpp"

namespace sotto {

inline constexpr double kMostParameter = 1e6;

struct KernelModel {
  struct Part {
    FeatureDesign design = {};
    std::vector<std::vector<double>> parameters = {};  // one output: two classes or a number
    double noise = 0;  // the standard deviation of what noise has added to each parameter
  };
  std::vector<Part> parts = {};
};

// As a model of the shelf. Throws DataError when it does not fit the encoder.
std::unique_ptr<Model> kernel_predictor(KernelModel model, const Facts& facts);
std::unique_ptr<Model> load_kernel(const Files& files, Facts& facts);

}  // namespace sotto
