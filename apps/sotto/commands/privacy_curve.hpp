// The privacy profile δ(ε) of a specification, sampled for a file: a picture (SVG) or a table
// (CSV).
#pragma once

#include <string>
#include <vector>

#include "shell/context.hpp"
#include "sotto/accounting/bound.hpp"
#include "sotto/core/spec.hpp"

namespace sotto::cli {

struct CurvePoint {
  double epsilon, upper, lower;
};

// ε from 0 to `largest` in equal steps.
std::vector<CurvePoint> privacy_curve(const Spec& spec, const AccountOptions& options,
                                      double largest, Context& context);

std::string curve_csv(const std::vector<CurvePoint>& curve);
// (epsilon, delta) is the answer that was asked for; it is marked.
std::string curve_svg(const std::vector<CurvePoint>& curve, Relation relation, double epsilon,
                      double delta);

}  // namespace sotto::cli
