#include "sotto/models/linear/detail/non_private_fit.hpp"

#include <algorithm>

#include "sotto/models/linear/detail/minimiser.hpp"

namespace sotto {

Unprotected<LinearModel> fit_without_privacy(const ExactRows& rows,
                                             const NonPrivateOptions& options) {
  const double n = static_cast<double>(std::max<std::size_t>(rows.size(), 1));
  const ConvexProblem problem(rows, options.loss, options.outputs, options.regularisation * n, {},
                              options.threads);
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
