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
  const std::uint64_t published = std::bit_floor(static_cast<std::uint64_t>(most));
  if (published == 1) return published;
  const auto error = [&](std::uint64_t blocks) {
    const double share = 1 / static_cast<double>(categories),
                 block = 1 / static_cast<double>(std::min(blocks, categories));
    return BlockLaw(HadamardResponse(epsilon, categories, blocks)).variance(share, block);
  };
  return error(published / 2) < error(published) ? published / 2 : published;
}

HadamardResponse::HadamardResponse(double epsilon, std::uint64_t categories, std::uint64_t blocks)
    : categories_(categories), blocks_(blocks) {
  if (categories < 2) throw InvalidArgument("a protocol needs two categories or more");
  if (!std::has_single_bit(blocks) || blocks > std::uint64_t{1} << 26)
    throw InvalidArgument("the number of `blocks` is a power of two");
  block_size_ = std::bit_ceil((categories + blocks - 1) / blocks + 1);
  const std::uint64_t half = block_size_ / 2;
  const auto own = static_cast<long double>(half),
             rest = static_cast<long double>(columns() - half);
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

BlockLaw::BlockLaw(const HadamardResponse& r) : one_block(r.blocks() == 1) {
  const double half = static_cast<double>(r.block_size()) / 2,
               rest = static_cast<double>(r.columns()) - half;
  const double away = (1 - r.p()) / rest;  // of one column that is not the value's
  own = r.p();
  same_block = r.p() / 2 + away * half / 2;
  elsewhere = away * half;
  block_own = r.p() + away * half;
  block_elsewhere = away * 2 * half;
}

// f̂ is linear in three indicators of a report: in the own columns, in the rest of the own block,
// elsewhere. Its variance follows from the value that each makes of it.
double BlockLaw::variance(double share, double block_share) const {
  double at_own = 0, at_block = 0, at_rest = 0;
  const double gap = own - same_block;
  if (one_block) {
    at_own = (1 - same_block) / gap, at_block = at_rest = -same_block / gap;
  } else {
    const double block_gap = block_own - block_elsewhere;
    const auto value = [&](double in_own, double in_block) {
      const double block = (in_block - block_elsewhere) / block_gap;
      return (in_own - elsewhere - block * (same_block - elsewhere)) / gap;
    };
    at_own = value(1, 1), at_block = value(0, 1), at_rest = value(0, 0);
  }
  const auto spread = [&](double mine, double block) {
    const double mean = mine * at_own + (block - mine) * at_block + (1 - block) * at_rest;
    return mine * at_own * at_own + (block - mine) * at_block * at_block +
           (1 - block) * at_rest * at_rest - mean * mean;
  };
  return share * spread(own, block_own) + (block_share - share) * spread(same_block, block_own) +
         (1 - block_share) * spread(elsewhere, block_elsewhere);
}

}  // namespace sotto::local
