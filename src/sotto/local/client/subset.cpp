#include "sotto/local/client/subset.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/local/client/coin.hpp"
#include "sotto/local/client/unary.hpp"
#include "sotto/noise/uniform.hpp"

namespace sotto::local {

std::uint64_t best_subset_size(double epsilon, std::uint64_t categories) {
  const double size = std::round(static_cast<double>(categories) / (std::exp(epsilon) + 1));
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(size), 1, categories - 1);
}

SubsetSelection::SubsetSelection(double epsilon, std::uint64_t categories, std::uint64_t size)
    : categories_(categories), size_(size) {
  if (categories < 2) throw InvalidArgument("a protocol needs two categories or more");
  if (size < 1 || size >= categories)
    throw InvalidArgument("a subset has at least one category and not all of them");
  const auto in = static_cast<long double>(size), out = static_cast<long double>(categories - size);
  without_ = dyadic_share_above(out, in * std::exp(inner_epsilon(epsilon)));
  epsilon_ = log_ratio_up(dyadic_rest(without_) * out, dyadic(without_) * in);
}

double SubsetSelection::p() const { return static_cast<double>(dyadic_rest(without_)); }
double SubsetSelection::q() const {
  const auto s = static_cast<long double>(size_),
             others = static_cast<long double>(categories_ - 1);
  return static_cast<double>((dyadic_rest(without_) * (s - 1) + dyadic(without_) * s) / others);
}

void SubsetSelection::answer(const Value& value, Memory*, Rng& rng,
                             std::span<std::uint8_t> report) const {
  const std::uint64_t own = category(value, categories_);
  const bool with = !flip(rng, without_);
  // Of the others, `wanted` are in: mark those or, if fewer, the ones that are not.
  const std::uint64_t others = categories_ - 1, wanted = with ? size_ - 1 : size_;
  const bool mark = wanted <= others / 2;
  std::fill(report.begin(), report.end(), mark ? std::uint8_t{0} : std::uint8_t{0xFF});
  set_bit(report, own, with);
  for (std::uint64_t left = mark ? wanted : others - wanted; left > 0;) {
    const std::uint64_t draw = uniform_below(rng, others), other = draw < own ? draw : draw + 1;
    if (bit_of(report, other) == mark) continue;
    set_bit(report, other, mark);
    --left;
  }
  for (std::uint64_t i = categories_; i < 8 * report.size(); ++i) set_bit(report, i, false);
}

long double SubsetSelection::probability(const Value& value, Bytes report) const {
  const std::uint64_t own = category(value, categories_);
  std::uint64_t size = 0;
  for (std::uint64_t i = 0; i < categories_; ++i) size += bit_of(report, i) ? 1 : 0;
  if (size != size_) return 0;
  const bool with = bit_of(report, own);
  const std::uint64_t wanted = with ? size_ - 1 : size_;
  long double sets = 1;
  for (std::uint64_t i = 0; i < wanted; ++i)
    sets *= static_cast<long double>(categories_ - 1 - i) / static_cast<long double>(i + 1);
  return (with ? dyadic_rest(without_) : dyadic(without_)) / sets;
}

}  // namespace sotto::local
