// Detail: means from reports that are places of a window.
//
// What       E[report] = a + b·place for every window, so that sums of reports become the mean
//            place without bias; averaged() adds how far it scatters.
// Reference  docs/math/local-privacy.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/local/client/numbers.hpp"
#include "sotto/local/server/numbers.hpp"

namespace sotto::local {

// Sums of a and a² over n reports of which each estimates the mean: their average, and how far it
// scatters. `least`: what the variance of one report cannot be below. One report does not scatter:
// its error is not known.
inline EstimatedMean averaged(double sum, double squares, double n, double least = 0) {
  const double mean = sum / n;
  if (n < 2) return {mean, std::numeric_limits<double>::infinity()};
  const double variance = (squares / n - mean * mean) * n / (n - 1);
  return {mean, std::sqrt(std::max(least, variance) / n)};
}

inline EstimatedMean scaled(const EstimatedMean& place, const Bounds& bounds) {
  const double width = bounds.upper() - bounds.lower();
  return {bounds.lower() + width * place.value, width * place.standard_error};
}

// The place that the number of a window's place estimates without bias.
struct WindowPlace {
  double shift, scale;
  explicit WindowPlace(const Window& w) {
    const double b = w.blind(), n = static_cast<double>(w.places()),
                 size = static_cast<double>(w.window());
    scale = 1 / ((1 - b) * static_cast<double>(w.positions() - 1));
    shift = b * (n - 1) / 2 + (1 - b) * (size - 1) / 2;
  }
  // Sums over n reports of y and y² become those of the estimates.
  double sum(double y, double n) const { return scale * (y - n * shift); }
  double squares(double y, double y2, double n) const {
    return scale * scale * (y2 - 2 * shift * y + n * shift * shift);
  }
};

}  // namespace sotto::local
