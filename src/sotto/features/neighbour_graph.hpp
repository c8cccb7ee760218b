// A graph of nearest neighbours over public records, and smoothing over it.
//
// What       Each record is joined to its k nearest; smooth() mixes what is said of a record with
//            what is said of its neighbours.
// Guarantee  None needed: made from public records. What is smoothed may be private, and stays so.
// Method     Weights exp(−d²/m), m the median of the squared distances that were kept; the union of
//            both directions; S = D^{−½} W D^{−½}. One step: F ← share·S·F + (1 − share)·F₀.
// Numerics   Single precision distances. Equal records are neighbours like others.
// Reference  [ZBLWS03].
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sotto/features/points.hpp"

namespace sotto::features {

class NeighbourGraph {
 public:
  NeighbourGraph(const Points& points, std::size_t neighbours, unsigned threads = 0);

  std::size_t rows() const { return starts_.size() - 1; }
  // values: rows × classes, changed in place.
  void smooth(std::span<double> values, std::size_t classes, std::size_t steps, double share) const;

 private:
  std::vector<std::size_t> starts_;  // of each row's edges
  std::vector<std::uint32_t> to_;
  std::vector<float> weight_;
};

}  // namespace sotto::features
