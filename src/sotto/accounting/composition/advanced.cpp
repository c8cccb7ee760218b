#include "sotto/accounting/composition/advanced.hpp"

#include <cmath>
#include <numbers>

#include "sotto/core/numeric/outward.hpp"

namespace sotto {
namespace {

double sum_of_squares(std::span<const ApproximateDp> parts) {
  double sum = 0;
  for (const ApproximateDp& p : parts) sum += static_cast<double>(p.count) * p.epsilon * p.epsilon;
  return sum;
}

double slack_for(std::span<const ApproximateDp> parts) {
  return (16 + 4 * static_cast<double>(parts.size())) * kUlp;
}

}  // namespace

double advanced_epsilon_drv(std::span<const ApproximateDp> parts, Delta slack) {
  double drift = 0;
  for (const ApproximateDp& p : parts) {
    drift += static_cast<double>(p.count) * p.epsilon * std::expm1(p.epsilon);
  }
  const double deviation = std::sqrt(-2 * std::log(slack.value()) * sum_of_squares(parts));
  return widen_up(drift + deviation, slack_for(parts));
}

double advanced_epsilon_kov(std::span<const ApproximateDp> parts, Delta slack) {
  double drift = 0, total = 0;
  for (const ApproximateDp& p : parts) {
    drift += static_cast<double>(p.count) * p.epsilon * std::tanh(p.epsilon / 2);
    total += static_cast<double>(p.count) * p.epsilon;
  }
  const double squares = sum_of_squares(parts);
  const double plain = std::sqrt(-2 * std::log(slack.value()) * squares);
  const double capped =
      std::sqrt(2 * squares * std::log(std::numbers::e + std::sqrt(squares) / slack.value()));
  return widen_up(std::min(total, drift + std::min(plain, capped)), slack_for(parts));
}

}  // namespace sotto
