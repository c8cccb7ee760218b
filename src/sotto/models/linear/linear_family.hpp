// Linear models as a family: logistic, svm and linear, by many routes to privacy.
//
// What       The declaration from which commands, help and documents are made: kinds, methods with
//            the options that each knows, and the functions prepare, plan and load.
// Guarantee  That of the method chosen (linear_routes.hpp).
// Method     A method is one line of the array in linear_routes.cpp.
// Numerics   None of its own.
// Reference  docs/math/linear-models.md.
#pragma once

#include "sotto/learning/family.hpp"

namespace sotto {

Family linear_family();

}  // namespace sotto
