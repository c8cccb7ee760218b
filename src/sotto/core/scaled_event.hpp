// The same release with more or less noise.
//
// What       scaled(event, factor): all noise in it `factor` times as large; samples, counts and
//            parts stay as they are.
// Guarantee  None of its own: it is an event like any other, to be accounted for as such.
// Method     Scales of noise are multiplied; ε and μ of mechanisms that have no scale are divided,
//            ρ by the square.
// Numerics   Plain doubles.
#pragma once

#include "sotto/core/event.hpp"

namespace sotto {

Event scaled(const Event& event,
             double factor);  // throws InvalidArgument when nothing valid comes out

}  // namespace sotto
