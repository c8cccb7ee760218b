// Detail: released components as a model of the shelf.
#pragma once

#include <memory>
#include <vector>

#include "sotto/learning/unsupervised_model.hpp"

namespace sotto {

struct Components {
  Matrix directions;          // orthonormal rows, the first holds most
  std::vector<double> mean;   // encoded
  std::vector<double> reach;  // coordinates along them are mostly within ± this
};

// Throws DataError when they do not fit the facts.
std::unique_ptr<Model> pca_model(Components components, const Facts& facts);
std::unique_ptr<Model> load_pca(const Files& files, Facts& facts);

}  // namespace sotto
