#include "sotto/accounting/composition/basic.hpp"

#include <cmath>

#include "sotto/core/numeric/outward.hpp"

namespace sotto {

ApproximateDp basic_composition(std::span<const ApproximateDp> parts) {
  ApproximateDp total;
  for (const ApproximateDp& p : parts) {
    const auto count = static_cast<double>(p.count);
    total.epsilon = add_up(total.epsilon, p.count == 1 ? p.epsilon : multiply_up(p.epsilon, count));
    total.delta = add_up(total.delta, p.count == 1 ? p.delta : multiply_up(p.delta, count));
  }
  return total;
}

double total_delta(std::span<const ApproximateDp> parts) {
  if (parts.size() == 1 && parts[0].count == 1) return parts[0].delta;  // exact, so δ may equal it
  double log_kept = 0;
  for (const ApproximateDp& p : parts)
    log_kept += static_cast<double>(p.count) * std::log1p(-p.delta);
  if (log_kept == 0) return 0;
  return std::min(
      1.0, widen_up(-std::expm1(log_kept), 8 * kUlp * static_cast<double>(parts.size() + 1)));
}

}  // namespace sotto
