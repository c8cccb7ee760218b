#include "sotto/noise/grid.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

constexpr int kLimitBits = 100;
constexpr int128 kLimit = static_cast<int128>(1) << kLimitBits;

void check_granularity(double granularity) {
  int exponent = 0;
  if (!std::isnormal(granularity) || std::frexp(granularity, &exponent) != 0.5) {
    throw InvalidArgument(fmt::format(
        "the grid needs a spacing that is a positive power of two, not {}", granularity));
  }
}

}  // namespace

double granularity_for(double scale) {
  if (!(scale >= 0x1p-900 && scale <= 0x1p900)) {
    throw InvalidArgument(
        fmt::format("noise on the grid needs a scale in [2^-900, 2^900], not {}", scale),
        "express the query in another unit");
  }
  int exponent = 0;
  std::frexp(scale, &exponent);  // 2^(exponent−1) ≤ scale < 2^exponent
  return std::ldexp(1.0, exponent - 40);
}

int128 to_grid(double value, double granularity) {
  check_granularity(granularity);
  if (std::isnan(value))
    throw InvalidArgument("a value that is not a number cannot be put on a grid",
                          "map it to a number first");
  int value_exponent = 0, grid_exponent = 0;
  const double fraction = std::frexp(value, &value_exponent);
  std::frexp(granularity, &grid_exponent);
  // value/granularity = mantissa · 2^power exactly, |mantissa| < 2^53.
  if (!std::isfinite(value)) return value > 0 ? kLimit : -kLimit;
  const auto mantissa = static_cast<std::int64_t>(std::ldexp(fraction, 53));
  const int power = value_exponent - 53 - (grid_exponent - 1);
  if (mantissa == 0 || power < -62) return 0;  // |value/g| < 2^-9
  if (power >= 0) {
    if (power + 53 > kLimitBits) return mantissa > 0 ? kLimit : -kLimit;
    return static_cast<int128>(mantissa) * (static_cast<int128>(1) << power);
  }
  return (mantissa + (std::int64_t{1} << (-power - 1))) >>
         -power;  // ⌊· + ½⌋: the shift of a negative number rounds down
}

double from_grid(int128 steps, double granularity) {
  check_granularity(granularity);
  return static_cast<double>(steps) * granularity;
}

double grid_sensitivity(double sensitivity, double granularity, Norm norm, std::size_t dimension) {
  check_granularity(granularity);
  const double steps = sensitivity / granularity;
  if (!(sensitivity >= 0) || !std::isfinite(steps)) {
    throw InvalidArgument(
        fmt::format("a sensitivity of {} cannot be expressed on a grid of spacing {}", sensitivity,
                    granularity));
  }
  if (sensitivity == 0) return 0;
  if (dimension <= 1 || norm == Norm::linf) return std::ceil(steps);
  const auto d = static_cast<double>(dimension);
  const double rounding = norm == Norm::l1 ? d : std::sqrt(d);
  return (steps + rounding) * (1 + 0x1p-50);  // the factor covers the rounding of √ and of the sum
}

}  // namespace sotto
