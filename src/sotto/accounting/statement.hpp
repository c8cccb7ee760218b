// The guarantee in words: what is protected, against whom, by what, how much, and how that was
// computed.
//
// What       A short statement for people, beside the numbers for machines.
// Guarantee  Claims only what the Bound it is given claims.
// Method     Events described one by one; ε without amplification from the same events with
//            sampling and shuffling removed.
// Numerics   Six digits, rounded to nearest; the exact bound stands in the certificate.
// Reference  docs/events.md.
#pragma once

#include <string>

#include "sotto/accounting/bound.hpp"
#include "sotto/core/spec.hpp"
#include "sotto/core/values.hpp"

namespace sotto {

// A mechanism in plain words: "Gaussian noise with noise multiplier 1.1 on a Poisson sample of rate
// 0.01, 10000 times".
std::string describe(const Event& event);

// The same events with every sampling and shuffling removed: what is lost if the sample becomes
// known. A record drawn with replacement may then be seen in every draw; throws Unsupported where
// no bound for that is known.
Event without_amplification(const Event& event, Relation relation);

// A few lines for people: unit of privacy, relation, mechanism, ε with and without amplification,
// accountant and conversion.
std::string statement(const Spec& spec, Delta delta, const Bound& bound,
                      const std::string& unit = "one record");

}  // namespace sotto
