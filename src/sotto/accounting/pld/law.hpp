// The privacy loss law of one use of a mechanism: a pair (P, Q) that dominates every pair of
// neighbours in one direction.
//
// What       Atoms and continuous pieces of the loss ln(dP/dQ), masses at ±∞, and what the law
//            leaves uncertain (shift, slack).
// Guarantee  For neighbours in the "removal" direction δ(ε) ≤ ∫(dP − e^ε dQ)₊, and for the other
//            direction the swapped pair; a symmetric law covers both directions at once.
// Method     Sampling at rate γ mixes the pair, P = (1−γ)B + γA against Q = B; the laws of the
//            mechanisms are in noise_laws.hpp.
// Numerics   Errors of losses are stated as shift and of masses as slack, per use; compositions
//            charge them (docs/math/pld.md §3).
// Reference  [ZDW22] dominating pairs; docs/math/pld.md §1–2.
#pragma once

#include <functional>
#include <vector>

#include "sotto/accounting/pld/piece.hpp"
#include "sotto/core/numeric/outward.hpp"

namespace sotto {

// Sums of masses are 1 up to this much.
inline constexpr double kMassRounding = 1e-10;

struct LossAtom {
  double loss, p, q;  // q = p·e^{−loss}
};

struct LossLaw {
  std::vector<LossAtom> atoms;
  std::vector<LossPiece> pieces;
  double p_infinite = 0;  // P-mass where Q has none
  double q_infinite = 0;  // Q-mass where P has none
  double charged =
      0;  // mass whose loss was not computed: lost for upper bounds, absent for lower ones
  // Only losses above 0 are stated; those below mirror them (masses of P and Q swapped) and the
  // rest of the mass has loss 0.
  bool fold = false;
  bool symmetric = false;
  // Losses outside of these are taken as without end (bounded_law).
  double lowest = -kInfinity, highest = kInfinity;
  double shift = 0;  // the true loss of one use may exceed the stated one by this much
  double slack = 0;  // and its masses by the factor e^slack

  double hockey_stick(double epsilon) const;  // of the stated masses, without shift and slack
  double reverse_hockey_stick(double epsilon) const;  // the same for the swapped pair
};

// The law of the event on a Poisson sample: P = (1−γ)B + γA, Q = B. The law must be symmetric and
// unsampled.
LossLaw sampled_law(const LossLaw& law, double gamma);
// The worse of both directions of the sampled law, as one symmetric law (fixed-size sampling).
LossLaw folded(LossLaw law);
// With probability γ the event happens, and everyone sees whether it did.
LossLaw revealed_law(const LossLaw& law, double gamma);
// Law i with probability weight i, i seen by everyone.
LossLaw mixed_law(const std::vector<LossLaw>& laws, const std::vector<double>& weights);

// The law without atoms and pieces whose masses together are at most `tail`, which is charged
// instead: losses too rare to matter would only widen the range. True when something was dropped.
bool trim(LossLaw& law, double tail);

// The law with losses beyond ±end taken as without end: they count whole at every ε far below, so
// that a grid need not reach them.
LossLaw bounded_law(LossLaw law, double end);
// Masses of losses above `highest` and below `lowest`.
struct Outside {
  PieceTail above, below;
};
Outside mass_outside(const LossLaw& law, double lowest, double highest);

// The symmetric law of an upper bound of δ(ε), ε ≥ 0, that holds in both directions: the bound is
// asked at `knots` even steps of [0, end], and the law is that of the largest convex function of
// e^ε below these points and their mirror images.
LossLaw law_from_curve(double end, int knots, const std::function<double(double)>& delta);

// Upper bounds of δ at some ε, which rise; the bounds do not.
struct DeltaCurve {
  std::vector<double> epsilons, deltas;
};
// The same from bounds that are known.
LossLaw law_from_curve(const DeltaCurve& curve);
// For a δ that takes long: knots between two where it is the same to nine digits are not asked.
DeltaCurve falling_curve(double end, int knots, const std::function<double(double)>& delta);

// Mass that a law should have and lacks (an underflow, say) counts as lost: the law charges it.
// Throws AccountingError for a law that is not made of numbers.
void charge_missing_mass(LossLaw& law);

}  // namespace sotto
