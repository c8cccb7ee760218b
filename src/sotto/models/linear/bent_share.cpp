#include "sotto/models/linear/detail/bent_share.hpp"

#include <algorithm>

namespace sotto {
namespace {

// Contraction takes half of the noise back, about.
double more_than_noise(double length, double noisy) {
  constexpr double kLeft = 0.5;
  return length > 0 ? std::max(0.0, 1 - kLeft * noisy / length) : 0.0;
}

}  // namespace

std::vector<double> BentShare::of(const std::vector<double>& latent, double noise) {
  // Variances of velocity and place, and their covariance, were there nothing but noise.
  velocity_ = momentum_ * momentum_ * velocity_ + noise * noise;
  const double dragged = momentum_ * both_;
  place_ += 2 * rate_ * dragged + rate_ * rate_ * velocity_;
  both_ = dragged + rate_ * velocity_;
  std::vector<double> theta = latent, shares;
  double length = 0, expected = 0;
  for (const GradientScale::Run& run : runs_) {
    double own = 0, noisy = 0;
    for (std::size_t j = run.first; j < run.first + run.count; ++j) {
      const double pace = paces_.empty() ? 1.0 : paces_[j];
      own += latent[j] * latent[j];
      noisy += pace * pace * place_;
    }
    shares.push_back(more_than_noise(own, noisy));
    length += own;
    expected += noisy;
  }
  const double together = more_than_noise(length, expected);
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    const double factor = std::max(shares[r], together);
    for (std::size_t j = 0; j < runs_[r].count; ++j) theta[runs_[r].first + j] *= factor;
  }
  return theta;
}

}  // namespace sotto
