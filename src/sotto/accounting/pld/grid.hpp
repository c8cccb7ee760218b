// One use of a mechanism on the grid of losses i·h: an upper law by connect-the-dots and a lower law by merging outcomes.
//
// What       discretise() integrates a loss law over the cells of the grid; upper_step() and lower_step() read both laws off it.
// Guarantee  upper_step dominates the law: every outcome of loss L is replaced by two on the grid points around L that keep both
//            its P- and Q-mass. lower_step is dominated by it: outcomes are merged into cells whose likelihood ratio is exactly
//            e^{i·h} (post-processing), and what cannot be balanced is rounded down.
// Method     Panels end at grid points and half-way between, so that every cell is integrated as a smooth function.
// Numerics   Quadrature and rounding errors are bounded and carried in slack (of masses) and shift (of losses).
// Reference  [DGKKM22] connect the dots; docs/math/pld.md §3–4.
#pragma once

#include <cstdint>
#include <vector>

#include "sotto/accounting/pld/law.hpp"

namespace sotto {

// A law on the grid: mass[k] at loss (first + k)·h.
struct StepLaw {
  std::int64_t first = 0;
  std::vector<double> mass;
  double infinite = 0;  // mass at +∞
  double shift = 0;     // the loss of one use is known up to this
  double slack = 0;     // and its masses up to the factor e^{±slack}
};

class CellGrid {
 public:
  CellGrid(double h, std::int64_t first, std::size_t size);

  double h() const { return h_; }
  void add(double loss, double p);  // an atom
  void add_in(std::int64_t bucket, bool upper_half, double loss,
              double p);         // loss in [bucket·h, (bucket+1)·h]
  CellGrid mirrored() const;     // the swapped pair
  void fold(double p_infinite);  // see LossLaw::fold

  StepLaw upper_step() const;
  StepLaw lower_step() const;

  PieceTail low, high;  // masses beyond the range of the grid
  double p_infinite = 0, q_infinite = 0, charged = 0;
  double shift = 0, slack = 0;

 private:
  double h_, one_minus_;  // 1 − e^{−h}
  std::int64_t first_;
  std::vector<double> upper_;  // connect-the-dots masses on the grid points
  std::vector<double> cell_,
      surplus_;  // P-mass of the cell around a point, and ∫ (1 − e^{ih − L}) dP over it
};

// tail: bound of the mass cut off at each end of a continuous piece.
CellGrid discretise(const LossLaw& law, double h, double tail);

// (loss, P-mass) of quadrature nodes that represent the law to many digits, for moments; infinite masses are left out.
struct LossNode {
  double loss, p;
};
std::vector<LossNode> loss_nodes(const LossLaw& law, double tail);

}  // namespace sotto
