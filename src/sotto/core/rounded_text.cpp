#include "sotto/core/rounded_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace sotto {
namespace {

// The decimal of so many digits nearest to the value, or its neighbour on the wanted side.
std::string rounded(double value, int digits, bool up) {
  std::string text = fmt::format("{:.{}g}", value, digits);
  if (value == 0 || !std::isfinite(value)) return text;
  double shown = std::strtod(text.c_str(), nullptr);
  if (up ? shown >= value : shown <= value) return text;
  const double step = std::pow(10.0, std::floor(std::log10(std::fabs(value))) + 1 - digits);
  // The sum may round back to where it came from only if the step is tiny; more digits are always
  // safe.
  text = fmt::format("{:.{}g}", shown + (up ? step : -step), digits);
  shown = std::strtod(text.c_str(), nullptr);
  return (up ? shown >= value : shown <= value) ? text : fmt::format("{}", value);
}

}  // namespace

std::string round_up(double value, int digits) { return rounded(value, digits, true); }
std::string round_down(double value, int digits) { return rounded(value, digits, false); }

}  // namespace sotto
