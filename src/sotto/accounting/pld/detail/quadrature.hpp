// Gauss–Legendre quadrature over a piece of a loss law: every term positive, so every integral has
// a small relative error.
//
// Method     [from, to] is cut so that growth × width ≤ 3; the number of nodes (2 to 8) follows
//            from growth × width, so that the remainder w^{2n+1}(n!)⁴/((2n+1)(2n)!³)·max|f^{(2n)}|
//            stays below 1e-15 of the integral.
// Reference  docs/math/pld.md §3.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

namespace sotto {

struct GaussRule {
  int size;
  std::array<double, 8> node, weight;  // on [0, 1]
};

const GaussRule& gauss_rule(double growth_times_width);  // argument at most 3

// Calls f(node, weight) for the nodes of one panel whose growth × width is at most 3.
template <class Piece, class F>
void panel_nodes(const Piece& piece, double from, double width, double growth, F&& f) {
  const GaussRule& rule = gauss_rule(growth * width);
  for (int k = 0; k < rule.size; ++k)
    f(piece.at(from + width * rule.node[k]), width * rule.weight[k]);
}

template <class Piece, class F>
void for_each_node(const Piece& piece, double from, double to, F&& f) {
  while (from < to) {
    const double growth = std::max(piece.growth(from), piece.growth(to - from > 1 ? from + 1 : to));
    const int cuts =
        static_cast<int>(std::min(1e9, std::ceil(growth * std::min(to - from, 1.0) / 3)));
    const double end = to - from > 1 ? from + 1 : to, width = (end - from) / cuts;
    for (int c = 0; c < cuts; ++c) panel_nodes(piece, from + c * width, width, growth, f);
    from = end;
  }
}

}  // namespace sotto
