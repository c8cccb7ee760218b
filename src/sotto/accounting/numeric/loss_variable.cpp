#include "sotto/accounting/numeric/detail/loss_variable.hpp"

#include <cmath>

#include "sotto/core/numeric/mills.hpp"
#include "sotto/core/numeric/outward.hpp"

namespace sotto {

LossVariable LossVariable::gaussian(double mu) {
  return {Kind::gaussian, mu, 0, mu * mu / 2, mu * mu};
}

LossVariable LossVariable::laplace(double t) {
  const double mean = t + std::expm1(-t);
  const double square = t * t - 2 * t + 4 - std::exp(-t) * (2 * t + 4);
  return {Kind::laplace, t, 0, mean, square - mean * mean};
}

LossVariable LossVariable::randomized_response(double epsilon, std::uint64_t categories) {
  const auto k = static_cast<double>(categories);
  const double truth = 1 / (1 + (k - 1) * std::exp(-epsilon)), other = truth * std::exp(-epsilon);
  const double mean = epsilon * (truth - other);
  return {Kind::response, epsilon, k, mean, epsilon * epsilon * (truth + other) - mean * mean};
}

double LossVariable::tail(double t) const {
  switch (kind_) {
    case Kind::gaussian:
      return parameter_ == 0 ? (t < 0 ? 1 : 0) : normal_sf((t - mean_) / parameter_);
    case Kind::laplace:
      // L > t ⇔ z < (shift − t)/2 inside the clamp; z ~ Laplace(0, 1).
      if (t < -parameter_) return 1;
      if (t >= parameter_) return 0;
      return 1 - 0.5 * std::exp(-(parameter_ - t) / 2);
    case Kind::response: {
      const double truth = 1 / (1 + (categories_ - 1) * std::exp(-parameter_)),
                   other = truth * std::exp(-parameter_);
      if (t < -parameter_) return 1;
      if (t < 0) return 1 - other;
      return t < parameter_ ? truth : 0;
    }
  }
  return 0;
}

double drift_bound(double epsilon) { return widen_up(epsilon * std::tanh(epsilon / 2), 4 * kUlp); }

}  // namespace sotto
