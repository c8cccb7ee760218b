// Rényi divergences of sampled mechanisms.
//
// What       Poisson sampling of a Gaussian (exact), of mixtures of Gaussians, of a Laplace, of any
//            mechanism of known Rényi curve; sampling a fixed number without replacement.
// Guarantee  Upper bounds for both directions of the relation; exact ones where the text says
//            exact. Never above the unsampled curve where sampling cannot hurt.
// Method     Integer orders of the sampled Gaussian: the positive sum Σ C(α,k) q^k (1−q)^(α−k)
//            (e^(k(k−1)/2s²) − 1).
//            Real orders: 12-point Gauss–Legendre panels of power_excess under the normal density.
//            Large real orders and bounds known at integers only: ln A is convex in α, so linear
//            interpolation between integers is an upper bound.
// Numerics   Quadrature errs below 1e-12 relative (panels a quarter of a standard deviation, and
//            short against the distance π/c of the nearest singularity); widened by 1e-10 plus the
//            roundings of ln Γ.
// Reference  [MTZ19] sampled Gaussian; [ZW19] general Poisson; [WBK19] without replacement;
//            docs/math/renyi.md.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sotto/accounting/renyi/renyi_conversion.hpp"

namespace sotto {

inline constexpr double kLargestSampledOrder = 1e5;  // integer sums are linear in the order

// P = (1−q)N(0,s²) + qN(1,s²) against Q = N(0,s²), both directions (removing dominates).
double renyi_sampled_gaussian(double rate, double noise_multiplier, double order);

// P = Σ p_i N(c_i, 1) against N(0, 1), both directions. c_i ≥ 0 in units of the noise.
double renyi_gaussian_mixture(std::span<const double> shifts, std::span<const double> probabilities,
                              double order);

// Replace-one under Poisson sampling of a sum of contributions: (1−q)N(0,s²) + qN(±1,s²) against
// each other.
double renyi_sampled_gaussian_replace(double rate, double noise_multiplier, double order);

// Poisson sampling of Laplace noise of shift t = contribution / scale, add or remove.
double renyi_sampled_laplace(double rate, double shift, double order);

// Poisson sampling of any mechanism whose divergence (both directions) is bounded by inner, which
// is asked once at each whole order.
RenyiBound renyi_sampled_general(double rate, RenyiBound inner);

// ≤ ln(1 − q + q e^((α−1) r(α)))/(α−1): all that joint convexity gives, for neighbours that differ
// only when the record is drawn.
double renyi_sampled_convex(double rate, double divergence, double order);

// A fixed-size sample without replacement, neighbours by replacement: size / population = rate. The
// returned bound keeps tables.
RenyiBound renyi_without_replacement_gaussian(double rate, double noise_multiplier);
RenyiBound renyi_without_replacement(double rate, RenyiBound inner, double pure_epsilon);

// (k − 1)·r(k) at whole orders k, each asked for once.
class WholeMoments {
 public:
  explicit WholeMoments(RenyiBound inner) : inner_(std::move(inner)) {}
  double operator[](std::uint64_t order) {
    while (known_.size() <= order) {
      const auto k = static_cast<double>(known_.size());
      known_.push_back(k < 2 ? 0 : (k - 1) * inner_(k));
    }
    return known_[order];
  }

 private:
  RenyiBound inner_;
  std::vector<double> known_;
};

// Value at a real order from values at integers of a bound r ≥ D: linear in (α−1)r, which is 0 at α
// = 1.
double interpolate_integer_orders(const std::function<double(std::uint64_t)>& divergence,
                                  double order);

}  // namespace sotto
