// What a noisy vote between two classes costs: the divergence itself, not a bound by q.
//
// What       two_class_renyi(): Rényi divergence between the answer at these votes and at those
//            after one vote has moved, the larger of both moves and of both directions.
//            answer_law(): what an answer costs for any votes, as truncated concentration.
// Guarantee  The first is about one data set and all its neighbours, as private as the votes. The
//            second holds for any votes of this many teachers.
// Method     The answer is one bit. With g ≥ 0 the lead, T(g) = P[the noise of one class beats that
//            of the other by g], the class behind wins with probability a = T(g), after a move with
//            b = T(g ± 2), and the divergence of two coins is
//              ln[(1 − a)^α(1 − b)^{1−α} + a^α b^{1−α}]/(α − 1).
//            It grows with the distance of a and b, so intervals for both bound it. At g = 0 it is
//            2/π of what the noisy counts themselves cost: a sign says less than a number.
// Numerics   Intervals of a and b cover ties and the lattice of the noise; the moment is a sum of
//            small differences, with an allowance for the rounding of each.
// Reference  docs/math/pate.md.
#pragma once

#include <optional>

#include "sotto/pate/aggregator.hpp"

namespace sotto::pate {

// ln P[the noise of one class beats that of another by `gap` votes], from above.
double log_tail(const LabelOptions& options, double gap);

// Whether the functions below speak about this plan: two classes, not too many teachers, noise that
// is wide against its lattice.
bool has_exact_costs(const LabelOptions& options);

// lead: votes of the first class minus those of the second, from 0 to the number of teachers.
double two_class_renyi(const LabelOptions& options, std::int64_t lead, double order);

// Divergence at most rho·α for all orders below omega, whatever the votes.
struct AnswerLaw {
  double rho = 0, omega = 0;
};
// For a plan's `answers`; nothing where noisy counts are as cheap.
std::optional<AnswerLaw> answer_law(const LabelOptions& options);

}  // namespace sotto::pate
