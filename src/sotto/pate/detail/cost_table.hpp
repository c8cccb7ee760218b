// CostTable: what a query costs at one Rényi order as a function of its votes, and how far that may
// move.
//
// What       cost(): a bound for these votes against every neighbour. add_sensitivities(): for each
//            distance d, a bound of how far the costs of two neighbours lie apart when the first of
//            them is at most d votes away from these.
// Guarantee  Let L(v, d) be that bound. Then |cost(v) − cost(v')| ≤ L(v, 0) and
//            L(v, d) ≤ L(v', d+1) for neighbours v, v': all that smooth sensitivity needs. No
//            condition on the shape of the bound (C5, C6 of the paper) is used.
// Method     Two numbers stand for the votes. The *equal gap* x: if all K − 1 other classes were x
//            votes behind, the bound of q would be the same; one vote moves x by at most 2. The
//            *margin* M, which the threshold looks at; one vote moves it by at most 1. The cost is
//            a step function on a grid of (M, x), decreasing in x and increasing in M, so ranges of
//            cells bound everything. With a threshold,
//              cost = α/(2σ₁²) + ln(1 + p(e^{(α−1)f(x)} − 1))/(α−1),
//              p = P[N(M + α − 1, σ₁²) ≥ threshold]: the cost of an answer counts as much as it is
//              likely; it holds whether or not the query is answered.
//            For two classes x is the lead of the first, a whole number, and the cost of an answer
//            is its divergence (two_classes.hpp), made decreasing in x by what comes after.
// Numerics   Every q is rounded up to its cell, moves count one cell more than they are.
// Reference  [PSMRTE18, App. B], [NRS07]; docs/math/pate.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sotto/pate/aggregator.hpp"

namespace sotto::pate {

class CostTable {
 public:
  CostTable(const LabelOptions& options, double order);

  // What the cost depends on.
  struct Place {
    std::int64_t margin = 0;
    std::vector<std::int64_t> counts = {};  // largest first
  };
  static Place place(std::span<const std::int64_t> counts, std::int64_t margin);

  double cost(const Place& place) const;
  // distances[d] += L(place, d).
  void add_sensitivities(const Place& place, std::span<double> distances) const;
  double worst() const;  // of any votes

 private:
  double log_q(std::span<const std::int64_t> sorted) const;
  std::vector<double> answers_by_q(double step);
  std::vector<double> answers_by_lead() const;
  std::size_t gap_cell(std::span<const std::int64_t> sorted) const;
  std::size_t margin_cell(std::int64_t margin) const;
  double at(std::size_t margin, std::size_t gap) const { return cost_[margin * gaps_ + gap]; }
  double rise(std::size_t margin, std::size_t gap) const;

  LabelOptions options_;
  double order_;
  bool by_lead_;  // two classes: a cell of x is one lead, and costs are exact
  std::size_t gaps_ = 0, margins_ = 1;
  std::size_t per_move_ = 0;            // cells of x in one move
  std::int64_t lowest_ = 0, wide_ = 1;  // the first margin, margins in a cell
  std::vector<double> log_q_;           // at the left end of each cell of x: the largest in it
  std::vector<double> cost_, rise_;     // margins × gaps
};

// Σ over queries of what they cost, and the smooth sensitivity of that sum.
struct CostOfVotes {
  double renyi = 0;
  std::vector<double> distances = {};  // local sensitivity at each distance
};
CostOfVotes cost_of_votes(const CostTable& table, const LabelPlan& plan, const Votes& votes,
                          const std::vector<double>* student = nullptr);
// max over d of e^{−beta·d}·distances[d], rounded up; at least a tiny constant.
double smooth_sensitivity(std::span<const double> distances, double beta);

}  // namespace sotto::pate
