#include "sotto/local/client/rounded_bit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "sotto/core/error.hpp"
#include "sotto/local/client/coin.hpp"
#include "sotto/local/client/memory.hpp"

namespace sotto::local {

RoundedBit::RoundedBit(double epsilon, Bounds bounds, std::uint64_t grid, double gamma)
    : bounds_(bounds), bit_(epsilon, bounds), grid_(grid), gamma_(0) {
  if (grid < 1 || grid > 4096) throw InvalidArgument("the `grid` has 1 to 4096 steps");
  if (!(gamma >= 0 && gamma < 0.5)) throw InvalidArgument("`gamma` is 0 or more and below 0.5");
  if (gamma > 0) gamma_ = dyadic_below(gamma);
  const long double low = q(), high = 1 - low;
  // q comes as a double: 2^-49 covers its rounding; turning over never costs more than the bit.
  epsilon_ = std::min(bit_.epsilon(), log_ratio_up(high, low * (1 - 0x1p-49L)));
}

double RoundedBit::q() const {
  const long double g = dyadic(gamma_), q = bit_.q();
  return static_cast<double>(g + (1 - 2 * g) * q);
}

void RoundedBit::answer(const Value& value, Memory* memory, Rng& rng,
                        std::span<std::uint8_t> report) const {
  Memory& kept = needed(memory);
  const double exact = place_in(bounds_, number(value)) * static_cast<double>(grid_);
  const double whole = std::floor(exact);
  const std::string drawn = kept.recall("#alpha", 8, rng);
  const auto alpha = static_cast<double>(
      dyadic(read_whole({reinterpret_cast<const std::uint8_t*>(drawn.data()), 8}) | 1));
  const auto point = std::min(
      static_cast<std::uint64_t>(whole) + (exact - whole + alpha >= 1 && exact > whole ? 1 : 0),
      grid_);
  Rng permanent = permanent_rng(kept, fmt::format("point {}", point), rng);
  const bool bit = bit_.draw(static_cast<double>(point) / static_cast<double>(grid_), permanent);
  const bool turned = flip(rng, gamma_);
  report[0] = bit != turned ? 1 : 0;
}

long double RoundedBit::probability(const Value& value, Bytes report) const {
  const long double place = place_in(bounds_, number(value)), low = q();
  const long double one = low + place * (1 - 2 * low);
  return report[0] == 1 ? one : 1 - one;
}

}  // namespace sotto::local
