// Detail: the dependence that a noisy pair shows, taken back by as much as noise alone would show.
#pragma once

#include "sotto/models/synthesis/detail/markov_model.hpp"

namespace sotto {

// With R the residual from the product of the pair's own margins, times `ratio` where there is one
// (of what is expected of each combination to what independent columns would have), R is kept times
// (1 − (rows − 1)(columns − 1)σ²/‖R‖²)₊ [JS61]; the margins become the mean of the pair's and of
// the columns' own counts, by their noise. total: the records. Post-processing.
void shrink(Marginal& pair, const Marginal& first, const Marginal& second, double total,
            const std::vector<double>& ratio = {});

// The table with these shares as margins, times factors of rows and columns.
std::vector<double> with_margins(std::vector<double> table, const std::vector<double>& rows,
                                 const std::vector<double>& columns);

// The same of any columns, with the residual from the product of these shares.
void shrink(Marginal& marginal, const std::vector<std::vector<double>>& shares, double total);

}  // namespace sotto
