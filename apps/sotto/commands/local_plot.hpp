// Colours of the protocols in the plots of `sotto local`.
#pragma once

#include <cstddef>
#include <iterator>

#include "sotto/report/svg_plot.hpp"

namespace sotto::cli {

inline constexpr const char* kPlotColors[] = {"#1f5fa8", "#c0392b", "#218c53", "#8e44ad",
                                              "#b9770e", "#117a8b", "#7f6000", "#5d6d7e",
                                              "#d2527f", "#34495e"};
inline const char* plot_color(std::size_t i) { return kPlotColors[i % std::size(kPlotColors)]; }

}  // namespace sotto::cli
