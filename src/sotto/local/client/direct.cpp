#include "sotto/local/client/direct.hpp"

#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/local/client/coin.hpp"
#include "sotto/noise/uniform.hpp"

namespace sotto::local {

DirectEncoding::DirectEncoding(double epsilon, std::uint64_t categories) : categories_(categories) {
  if (categories < 2) throw InvalidArgument("a protocol needs two categories or more");
  const auto k = static_cast<long double>(categories);
  blind_ = dyadic_share_above(k, std::expm1(inner_epsilon(epsilon)));
  q_ = dyadic(blind_) / k;
  p_ = dyadic_rest(blind_) + q_;
  epsilon_ = log_ratio_up(dyadic(blind_) + k * dyadic_rest(blind_), dyadic(blind_));
}

std::uint64_t DirectEncoding::draw(std::uint64_t value, Rng& rng) const {
  const bool blind = flip(rng, blind_);
  const std::uint64_t other = uniform_below(rng, categories_);  // drawn whether needed or not
  return blind ? other : value;
}

void DirectEncoding::answer(const Value& value, Memory*, Rng& rng,
                            std::span<std::uint8_t> report) const {
  write_whole(report, draw(category(value, categories_), rng));
}

long double DirectEncoding::probability(const Value& value, Bytes report) const {
  return read_whole(report) == category(value, categories_) ? p_ : q_;
}

}  // namespace sotto::local
