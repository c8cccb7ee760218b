// Detail: a boosted model: the scales of the columns, and trees whose values add up to margins.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sotto/learning/model.hpp"
#include "sotto/models/boosting/detail/grid_tree.hpp"
#include "sotto/models/kernel/detail/kernel_model.hpp"

namespace sotto {

inline constexpr std::size_t kMostLeaves = 256;

struct BoostingModel {
  std::vector<ColumnScale> columns = {};
  std::vector<GridTree> trees = {};
  std::optional<KernelModel> start = {};  // what the trees go on from
};

// As a model of the shelf. Throws DataError when it does not fit the encoder.
std::unique_ptr<Model> boosting_predictor(BoostingModel model, const Facts& facts);
std::unique_ptr<Model> load_boosting(const Files& files, Facts& facts);

}  // namespace sotto
