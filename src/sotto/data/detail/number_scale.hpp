// Detail: from a number within declared bounds to [−1, 1].
#pragma once

#include <cmath>
#include <numeric>

#include "sotto/core/values.hpp"

namespace sotto::detail {

struct NumberScale {
  explicit NumberScale(const Bounds& bounds)
      : lower(bounds.lower()),
        upper(bounds.upper()),
        middle(std::midpoint(lower, upper)),
        half_width((upper - lower) / 2),
        per_half_width(std::isnormal(1 / half_width) ? 1 / half_width : 0) {}

  // As ColumnEncoder scales a finite number where per_half_width is not 0, to the bit, without a
  // branch: data are hard to predict.
  double product(double number) const {
    const double scaled = (number - middle) * per_half_width;
    const double low = scaled > -1 && number > lower ? scaled : -1;
    return low < 1 && number < upper ? low : 1;
  }
  double lower, upper, middle, half_width;
  double per_half_width;  // 0: divide
};

}  // namespace sotto::detail
