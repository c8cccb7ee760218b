#include "sotto/models/linear/loss.hpp"

#include <cmath>

namespace sotto {

std::string_view name(Loss loss) {
  switch (loss) {
    case Loss::logistic: return "logistic";
    case Loss::huber_hinge: return "huber_hinge";
    case Loss::squared: return "squared";
  }
  return "logistic";
}

double loss_value(Loss loss, double margin, double y) {
  const double t = y * margin;
  switch (loss) {
    case Loss::logistic: return t > 0 ? std::log1p(std::exp(-t)) : -t + std::log1p(std::exp(t));
    case Loss::huber_hinge: {
      constexpr double h = kHuberHalfWidth;
      if (t > 1 + h) return 0;
      if (t < 1 - h) return 1 - t;
      return (1 + h - t) * (1 + h - t) / (4 * h);
    }
    case Loss::squared: return 0.5 * (margin - y) * (margin - y);
  }
  return 0;
}

double loss_slope(Loss loss, double margin, double y) {
  const double t = y * margin;
  switch (loss) {
    case Loss::logistic: {
      const double e = std::exp(-std::fabs(t));
      return -y * (t > 0 ? e : 1.0) / (1 + e);
    }
    case Loss::huber_hinge: {
      constexpr double h = kHuberHalfWidth;
      if (t > 1 + h) return 0;
      if (t < 1 - h) return -y;
      return -y * (1 + h - t) / (2 * h);
    }
    case Loss::squared: return margin - y;
  }
  return 0;
}

double loss_curvature(Loss loss, double margin, double y) {
  const double t = y * margin;
  switch (loss) {
    case Loss::logistic: {
      const double e = std::exp(-std::fabs(t));
      return e / ((1 + e) * (1 + e));
    }
    case Loss::huber_hinge:
      return std::fabs(1 - t) <= kHuberHalfWidth ? 1 / (2 * kHuberHalfWidth) : 0;
    case Loss::squared: return 1;
  }
  return 0;
}

double lipschitz_bound(Loss loss) { return loss == Loss::squared ? 0 : 1; }

double curvature_bound(Loss loss) {
  switch (loss) {
    case Loss::logistic: return 0.25;
    case Loss::huber_hinge: return 1 / (2 * kHuberHalfWidth);
    case Loss::squared: return 1;
  }
  return 1;
}

}  // namespace sotto
