// Detail: released centres as a model of the shelf.
#pragma once

#include <memory>

#include "sotto/learning/unsupervised_model.hpp"

namespace sotto {

// Throws DataError when they do not fit the facts.
std::unique_ptr<Model> kmeans_model(Matrix centres, const Facts& facts);
std::unique_ptr<Model> load_kmeans(const Files& files, Facts& facts);

}  // namespace sotto
