// What       two_class_renyi(): Rényi divergence between the answer at these votes and at those
//            after one vote has moved, the larger of both moves and of both directions.
//            answer_law(): what an answer costs for any votes, as truncated concentration.
// Guarantee  The first is about one data set and all its neighbours, as private as the votes. The
//            second holds for any votes of this many teachers.
// Method     The answer is one bit. With g ≥ 0 the lead, T(g) = P[the noise of one class beats that
//            of the other by g], the class behind wins with probability a = T(g), after a move with
//            b = T(g ± 2), and the divergence of the two coins is
//              ln[(1 − a)^α(1 − b)^{1−α} + a^α b^{1−α}]/(α − 1) = ln[1 + Σ p·φ(d)]/(α − 1)
//            over both sides: p the probability here, d its loss ln(p/p'), and
//              φ(d) = e^{(α−1)d} − 1 + (α − 1)(e^{−d} − 1) ≥ 0, growing with |d|.
//            With the lead p falls and d grows for the class behind, the other way round for the
//            class ahead: p at one end of a range of leads and d at the other bound all of it. So
//            the largest cost is found by halving ranges, without looking at each lead; and
//            (α − 1)D_α is convex in α, so that lines bound it between orders. At g = 0 the cost is
//            2/π of what the noisy counts themselves cost: a sign says less than a number.
// Numerics   Logarithms throughout: no tail underflows and no power overflows. Intervals of a and b
//            cover ties, the lattice of the noise and rounding; terms are positive and rounded up.
//            What is no number is replaced by what the noisy counts cost.
// Reference  docs/math/pate.md.
#pragma once

#include <optional>
#include <vector>

#include "sotto/pate/aggregator.hpp"

namespace sotto::pate {

// ln P[the noise of one class beats that of another by `gap` votes], from above.
double log_tail(const LabelOptions& options, double gap);

// Whether the functions below speak about this plan: two classes, not too many teachers, noise that
// is wide against its lattice.
bool has_exact_costs(const LabelOptions& options);

// For each lead, votes of the first class minus those of the second, from 0 to one more than there
// are teachers.
std::vector<double> two_class_renyi(const LabelOptions& options, double order);

// Divergence at most rho·α for all orders below omega, whatever the votes.
struct AnswerLaw {
  double rho = 0, omega = 0;
};
// For a plan's `answers`; nothing where noisy counts are as cheap. What ε they cost at a δ is
// another matter: the profile of the counts is known, of this only a curve.
std::optional<AnswerLaw> answer_law(const LabelOptions& options);

}  // namespace sotto::pate
