// Losses of generalised linear models: ℓ(z, y) of the margin z = ⟨θ, x⟩, with the constants the
// privacy proofs need.
//
// What       logistic (y = ±1), huber_hinge (y = ±1, a linear SVM), squared (y ∈ [−1, 1], ridge
//            regression).
// Guarantee  |ℓ′| ≤ lipschitz and 0 ≤ ℓ″ ≤ curvature for every margin allowed; squared loss is
//            Lipschitz only where |z| is bounded.
// Method     logistic: ln(1 + e^{−yz}); huber_hinge with half-width h: the hinge max(0, 1 − yz)
//            with its kink replaced by the parabola (1 + h − yz)²/(4h) on |1 − yz| ≤ h; squared: (z
//            − y)²/2.
// Numerics   Evaluated without overflow for any finite margin.
// Reference  [CMS11] for the constants; docs/math/linear-models.md.
#pragma once

#include <string_view>

namespace sotto {

enum class Loss { logistic, huber_hinge, squared };

std::string_view name(Loss loss);

inline constexpr double kHuberHalfWidth = 0.5;

double loss_value(Loss loss, double margin, double y);
double loss_slope(Loss loss, double margin, double y);      // dℓ/dz
double loss_curvature(Loss loss, double margin, double y);  // d²ℓ/dz²

// sup |ℓ′| (1 for the two classification losses; 0 means unbounded) and sup ℓ″ (1/4, 1/(2h), 1).
double lipschitz_bound(Loss loss);
double curvature_bound(Loss loss);

}  // namespace sotto
