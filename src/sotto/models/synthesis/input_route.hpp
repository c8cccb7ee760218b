// Any trainer on synthetic records: the method `input`.
//
// What       with_input(): a family that also knows the method `input`: a private generator is made
//            of the records (synthesis_family.hpp), as many records as declared are drawn from it
//            (of fewer than 2^14 up to eight times as many, at least 2^11), and the family's model
//            without noise is trained on these.
// Guarantee  event(): that of the generator. What is drawn from it, and whatever is computed from
//            that, is post-processing.
// Method     A family without the method `none` stays as it is, and so do transformations, whose
//            place in a pipeline needs plans of their own. Where a family has a method `input` of
//            its own it is asked first, and this one where it cannot do with so many columns.
// Numerics   As the generator's.
// Reference  docs/math/input-perturbation.md.
#pragma once

#include "sotto/learning/family.hpp"

namespace sotto {

Family with_input(Family family);

}  // namespace sotto
