// The normal tail without cancellation or underflow.
//
// What       The Mills ratio R(x) = SF(x)/φ(x) of the standard normal, differences of it, ln SF,
//            and the inverse of ln SF.
// Method     erfc below 2, the continued fraction R(x) = 1/(x + 1/(x + 2/(x + …))) above. The slope
//            −R'(x) = 1 − xR(x) is read off the same fraction, so that R(x) − R(x+h) is an integral
//            of positive numbers when h is small.
// Numerics   Relative error below 1e-14 for x ≥ −37; no result is 0 or ∞ where the true one is not.
// Reference  docs/math/composition.md.
#pragma once

namespace sotto {

double log_normal_pdf(double x);
double mills_ratio(double x);                 // x ≥ −37
double mills_difference(double x, double h);  // R(x) − R(x+h), h ≥ 0
double log_normal_sf(double x);               // ln P[Z > x], any x
double normal_sf(double x);                   // P[Z > x]
double normal_quantile_upper(
    double log_probability);  // the x with ln P[Z > x] = log_probability < 0

}  // namespace sotto
