// Basic composition, and the list of (ε, δ) guarantees that it, advanced and optimal composition
// work on.
//
// What       k_i mechanisms that are (ε_i, δ_i)-DP are together (Σ k_i ε_i, Σ k_i δ_i)-DP, also
//            when chosen adaptively.
// Guarantee  Holds for adaptively chosen mechanisms and for any dependence between them.
// Method     Sums; and 1 − Π(1 − δ_i) for the failures of optimal composition.
// Numerics   Sums and products rounded up.
// Reference  [DR14, Thm. 3.16].
#pragma once

#include <cstdint>
#include <span>

namespace sotto {

struct ApproximateDp {
  double epsilon = 0, delta = 0;
  std::uint64_t count = 1;  // how many such mechanisms
};

// The composed guarantee, count 1.
ApproximateDp basic_composition(std::span<const ApproximateDp> parts);

// Π(1 − δ_i) over all parts is 1 − total_delta: the failure probability when failures are
// independent of all else, rounded up.
double total_delta(std::span<const ApproximateDp> parts);

}  // namespace sotto
