// L-BFGS: descends a ConvexProblem with gradients alone, for models with too many coordinates for
// their Hessian.
//
// What       descend(problem, from, tolerance): a point with ‖∇J‖ ≤ tolerance, or the point at
//            which progress ended.
// Guarantee  None of its own: the point carries its certified gradient norm (ConvexProblem::Point),
//            for the caller to compare. Every step lowers J, or ‖∇J‖ where J's rounding hides that.
// Method     The last kPairs differences of points and gradients stand for the inverse Hessian
//            (two-loop recursion). The first step, before there are any, is the Cauchy step
//            ‖g‖²/gᵀHg: one Hessian product. Steps meet the Wolfe conditions, found between slopes
//            of opposite sign: along a line the slope of a convex J only grows. One evaluation a
//            step is the rule; memory is
//            2·kPairs vectors besides what an evaluation needs, so rows may be in a file
//            (row_store.hpp) and threads are those of the problem.
// Numerics   A pair whose curvature is lost to rounding is left out. A step that ends short of the
//            minimum along its line is accepted by its slope alone, which needs no difference of
//            values. Ends when kPatience steps have not halved the best gradient norm.
// Reference  [LN89]; docs/math/objective-perturbation.md, "The minimiser".
#pragma once

#include "sotto/models/linear/detail/convex_problem.hpp"

namespace sotto {

struct Descent {
  ConvexProblem::Point at;
  int steps = 0;
};

Descent descend(const ConvexProblem& problem, ConvexProblem::Point from, double tolerance,
                int maximal_steps);

// Whether a step from `at` to `next`, along which J should fall by at least −promised to first
// order, did lower J enough; where the promise is below what the values can show, whether it
// lowered the gradient norm.
bool lowers(const ConvexProblem::Point& next, const ConvexProblem::Point& at, double promised);

}  // namespace sotto
