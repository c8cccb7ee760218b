// Detail: what the last release of a generator measures, and how well.
//
// What       From what was released before: which pairs of columns are counted, and which part of
//            the budget each of them and each column, counted once more, has.
// Guarantee  Post-processing: parts add up to at most 1 whatever the scores are.
// Method     The error of a pair, summed over its cells in records, is about √(D² + e_a² + e_b²)
//            where it is not counted: D, how far it is from independence, and the errors of its
//            columns; and the noise of its cells where it is; beside what chance has left between
//            records inside of levels, which nothing mends. Parts that make the sum of all errors
//            least are found by multiplying each with the root of what more of it would gain: the
//            sum is convex for Gaussian noise. Pairs are taken in the order of what they promise,
//            as many as leave the least, but no more than cost all pairs together half a percent:
//            that is the price of pairs that are called more important. Pairs that promise nothing
//            leave all to the columns. Then triples are taken beside these pairs, those that hold
//            most first: the error of one is what it holds where it is not counted, else the noise
//            of its cells. They may cost the pairs three percent and each a thousandth of the
//            records, and have less where they would cost more.
// Numerics   Shares are positive.
// Reference  docs/math/synthesis.md.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "sotto/models/synthesis/detail/junction_tree.hpp"

namespace sotto {

struct PairCandidate {
  ColumnPair columns;
  double dependence = 0;  // records, summed over the cells
  double cells = 1;
  double importance = 1;  // of its error
};

struct TripleCandidate {
  std::array<std::uint32_t, 3> columns;
  double dependence = 0;  // records, summed over the cells: what pairs do not explain
  double cells = 1;
  double importance = 1;
};

struct MeasurementFacts {
  std::vector<std::uint32_t> levels = {};  // of each column
  std::vector<double> cells = {};      // of each column: errors of a count are so many times larger
  std::vector<double> deviation = {};  // of each column's counts, as they are
  std::vector<double> bins = {};       // of each column: that records are compared in
  double records = 1;
  double noise = 1;      // standard deviation of a count that has all of the budget
  bool laplace = false;  // it falls with the share, not with its root
  double unknown = 0;    // dependence of a pair that is no candidate
  std::size_t most = 0;  // pairs that can be counted
};

struct MeasurementPlan {
  std::vector<std::size_t> pairs;    // candidates
  std::vector<double> pair_share;    // of each of these
  std::vector<double> column_share;  // of each column
  std::vector<std::size_t> triples;  // candidates
  std::vector<double> triple_share;  // of each of these
};

MeasurementPlan planned_measurements(const MeasurementFacts& facts,
                                     const std::vector<PairCandidate>& candidates,
                                     const std::vector<TripleCandidate>& triples = {});

}  // namespace sotto
