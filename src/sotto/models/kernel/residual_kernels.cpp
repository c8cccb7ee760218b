#include "sotto/models/kernel/detail/residual_kernels.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/vector_clones.hpp"
#include "sotto/models/linear/detail/slope_kernels.hpp"

namespace sotto::residual_kernels {
namespace {

constexpr std::size_t kAtOnce = 256;

SOTTO_CLONES void signs_of(const float* targets, std::size_t count, float* __restrict signs) {
  for (std::size_t i = 0; i < count; ++i) signs[i] = 2 * targets[i] - 1;
}

// The slope of the logistic loss is 1 − p or p in size: the curvature is the same of both.
SOTTO_CLONES void curvatures_of(const double* slopes, std::size_t count,
                                double* __restrict curvatures) {
  for (std::size_t i = 0; i < count; ++i) {
    const double size = std::fabs(slopes[i]);
    curvatures[i] = 4 * size * (1 - size);
  }
}

SOTTO_CLONES void divide(double* slopes, std::size_t count, double clip) {
  for (std::size_t i = 0; i < count; ++i) slopes[i] /= clip;
}

}  // namespace

void of_two_classes(const double* margins, const float* targets, std::size_t count, double clip,
                    double* residuals, double* curvatures) {
  float signs[kAtOnce];
  for (std::size_t first = 0; first < count; first += kAtOnce) {
    const std::size_t n = std::min(kAtOnce, count - first);
    signs_of(targets + first, n, signs);
    detail::logistic_slopes(margins + first, signs, n, residuals + first);
    if (curvatures != nullptr) curvatures_of(residuals + first, n, curvatures + first);
    divide(residuals + first, n, clip);
  }
}

SOTTO_CLONES void of_numbers(const double* margins, const float* targets, std::size_t count,
                             double clip, double* __restrict residuals) {
  for (std::size_t i = 0; i < count; ++i)
    residuals[i] = (margins[i] - static_cast<double>(targets[i])) / clip;
}

}  // namespace sotto::residual_kernels
