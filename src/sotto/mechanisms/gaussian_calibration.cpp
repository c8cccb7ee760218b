#include "sotto/mechanisms/gaussian_calibration.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sotto/mechanisms/detail/rounding.hpp"

namespace sotto {

double classic_gaussian_sigma(Epsilon epsilon, Delta delta) {
  if (!(epsilon.value() < 1)) {
    throw InvalidArgument(
        fmt::format(
            "epsilon is {}; the classic Gaussian calibration is proven for epsilon < 1 only",
            epsilon.value()),
        "use the analytic calibration, which is tighter and has no such limit");
  }
  const double logarithm = detail::up(detail::up(std::log(detail::divide_up(1.25, delta.value()))));
  return detail::divide_up(detail::sqrt_up(detail::multiply_up(2, logarithm)), epsilon.value());
}

}  // namespace sotto
