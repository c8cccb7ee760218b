#include "sotto/deep/cost.hpp"

namespace sotto::deep {
namespace {

// A float that goes to memory and comes back costs about as much as this many multiplications.
constexpr double kPerFloat = 24;
// A product of doubles, and turning floats into them, by one of floats.
constexpr double kDoubleProduct = 3;

}  // namespace

NormWay cheapest_norm(const OuterShape& s, const NormRoom& room) {
  const auto t = static_cast<double>(s.terms), d = static_cast<double>(s.inputs),
             p = static_cast<double>(s.outputs);
  const double product = t * d * p, gram = t * (t + 1) / 2 * (d + p);
  const double again = room.double_sums ? kDoubleProduct * product : product;
  const double keep = product + kPerFloat * d * p, ghost = gram + again, forget = product + again;
  const double kept_bytes = static_cast<double>(s.records) * d * p * sizeof(float);
  if (kept_bytes <= static_cast<double>(room.memory) && keep <= ghost) return NormWay::keep;
  return ghost <= forget ? NormWay::ghost : NormWay::forget;
}

}  // namespace sotto::deep
