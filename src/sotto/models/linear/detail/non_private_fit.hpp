// The non-private baseline: the same losses and rows, no noise, no guarantee.
#pragma once

#include <cstddef>
#include <vector>

#include "sotto/core/release.hpp"
#include "sotto/models/linear/exact_rows.hpp"
#include "sotto/models/linear/linear_model.hpp"

namespace sotto {

struct NonPrivateOptions {
  Loss loss = Loss::logistic;
  std::size_t outputs = 1;
  double regularisation = 1e-6;  // λ of the mean loss plus (λ/2)‖θ‖²
  // How far each feature spreads, in public records; the ridge is on what a spread does. Empty:
  // on what a step of 1 does.
  std::vector<double> spreads = {};
  unsigned threads = 0;
};

Unprotected<LinearModel> fit_without_privacy(const ExactRows& rows,
                                             const NonPrivateOptions& options);

// A model for records encoded like these rows.
LinearModel model_for(const ExactRows& rows, Loss loss, std::size_t outputs,
                      std::vector<double> weights);

}  // namespace sotto
