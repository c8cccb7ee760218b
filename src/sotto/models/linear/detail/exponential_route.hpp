// The exponential mechanism over a finite, public set of models.
//
// What       Picks one of the candidates with probability ∝ exp(−(ε/(2B))·Σ_i ℓ(θ; x_i, y_i)), or
//            ε/B where neighbours move all sums the same way: candidates given as a list, or by a
//            rule: every point of a grid over a ball of parameters, in low dimension.
// Guarantee  ε-bounded range (event: exponential). A draw from the finite set is exact
//            (selection.hpp); there is no chain that must mix.
// Method     Between candidates of norm ≤ r the loss of one record lies in a public interval of
//            length B: rows are in the unit ball, so
//            |margin| ≤ r. logistic, hinge: slopes ≤ 1, hence B = 2r at most, and exactly r for
//            logistic (ln(1 + e^r) − ln(1 + e^−r) = r); softmax with rows of norm ≤ r each: 2r;
//            squared, |y| ≤ 1: (1 + r)²/2. The lower end is subtracted and the rest clipped to
//            [0, B]: a record moves every candidate's sum by an amount in [0, B], down only when it
//            is added (add_remove, zero_out: monotonic), and by at most B either way when it is
//            replaced. c contributions: c·B.
// Numerics   Candidates are on the grid of exact_rows.hpp, so margins are exact and a record's loss
//            depends on nothing but the record. It is rounded to a multiple of a power of two,
//            about 2^−20·B, before the sum, which is then exact for up to 2^32 records.
// Reference  [MT07], [KLNRS11]; docs/math/exponential-route.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sotto/core/relation.hpp"
#include "sotto/core/release.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/mechanisms/selection.hpp"
#include "sotto/models/linear/exact_rows.hpp"
#include "sotto/models/linear/linear_model.hpp"

namespace sotto {

struct ExponentialRouteOptions {
  Loss loss = Loss::logistic;
  std::size_t outputs = 1;                           // 1: binary or regression; K: one per class
  std::vector<std::vector<double>> candidates = {};  // empty: the grid
  double radius = 0;                                 // of the grid; 0: 5, for squared loss 1
  std::uint64_t contributions = 1;                   // records that one unit of privacy may have
  unsigned threads = 0;
};

class ExponentialRoutePlan {
 public:
  static constexpr std::size_t kMaximalGridDimension = 5;
  static constexpr std::size_t kGridPoints = 1 << 15;  // at most
  static constexpr std::size_t kMaximalCandidates = 1 << 20;

  // dimension: of a row, with the intercept.
  ExponentialRoutePlan(ExponentialRouteOptions options, Relation relation, std::size_t dimension,
                       const Budget& budget);

  Event event() const { return selection_.event(); }
  Relation relation() const { return selection_.relation(); }
  std::string describe() const;
  std::vector<std::string> assumptions() const;
  const std::vector<std::vector<double>>& candidates() const { return options_.candidates; }
  double loss_range() const { return range_; }  // B

  // −Σ_i (clipped loss) of every candidate, in natural units.
  std::vector<double> scores(const ExactRows& rows) const;
  Release<LinearModel> run(const ExactRows& rows, Rng& rng) const;

 private:
  ExponentialRouteOptions options_;
  std::size_t dimension_;
  double lowest_, range_, step_;  // of one record's loss
  SelectionPlan selection_;
};

// The points of a cubic grid, symmetric about 0, that lie in the ball: as fine as `limit` points in
// the cube allow.
std::vector<std::vector<double>> ball_grid(std::size_t dimension, double radius, std::size_t limit);

}  // namespace sotto
