// One use of a mechanism on points of the grid of losses i·h: an upper law by connect-the-dots and
// a lower law by merging.
//
// What       discretise() integrates a loss law over the cells around grid points; upper_step() and
//            lower_step() read both laws off it.
// Guarantee  upper_step dominates the law: every outcome of loss L is replaced by two on the points
//            around L that keep both its P- and Q-mass. lower_step is dominated by it: outcomes are
//            merged into cells whose likelihood ratio is exactly that of a point (post-processing),
//            and what cannot be balanced is rounded down.
// Method     Panels end at points and half-way between, so that every cell is integrated as a
//            smooth function. Where little mass lies, only every 2nd, 4th, … grid point is used
//            (GridPlan).
// Numerics   Quadrature and rounding errors are bounded and carried in slack (of masses) and shift
//            (of losses).
// Reference  [DGKKM22] connect the dots; docs/math/pld.md §3–4.
#pragma once

#include <cstdint>
#include <vector>

#include "sotto/accounting/pld/law.hpp"

namespace sotto {

// A law on the grid: mass[k] at loss point[k]·h.
struct StepLaw {
  std::vector<std::int64_t> point;  // increasing
  std::vector<double> mass;
  double infinite = 0;  // mass at +∞
  double far = 0;       // for lower laws: Q-mass of the losses that are taken as +∞ and are not
  double shift = 0;     // the loss of one use is known up to this
  double slack = 0;     // and its masses up to the factor e^{±slack}
};

// (loss, P-mass) of quadrature nodes that represent the law to many digits, for moments; infinite
// masses are left out.
struct LossNode {
  double loss, p;
};
std::vector<LossNode> loss_nodes(const LossLaw& law, double tail);

// From from[k] on only every 2^(k+1)-th grid point is used.
struct GridPlan {
  std::vector<double> from;
};
// Coarser where the mass tilted by e^{θ·loss} above is so small that the wider cells cost a few
// percent of the total error.
GridPlan plan_grid(std::vector<LossNode> nodes, double theta, double h);

class CellGrid {
 public:
  CellGrid(double h, std::vector<std::int64_t> points);

  std::size_t size() const { return point_.size(); }
  CellGrid mirrored() const;  // the swapped pair
  StepLaw upper_step() const;
  StepLaw lower_step() const;

 private:
  friend CellGrid discretise(const LossLaw& law, double h, double tail, const GridPlan& plan);
  template <class Piece>
  void integrate(const Piece& piece, double tail, const LossLaw& law);
  // loss between points k and k + 1, which are w apart; width: 1 − e^{−w}
  void add_in(std::size_t k, bool upper_half, double loss, double p, double width);
  void add_atom(double loss, double p);
  void fold(double p_infinite_of_law);  // see LossLaw::fold

  double h_;
  std::vector<std::int64_t> point_;
  std::vector<double> loss_;   // point·h
  std::vector<double> upper_;  // connect-the-dots masses on the points
  std::vector<double> cell_,
      surplus_;  // P-mass of the cell around a point, and ∫ (1 − e^{point − L}) dP over it
  PieceTail low_, high_;  // masses beyond the range of the grid
  Outside outside_;       // of these, masses beyond the bounds of the law
  double p_infinite_ = 0, q_infinite_ = 0, charged_ = 0, shift_ = 0, slack_ = 0;
  double panels_ = 0;  // of the integrals so far: what they cost
};

// About how many cells such a grid has.
double cells_to_make(const LossLaw& law, double h, double tail, const GridPlan& plan);

// tail: bound of the mass cut off at each end of a continuous piece.
CellGrid discretise(const LossLaw& law, double h, double tail, const GridPlan& plan = {});

}  // namespace sotto
