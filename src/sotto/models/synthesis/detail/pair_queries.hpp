// Detail: what is asked of the records about pairs of columns, once columns have levels.
//
// What       Counts of the combinations of levels of pairs, and how far pairs are from independent
//            columns, in whole steps of 1/kScoreSteps of a record.
// Guarantee  None of its own: the sums are private and are noised by who asks. One record moves the
//            counts of a pair by 1 in one cell, apart() by at most kScoreSteps, from_target() by at
//            most 2 kScoreSteps (synthesis_design.hpp).
// Numerics   Whole numbers; what is compared with is rounded to steps, so that bounds are exact.
// Reference  docs/math/synthesis.md.
#pragma once

#include <span>
#include <vector>

#include "sotto/learning/source.hpp"
#include "sotto/models/synthesis/detail/cell_columns.hpp"
#include "sotto/models/synthesis/detail/synthesis_model.hpp"

namespace sotto {

// The share of each level, none of them 0.
std::vector<double> level_shares(const Marginal& marginal, double total);

class PairQueries {
 public:
  // Both must outlive it; the model has levels and counts of columns. trends: of each column the
  // released table with the target, where there is one (trend_queries.hpp).
  PairQueries(const CellColumns& columns, const SynthesisModel& model,
              std::vector<std::vector<double>> trends = {})
      : columns_(columns), model_(model), trends_(std::move(trends)) {}

  std::size_t cells(const ColumnPair& pair) const {
    return std::size_t{model_.columns[pair.first].levels} * model_.columns[pair.second].levels;
  }
  bool with_target(const ColumnPair& pair) const {
    return columns_.target() == pair.first || columns_.target() == pair.second;
  }
  // Of all cells of all pairs, one pair after the other.
  std::vector<int128> counts(Source& source, std::span<const ColumnPair> pairs) const;
  // The released shares of a pair's combinations: its trend, else the product of its columns'.
  std::vector<double> expected(const ColumnPair& pair) const;
  bool has_trend(const ColumnPair& pair) const { return !trend(pair).empty(); }
  // Those with a trend, what it says beyond the product, in records, and its ratio to the product
  // (nothing without one).
  std::vector<ColumnPair> with_trend() const;
  double trend_apart(const ColumnPair& pair) const;
  std::vector<double> ratio(const ColumnPair& pair) const;
  // Σ |M − E| of each pair, E = n·expected().
  std::vector<int128> apart(Source& source, std::span<const ColumnPair> pairs) const;
  // Σ |M_ij − M_i·p_ij| of each pair with the target, p what is expected of it in row i.
  std::vector<int128> from_target(Source& source, std::span<const ColumnPair> pairs) const;

 private:
  template <class Visit>
  void count(Source& source, std::span<const ColumnPair> pairs, Visit&& visit) const;

  const std::vector<double>& trend(const ColumnPair& pair) const;
  std::vector<double> product(const ColumnPair& pair) const;

  const CellColumns& columns_;
  const SynthesisModel& model_;
  std::vector<std::vector<double>> trends_;
};

}  // namespace sotto
