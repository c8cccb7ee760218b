// Sums of the records of every node of a level, by column, level and class; and how good a question
// is.
//
// What       cells(): for each node, column and level the count of each class, or count, Σy and Σy²
//            of a number y ∈ [−1, 1]. score(): minus the impurity that a question leaves, for
//            classes Σ_{a<b} n_a·n_b/n on both sides, for a number a quarter of the sum of squares
//            about the mean.
// Guarantee  Adding a record to a node moves the scores of all questions of that node, and of no
//            other, by a number in [−1, 0].
// Method     Impurity I of one side with n records, n_a of class a; a record of class a is added:
//              I′ − I = ((n − n_a)² + Σ_{b≠a} n_b²)/(2n(n + 1)) ∈ [0, 1), as Σ_{b≠a} n_b² ≤ (n −
//              n_a)².
//            Sum of squares S about the mean m: S′ − S = (y − m)²·n/(n + 1) ∈ [0, 4).
// Numerics   Sums are integers; y in steps of 2^−20. Scores are computed in double precision; for
//            up to 2^31 records of a node their error is below 2^−18, which kScoreSensitivity pays
//            for.
// Reference  docs/math/trees.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sotto/models/kernel/detail/binned_rows.hpp"
#include "sotto/models/tree/detail/membership.hpp"
#include "sotto/models/tree/detail/question_cells.hpp"
#include "sotto/models/tree/detail/tree_model.hpp"

namespace sotto {

class NodeStatistics {
 public:
  static constexpr double kScoreSensitivity = 1 + 0x1p-16;
  static constexpr std::int64_t kUnit = std::int64_t{1} << 20;

  // classes: 0 for a number.
  NodeStatistics(const BinnedColumns& columns, std::size_t classes);

  std::size_t figures() const { return classes_ > 0 ? classes_ : 3; }  // in each cell
  const QuestionCells& cells() const { return cells_; }
  const std::vector<Question>& candidates() const { return cells_.questions(); }

  std::size_t width() const { return cells_.size() * figures(); }  // sums of a node

  // One pass: the sums of all nodes at this depth of the trees so far, one tree behind the other.
  std::vector<int128> collect(const BinnedRows& records, std::span<const TreeModel> trees,
                              const Membership& membership, std::size_t depth) const;
  // Of all candidates at a node with these sums.
  std::vector<double> scores(std::span<const int128> own) const;

  // What one record of this target adds to the cell it is in: one 1, or (1, y, y²) on the grid.
  void add(double target, std::span<std::int64_t> figures) const;

 private:
  double impurity(std::span<const double> figures) const;

  const BinnedColumns& columns_;
  QuestionCells cells_;
  std::size_t classes_;
};

}  // namespace sotto
