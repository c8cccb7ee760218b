#include "sotto/models/linear/detail/non_private_fit.hpp"

#include <algorithm>

#include "sotto/core/error.hpp"
#include "sotto/models/linear/detail/minimiser.hpp"

namespace sotto {
namespace {

constexpr double kLeastSpread = .05;      // added: no column is free of the ridge
constexpr double kInterceptWeight = .04;  // no column, so nearly free

// With weights w_j = c·(spread_j + least)² a ridge on θ is one on the parameters of standardised
// columns; c makes them as long together as the columns themselves, so that λ means the same.
std::vector<double> ridge_weights(const ExactRows& rows, const std::vector<double>& spreads) {
  const bool intercept = rows.intercept() != 0;
  if (spreads.size() + (intercept ? 1 : 0) != rows.dimension())
    throw InvalidArgument("there must be one spread for each feature");
  double length = 0, standardised = 0;
  std::vector<double> weights;
  for (const double spread : spreads) {
    const double unit = spread + kLeastSpread;
    length += spread * spread;
    standardised += spread * spread / (unit * unit);
    weights.push_back(unit * unit);
  }
  if (!(length > 0)) return {};  // nothing spreads
  for (double& w : weights) w *= standardised / length;
  if (intercept) weights.push_back(kInterceptWeight);
  return weights;
}

}  // namespace

Unprotected<LinearModel> fit_without_privacy(const ExactRows& rows,
                                             const NonPrivateOptions& options) {
  const double n = static_cast<double>(std::max<std::size_t>(rows.size(), 1));
  ConvexProblem problem(rows, options.loss, options.outputs, options.regularisation * n, {},
                        options.threads);
  if (!options.spreads.empty())
    if (auto weights = ridge_weights(rows, options.spreads); !weights.empty())
      problem.weigh_ridge(std::move(weights));
  Minimum minimum = minimise(problem, 1e-9 * n);
  return {model_for(rows, options.loss, options.outputs, std::move(minimum.theta))};
}

LinearModel model_for(const ExactRows& rows, Loss loss, std::size_t outputs,
                      std::vector<double> weights) {
  return {.loss = loss,
          .features = rows.dimension() - (rows.intercept() != 0 ? 1 : 0),
          .outputs = outputs,
          .norm_bound = rows.norm_bound(),
          .scale = rows.scale(),
          .intercept = rows.intercept(),
          .weights = std::move(weights)};
}

}  // namespace sotto
