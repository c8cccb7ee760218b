// Advanced composition, both published closed forms.
//
// What       Mechanisms that are (ε_i, δ_i)-DP are together (ε', δ' + Σ δ_i)-DP for any slack δ' in
//            (0, 1).
// Guarantee  Upper bounds. optimal.hpp is never worse; these are kept because papers and budgets
//            are stated in them.
// Method     [DRV10]: ε' = √(2 ln(1/δ') Σε²) + Σ ε(e^ε − 1).
//            [KOV17, Thm. 3.5]: drift Σ ε(e^ε − 1)/(e^ε + 1) and the better of two deviation terms;
//            never above Σε.
// Numerics   A handful of rounded operations; widened by 16 of them.
// Reference  [DRV10], [KOV17], docs/math/composition.md.
#pragma once

#include <span>

#include "sotto/accounting/composition/basic.hpp"
#include "sotto/core/values.hpp"

namespace sotto {

double advanced_epsilon_drv(std::span<const ApproximateDp> parts, Delta slack);
double advanced_epsilon_kov(std::span<const ApproximateDp> parts, Delta slack);

}  // namespace sotto
