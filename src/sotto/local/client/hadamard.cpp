#include "sotto/local/client/hadamard.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/local/client/coin.hpp"
#include "sotto/noise/uniform.hpp"

namespace sotto::local {
namespace {

bool positive(std::uint64_t row, std::uint64_t column) {
  return std::popcount(row & column) % 2 == 0;
}

}  // namespace

std::uint64_t best_block_count(double epsilon, std::uint64_t categories) {
  const double most = std::min(std::exp(epsilon), 2 * static_cast<double>(categories));
  return std::bit_floor(static_cast<std::uint64_t>(most));
}

HadamardResponse::HadamardResponse(double epsilon, std::uint64_t categories, std::uint64_t blocks)
    : categories_(categories), blocks_(blocks) {
  if (categories < 2) throw InvalidArgument("a protocol needs two categories or more");
  if (!std::has_single_bit(blocks) || blocks > std::uint64_t{1} << 26)
    throw InvalidArgument("the number of `blocks` is a power of two");
  block_size_ = std::bit_ceil((categories + blocks - 1) / blocks + 1);
  const auto own = static_cast<long double>(block_size_ / 2),
             rest = static_cast<long double>(columns() - block_size_ / 2);
  elsewhere_ = dyadic_share_above(rest, own * std::exp(inner_epsilon(epsilon)));
  epsilon_ = log_ratio_up(dyadic_rest(elsewhere_) * rest, dyadic(elsewhere_) * own);
}

double HadamardResponse::p() const { return static_cast<double>(dyadic_rest(elsewhere_)); }

void HadamardResponse::answer(const Value& value, Memory*, Rng& rng,
                              std::span<std::uint8_t> report) const {
  const std::uint64_t own = category(value, categories_), half = block_size_ / 2;
  const bool away = flip(rng, elsewhere_);
  // Where, if away: the other half of the own block, or a column of another block.
  const std::uint64_t where = uniform_below(rng, columns() - half);
  std::uint64_t column = uniform_below(rng, block_size_), in = block(own);
  if (away && where >= half) {
    column = (where - half) % block_size_;
    const std::uint64_t other = (where - half) / block_size_;
    in = other < in ? other : other + 1;
  } else if (positive(row(own), column) == away) {
    column ^= row(own) & (0 - row(own));
  }
  write_whole(report, in * block_size_ + column);
}

long double HadamardResponse::probability(const Value& value, Bytes report) const {
  const std::uint64_t own = category(value, categories_), column = read_whole(report);
  const std::uint64_t half = block_size_ / 2;
  if (column >= columns()) return 0;
  const bool mine = column / block_size_ == block(own) && positive(row(own), column % block_size_);
  return mine ? dyadic_rest(elsewhere_) / static_cast<long double>(half)
              : dyadic(elsewhere_) / static_cast<long double>(columns() - half);
}

}  // namespace sotto::local
