// Minimises a ConvexProblem and certifies how close it came.
//
// What       minimise(problem, tolerance, start): θ with ‖∇J(θ)‖ ≤ tolerance, and the bound that
//            proves it.
// Guarantee  gradient_bound ≥ ‖∇J(θ)‖ for the true gradient, rounding included; hence ‖θ − argmin
//            J‖ ≤ gradient_bound/Λ. minimise() returns the best point found in a limited number of
//            steps: the caller must compare. certified_minimum() returns nothing worse than asked
//            for.
// Method     Up to kDenseLimit unknowns: Newton's method, H d = −∇J by Cholesky. Beyond: L-BFGS
//            (limited_memory.hpp), a gradient a step; should it stall above the tolerance, Newton's
//            method goes on from there with conjugate gradients, to a residual that shrinks with
//            the gradient, so that convergence stays superlinear and no d × d matrix is formed. The
//            choice depends on the number of unknowns only.
//            Newton steps are halved until J falls enough; where J's own rounding hides that, until
//            the gradient norm falls.
//            J strongly convex with a Lipschitz gradient: every step of the first kind gains at
//            least a fixed multiple of ‖∇J‖².
// Numerics   Limits are those of ConvexProblem::Point::gradient_error: about n·2^-43 for moderate
//            θ.
// Reference  docs/math/objective-perturbation.md, "The minimiser".
#pragma once

#include <vector>

#include "sotto/models/linear/detail/convex_problem.hpp"

namespace sotto {

inline constexpr std::size_t kDenseLimit = 500;

struct Minimum {
  std::vector<double> theta;
  double gradient_bound = 0;
  int iterations = 0;  // of Newton's method
  int descended = 0;   // steps of L-BFGS before them
};

struct MinimiserOptions {
  int iterations = 300;
  std::size_t dense_limit = kDenseLimit;
  bool limited_memory = true;  // L-BFGS first beyond dense_limit
  int descent_steps = 2000;    // of L-BFGS at most
};

Minimum minimise(const ConvexProblem& problem, double tolerance, std::vector<double> start = {},
                 MinimiserOptions options = {});

// A minimum that is certified, however long it takes, so that no data make the answer an error.
// Where the above does not reach the tolerance it follows the minimisers of ever weaker
// regularisers down to Λ, and should even that not do, takes gradient steps of length 1/M, which
// need no search. Ends for every tolerance of at least four gradient errors of ProblemSize.
Minimum certified_minimum(const ConvexProblem& problem, double tolerance,
                          MinimiserOptions options = {});

}  // namespace sotto
