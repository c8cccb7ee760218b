#include "sotto/data/hat_basis.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sotto {
namespace {

constexpr double kBend = 1000;  // how much finer the logarithmic scale is at its centre

struct Hats {
  std::size_t first;  // this hat and the next are the ones that may not be 0
  double left, right;
};

// u in [0, 1].
Hats hats_at(double u) {
  const double place = u * (HatBasis::kHats - 1);
  const double floor = std::min(std::floor(place), HatBasis::kHats - 2.0);
  const double part = place - floor;  // exact, in [0, 1]
  return {static_cast<std::size_t>(floor), (1 - part) * HatBasis::kHatHeight,
          part * HatBasis::kHatHeight};
}

double on_linear_scale(double t) { return std::clamp((t + 1) / 2, 0.0, 1.0); }

}  // namespace

HatBasis::HatBasis(Bounds bounds) {
  const double middle = std::midpoint(bounds.lower(), bounds.upper());
  const double half = (bounds.upper() - bounds.lower()) / 2;
  const double zero = std::clamp(0.0, bounds.lower(), bounds.upper());
  center_ = std::clamp((zero - middle) / half, -1.0, 1.0);
  reach_ = std::max(1 - center_, center_ + 1);
  const double low = bent(-1), high = bent(1);
  start_ = low;
  length_ = high - low;
}

double HatBasis::bent(double t) const {
  return std::copysign(std::log1p(kBend * std::fabs(t - center_) / reach_), t - center_);
}

double HatBasis::on_log_scale(double t) const {
  return std::clamp((bent(t) - start_) / length_, 0.0, 1.0);
}

void HatBasis::write(double t, double factor, std::span<double, kWidth> out) const {
  std::fill(out.begin(), out.end(), 0.0);
  const Hats linear = hats_at(on_linear_scale(t)), log = hats_at(on_log_scale(t));
  out[linear.first] = linear.left * factor;
  out[linear.first + 1] = linear.right * factor;
  out[kHats + log.first] = log.left * factor;
  out[kHats + log.first + 1] = log.right * factor;
}

double HatBasis::square(double t) const {
  const Hats linear = hats_at(on_linear_scale(t)), log = hats_at(on_log_scale(t));
  return linear.left * linear.left + linear.right * linear.right + log.left * log.left +
         log.right * log.right;
}

double HatBasis::peak(std::size_t hat) const {
  const double u = static_cast<double>(hat % kHats) / (kHats - 1);
  if (hat < kHats) return 2 * u - 1;
  const double value = start_ + u * length_;
  return std::clamp(center_ + std::copysign(std::expm1(std::fabs(value)) * reach_ / kBend, value),
                    -1.0, 1.0);
}

}  // namespace sotto
