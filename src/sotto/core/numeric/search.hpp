// Roots and minima of one variable, with brackets that are kept: the caller chooses the safe end.
#pragma once

#include <functional>
#include <span>

namespace sotto {

struct Bracket {
  double low, high;
};

// Narrows [low, high], where f(low) > 0 ≥ f(high), until high − low ≤ tolerance·max(|low|, |high|).
// Both ends keep their signs.
// Combines inverse quadratic steps with bisection (Chandrupatla).
Bracket narrow(const std::function<double(double)>& f, double low, double high, double tolerance);

struct LeastPoint {
  double x, value;
  bool at_edge;  // the smallest value lies at an end of the interval searched
};

// Scans `points` places of [low, high] evenly, then golden section around the best to the given
// width.
LeastPoint minimise(const std::function<double(double)>& f, double low, double high, int points,
                    double width);

// Gauss–Legendre nodes and weights on [−1, 1], 12 points.
struct GaussLegendre {
  double node[12], weight[12];
};
const GaussLegendre& gauss_legendre();

}  // namespace sotto
