// Residuals of many records with one margin each: the inner loops of descents and of boosting.
//
// What       Residuals over the clip and curvatures, as residuals() of margin_loss.hpp has them for
//            one record.
// Guarantee  What a record has is a function of its own margin and target, to the last bit,
//            wherever it stands among the others (linear/detail/slope_kernels.hpp).
// Method     Plain loops without fused operations, compiled once for 256-bit vectors and once for
//            any processor.
// Numerics   Off by less than 2^−50; whoever sums them bounds and truncates them.
// Reference  docs/math/kernel.md, docs/math/boosting.md.
#pragma once

#include <cstddef>

namespace sotto::residual_kernels {

// Targets 0 and 1. Curvatures 4p(1 − p), unless there is no place for them.
void of_two_classes(const double* margins, const float* targets, std::size_t count, double clip,
                    double* residuals, double* curvatures);
void of_numbers(const double* margins, const float* targets, std::size_t count, double clip,
                double* residuals);

}  // namespace sotto::residual_kernels
