// Detail: what is asked of the records about triples, two columns and the target.
//
// What       Counts of the combinations of a few groups of levels of each column, and how much of
//            them neither the columns nor their pairs explain.
// Guarantee  None of its own: sums are private and are noised by who asks. One record moves the
//            counts of a triple by 1 in one cell and together() by at most kScoreSteps.
// Method     R = (I − p_a1ᵀ) ⊗ (I − p_b1ᵀ) ⊗ (I − p_t1ᵀ) M, M the counts and p released shares:
//            what depends on fewer than all three is taken out, exactly where the two columns do
//            not depend on each other. A record in cell ijk moves R by (e_i − p_a) ⊗ (e_j − p_b) ⊗
//            (e_k − p_t), whose ℓ1 norm is at most 8(1 − p_ai)(1 − p_bj)(1 − p_tk); with B the
//            largest of these, Σ|R|/B moves by at most 1.
// Numerics   p in whole steps, rounded down with Σ p ≤ 1, so that R and B are whole numbers; the
//            ratio is rounded down to steps of 1/kScoreSteps, which moves no further than it.
// Reference  docs/math/synthesis.md.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "sotto/learning/source.hpp"
#include "sotto/models/synthesis/detail/cell_columns.hpp"
#include "sotto/models/synthesis/detail/synthesis_model.hpp"

namespace sotto {

using ColumnTriple = std::array<std::uint32_t, 3>;  // ascending

class TripleQueries {
 public:
  // Both must outlive it; the model has levels and counts of columns. groups: at most, of a column.
  TripleQueries(const CellColumns& columns, const SynthesisModel& model, std::uint32_t groups);

  // Every two columns with the target.
  std::vector<ColumnTriple> all() const;
  LevelGrouping groups(const ColumnTriple& triple) const;
  std::size_t cells(const ColumnTriple& triple) const;
  // Of all cells of all triples, one triple after the other.
  std::vector<int128> counts(Source& source, std::span<const ColumnTriple> triples) const;
  // Σ|R|/B of each triple in steps of 1/kScoreSteps.
  std::vector<int128> together(Source& source, std::span<const ColumnTriple> triples) const;
  // What a record of together() stands for: B.
  double scale(const ColumnTriple& triple) const;
  // The share of each group of a column.
  const std::vector<double>& shares(std::size_t column) const { return share_[column]; }

 private:
  template <class Visit>
  void count(Source& source, std::span<const ColumnTriple> triples, Visit&& visit) const;
  std::int64_t farthest(std::size_t column) const;  // ℓ1 of e_i − p in steps, at most

  const CellColumns& columns_;
  const SynthesisModel& model_;
  std::vector<std::vector<std::uint32_t>> group_;  // of each level of each column
  std::vector<std::vector<double>> share_;         // of each group
  std::vector<std::vector<std::int64_t>> steps_;   // the same, of 1/kShareSteps, rounded down
};

// A score in records, less what is public of it. Taken off in whole steps, and no more of it than
// leaves the difference a double: between neighbours it moves as the steps do, however large the
// public part is.
double less_public_part(int128 steps, double public_part);

}  // namespace sotto
