// A quick view of the total privacy loss: its log-moment function by quadrature, and the saddle
// point of its tail.
//
// What       Estimates, never bounds: they choose the tilt, the grid and the cut-off of tails,
//            whose errors are bounded elsewhere.
// Reference  docs/math/pld.md §7.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sotto/accounting/pld/grid.hpp"

namespace sotto {

struct Saddle {
  double theta = 0;       // tilt
  double epsilon = 0;     // mean of the tilted total
  double spread = 0;      // its standard deviation
  double log_moment = 0;  // K(θ)
  double log_delta = 0;   // ln δ(epsilon)
};

class LossMoments {
 public:
  // One list of nodes and one count per run.
  void add(std::vector<LossNode> nodes, std::uint64_t count);

  Saddle at(double theta, bool reverse) const;         // reverse: the total of the swapped pair
  Saddle for_delta(double delta, bool reverse) const;  // the θ whose estimate of ln δ fits
  Saddle for_epsilon(double epsilon,
                     bool reverse) const;  // the θ whose tilted mean is ε, at least 0
  // The smallest tilt whose e^{K − θε} is still within a margin of δ, e^11 or what the tolerance
  // bears: less tilt means lighter tails and a narrower window, and round-off relative to δ stays
  // small.
  double gentle_tilt(const Saddle& saddle, double epsilon, double log_delta, double tolerance,
                     bool reverse) const;

 private:
  template <class Reached>
  Saddle search(bool reverse, const Reached& reached) const;

  std::vector<std::vector<LossNode>> nodes_;
  std::vector<double> counts_;
  double largest_ = 1e-300, largest_reverse_ = 1e-300;  // losses of either direction
};

}  // namespace sotto
