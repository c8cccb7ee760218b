// Which of many candidates explain a noisy signal, and how much each: LASSO, then least squares.
//
// What       y = Σ_s β_s x_s + noise of known variances, x_s zero or one, β_s ≥ 0. explain() gives
//            β, standard errors and the significance of each candidate.
// Guarantee  Post-processing: costs nothing.
// Method     Rows are weighted to noise of variance 1. A LASSO whose penalty is one standard
//            deviation of what noise alone gives leaves out most candidates; least squares with
//            β ≥ 0 on the others; standard errors of these least squares, for the shares among the
//            clients there are: noise, and which clients are in which group; one-sided normal
//            p-values, compared with α over the number of candidates. That the LASSO has chosen
//            first has no exact theory and is not part of the errors.
// Numerics   Coordinate descent until no β moves by more than 1e-12 of the largest, at most 20 000
//            rounds. Candidates that cannot be told apart (a singular Gram matrix) are reported
//            with an infinite standard error.
// Reference  [EPK14].
#pragma once

#include <cstdint>
#include <vector>

namespace sotto::local {

// Column s is 1 in the rows listed, else 0. Every row has an observation and its variance.
struct SparseDesign {
  std::vector<std::vector<std::uint32_t>> columns;
  std::vector<double> observed, variance;
  // Optional: rows are shares among groups of clients, noised; the clients are in groups by chance.
  // Of each row the group and the variance that is noise alone (`variance` is both), of each group
  // how many clients it has.
  std::vector<std::uint32_t> groups = {};
  std::vector<double> noise = {}, group_sizes = {};
};

struct Explained {
  double coefficient = 0, standard_error = 0, p_value = 1;
  bool significant = false;
};

std::vector<Explained> explain(const SparseDesign& design, double alpha = 0.05);

}  // namespace sotto::local
