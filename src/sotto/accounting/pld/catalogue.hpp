// From events to loss laws: which pair of distributions dominates each mechanism under each
// relation.
//
// What       law_of() gives the law of one use of an event, and a law that is attained when the
//            first is only an upper bound.
// Guarantee  Every pair of neighbours under the relation is dominated; docs/math/pld.md §2 proves
//            it mechanism by mechanism.
// Method     One closed form or one bounded curve per kind of event; sampling, shuffling and mixing
//            act on the inner law.
// Numerics   Each law states its own uncertainty as shift and slack (law.hpp); sensitivities on a
//            lattice are rounded up.
// Reference  [ZDW22] dominating pairs and Poisson sampling; [BBG18] sampling of a fixed size;
//            [DDR20] bounded range; [CKS20] discrete Gaussian.
#pragma once

#include "sotto/accounting/pld/profile.hpp"
#include "sotto/core/event.hpp"

namespace sotto {

// Two ways to bound what a sample of fixed size costs under zero_out: as amplification for a record
// that is replaced (two steps), or as one step while everyone sees whether the record was drawn.
// The first is better for many uses, the second for few.
enum class SampleView { amplified, revealed };
bool two_views_of_sample(const Event& event, Relation relation);

// The event must not be a repeat, compose or parallel. Throws Unsupported, naming the event, when
// no pair is known.
// The count of the result is 1.
LawRun law_of(const Event& event, Relation relation, SampleView view = SampleView::amplified);

}  // namespace sotto
