// The generator as an artifact keeps it: levels of every column, measured marginals and potentials.
#pragma once

#include <memory>
#include <vector>

#include "sotto/learning/generator.hpp"
#include "sotto/models/synthesis/detail/cell_columns.hpp"
#include "sotto/models/synthesis/detail/level_groups.hpp"
#include "sotto/models/synthesis/detail/markov_model.hpp"

namespace sotto {

struct SynthesisModel {
  std::uint32_t bins = 0;
  double total = 0;  // about how many records were measured; released
  std::vector<ColumnLevels> columns = {};
  std::vector<Marginal> measured = {};
  std::vector<std::vector<double>> potentials = {};  // of each of these
};

// Checks the model against the facts: throws DataError.
std::unique_ptr<Model> synthesis_generator(SynthesisModel model, const Facts& facts);
std::unique_ptr<Model> load_synthesis(const Files& files, Facts& facts);

}  // namespace sotto
