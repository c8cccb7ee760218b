#include "sotto/accounting/numeric/detail/lattice.hpp"

#include <cmath>

#include "sotto/core/numeric/outward.hpp"

namespace sotto {
namespace {

constexpr double kRounding = 4 * kUlp;
constexpr double kWhole = 0x1p52;  // larger numbers are whole anyway

bool near_whole(double x) {
  const double nearest = std::round(x);
  return nearest > 0 && std::abs(x - nearest) <= kRounding * nearest;
}

}  // namespace

double lattice_steps_up(double distance, double granularity) {
  const double x = distance / granularity;
  return near_whole(x) && x < kWhole ? std::round(x) : std::ceil(x);
}

double lattice_steps_down(double distance, double granularity) {
  const double x = distance / granularity;
  return near_whole(x) && x < kWhole ? std::round(x) : std::floor(x);
}

std::vector<double> lattice_vector_below(double steps, std::uint64_t dimension) {
  constexpr std::uint64_t kMost = 4;  // four squares are enough for any whole number
  // The square of √2 may be a rounding below 2.
  double rest = lattice_steps_down(steps * steps, 1);
  std::vector<double> v;
  for (std::uint64_t i = 0; i < dimension && i < kMost; ++i) {
    double part = std::floor(std::sqrt(rest));
    if (part * part > rest) --part;
    if (part < 1) break;
    v.push_back(part);
    rest -= part * part;
    if (rest > 0x1p50) break;  // squares beyond this are not exact; one entry is close enough
  }
  return v;
}

}  // namespace sotto
