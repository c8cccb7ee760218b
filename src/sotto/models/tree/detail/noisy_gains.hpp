// Detail: how good questions are, from noisy counts alone: post-processing.
//
// cells: for each level of each column the noisy counts of the classes, or noisy count and Σy of a
// number. gini: impurity Σ_{a<b} n_a·n_b/n that a question takes away; of a number the part of the
// variance that it explains. information: the entropy, n times, that it takes away. Totals are
// those of the question's own column, so that their noise cancels.
#pragma once

#include <span>
#include <vector>

#include "sotto/models/tree/detail/question_cells.hpp"

namespace sotto {

enum class Criterion { gini, information };

// noise: the standard deviation of a cell; a side with fewer records than that of its own sum tells
// nothing.
std::vector<double> noisy_gains(const QuestionCells& columns, std::span<const double> cells,
                                std::size_t figures, bool number, Criterion criterion,
                                double noise);

// In bits, of counts.
double entropy(std::span<const double> counts);

}  // namespace sotto
