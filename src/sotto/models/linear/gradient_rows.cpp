#include "sotto/models/linear/gradient_rows.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/models/linear/detail/slope_kernels.hpp"

namespace sotto {
namespace {
constexpr double kParameterUnit = 1 << GradientRows::kParameterBits;
}  // namespace

GradientRows::GradientRows(std::size_t features, double norm_bound, double intercept)
    : features_(features),
      dimension_(features + (intercept != 0 ? 1 : 0)),
      norm_bound_(norm_bound),
      intercept_(intercept) {
  if (!(norm_bound > 0) || !std::isfinite(norm_bound))
    throw InvalidArgument("the norm bound of the features must be a finite number above 0");
  scale_ = 1 / std::hypot(norm_bound, intercept);
}

void GradientRows::bound_slopes(std::span<double> slopes, std::size_t outputs, SlopeGrid grid) {
  const std::size_t rows = slopes.size() / outputs;
  if (outputs == 1) {
    detail::bound_slopes(slopes.data(), rows, grid.norm, grid.bits);
    return;
  }
  const double units = std::ldexp(1.0, grid.bits), limit = grid.norm * units;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto each = [&](const auto& visit) {
      for (std::size_t k = 0; k < outputs; ++k) visit(slopes[k * rows + i]);
    };
    double square = 0;
    each([&](const double& s) { square += s * s; });
    if (!std::isfinite(square)) {
      each([](double& s) { s = 0; });  // a record that cannot be evaluated contributes nothing
      continue;
    }
    const double factor =
        units * (square > grid.norm * grid.norm ? grid.norm / std::sqrt(square) : 1.0);
    each([&](double& s) { s = std::trunc(s * factor); });
    // The clipping above was rounded; the integers decide (exact: each at most 2^22, hence their
    // squares at most 2^44).
    for (;;) {
      double exact = 0;
      each([&](const double& s) { exact += s * s; });
      if (exact <= limit * limit) break;
      each([](double& s) { s -= s > 0 ? 1 : s < 0 ? -1 : 0; });
    }
  }
}

void GradientRows::admit(std::span<double> parameters, std::size_t outputs) {
  const std::size_t dimension = parameters.size() / outputs;
  for (std::size_t k = 0; k < outputs; ++k) {
    auto part = parameters.subspan(k * dimension, dimension);
    double largest = 0, square = 0;
    for (double& v : part) {
      if (!std::isfinite(v)) v = 0;
      largest = std::max(largest, std::fabs(v));
    }
    for (double v : part) square += largest > 0 ? (v / largest) * (v / largest) : 0.0;
    const double norm =
        largest * std::sqrt(square);  // may be infinite: then everything shrinks to 0
    // Room below the limit for rounding every coordinate to the grid.
    const double limit = kMaximalNorm * (1 - 1e-6);
    const double shrink = norm > limit ? limit / norm : 1.0;
    for (double& v : part) v = std::nearbyint(v * shrink * kParameterUnit) / kParameterUnit;
  }
}

}  // namespace sotto
