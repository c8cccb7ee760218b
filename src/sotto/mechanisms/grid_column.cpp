#include "sotto/mechanisms/grid_column.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/noise/grid.hpp"

namespace sotto {
namespace {

std::int64_t bound_on_grid(double bound, double granularity) {
  constexpr int128 limit = static_cast<int128>(1) << 61;
  const int128 steps = to_grid(bound, granularity);
  if (steps > limit || steps < -limit) {
    throw InvalidArgument(
        fmt::format("the bound {} is more than 2^61 lattice steps of {}", bound, granularity),
        "the budget is too large for these bounds, or they lie far from 0 compared with their "
        "width");
  }
  return static_cast<std::int64_t>(steps);
}

}  // namespace

GridColumn::GridColumn(const Bounds& bounds, double granularity, NonFinite policy)
    : bounds_(bounds),
      granularity_(granularity),
      steps_per_unit_(1 / granularity),
      policy_(policy),
      lower_(bound_on_grid(bounds.lower(), granularity)),
      upper_(bound_on_grid(bounds.upper(), granularity)),
      middle_((lower_ + upper_) >> 1) {
  if (lower_ >= upper_) {
    throw InvalidArgument(
        fmt::format("the bounds [{}, {}] fall on one point of the lattice of step {}",
                    bounds.lower(), bounds.upper(), granularity),
        "the budget is too small for these bounds: the noise would be 2^40 times their width");
  }
}

std::int64_t GridColumn::steps(double x, std::uint64_t record) const {
  if (!std::isfinite(x)) [[unlikely]] {
    if (policy_ == NonFinite::refuse) {
      throw DataError(
          fmt::format("record {} is not a finite number", record),
          "remove such records or declare that missing values count as the middle of the bounds");
    }
    return middle_;
  }
  // The same as to_grid, without its checks. Scaling by a power of two is exact, or underflows to
  // something that rounds to 0 as well; y − ⌊y⌋ is exact, or rounds to something above ½ as the
  // exact value is.
  const double y = std::clamp(x, bounds_.lower(), bounds_.upper()) * steps_per_unit_;
  const double whole = std::floor(y);
  return static_cast<std::int64_t>(whole) + (y - whole >= 0.5 ? 1 : 0);
}

}  // namespace sotto
