#include "sotto/noise/block_sampler.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "sotto/noise/detail/dyadic.hpp"
#include "sotto/noise/detail/exp_threshold.hpp"

namespace sotto::detail {
namespace {

// What differs between the laws. The body reaches to `reach` scales, where f is e^-32 or e^-16;
// beyond, blocks of 2^tail_bits body blocks lose at least half their height each: 2w ≥ σ/8 gives
// e^-1, 16w ≥ b gives e^-1.
struct Shape {
  std::uint64_t reach;
  unsigned tail_bits;
  int limit_bits;  // magnitudes up to 2^limit_bits scales
};
constexpr Shape shape(BlockSampler::Law law) {
  return law == BlockSampler::Law::gaussian ? Shape{8, 1, 6} : Shape{16, 4, 11};
}

constexpr std::uint64_t kUnknown =
    std::numeric_limits<std::uint64_t>::max();  // an exponent of 32 or more

std::uint64_t ceil_divide(uint128 a, uint128 b) {
  return static_cast<std::uint64_t>((a + b - 1) / b);
}

// ½x² for x in units of 2^-58, rounded down, or up by one unit.
std::uint64_t half_square(std::uint64_t x, bool up) {
  const uint128 t = (static_cast<uint128>(x) * x >> (kExponentBits + 1)) + (up ? 1 : 0);
  return t >> 63 != 0 ? kUnknown : static_cast<std::uint64_t>(t);
}

}  // namespace

BlockSampler::BlockSampler(Law law, double scale) : law_(law) {
  const Dyadic d = dyadic(scale);
  numerator_ = d.numerator;
  shift_ = d.shift;
  limit_ = numerator_ << shape(law).limit_bits >> shift_;

  auto table = std::make_shared<Table>();
  // Blocks of 2^bits integers with 2^bits ≤ scale/8 < 2^(bits+1), or single integers.
  table->block_bits = std::max(0, static_cast<int>(std::bit_width(numerator_)) - shift_ - 4);
  const uint128 width = static_cast<uint128>(1)
                        << (table->block_bits + shift_);  // in units of scale/numerator_
  table->blocks = static_cast<std::uint32_t>(
      ceil_divide(shape(law).reach * static_cast<uint128>(numerator_), width));
  const std::uint32_t n = table->blocks;

  const bool steep = width >= 32 * static_cast<uint128>(numerator_);
  width_lo_ = steep ? kUnknown : static_cast<std::uint64_t>((width << kExponentBits) / numerator_);
  width_hi_ = steep ? kUnknown : width_lo_ + 1;

  // f at the start of every block, by recursion: f(i+1) = f(i)·step(i), step(i+1) = step(i)·bend.
  Interval step, bend{kOne, kOne};
  if (steep) {
    step = exp_minus<16>(kUnknown, kUnknown);
  } else if (law == Law::laplace) {
    step = exp_minus<16>(width_lo_, width_hi_);
  } else {
    step = exp_minus<16>(half_square(width_lo_, false), half_square(width_hi_, true));
    bend = step * step;
  }
  std::vector<Interval> f(n + 1);
  f[0] = {kOne, kOne};
  for (std::uint32_t i = 0; i < n; ++i) {
    f[i + 1] = f[i] * step;
    step = step * bend;
  }

  // C as large as the cells allow: Σ⌈C·f⌉ ≤ C·Σf + n, and one cell is for the tail.
  uint128 sum = 0;
  for (std::uint32_t i = 0; i < n; ++i) sum += f[i].hi;
  per_height_ = static_cast<std::uint64_t>((static_cast<uint128>(kCells - 1 - n) << 63) / sum);

  table->cells.fill(static_cast<std::uint16_t>(n + 1));
  std::size_t cell = 0;
  constexpr int kToCoin = 63 - kCoinBits;
  const auto coin_up = [](std::uint64_t x) { return (x >> kToCoin) + 1; };
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint64_t height = ceil_divide(static_cast<uint128>(per_height_) * f[i].hi, kOne);
    const auto scaled_lo = [&](std::uint64_t x) {
      return static_cast<std::uint64_t>(static_cast<uint128>(per_height_) * x / height);
    };
    const Interval bias{scaled_lo(f[i].lo), std::min(kOne, scaled_lo(f[i].hi) + 1)};
    const Interval last =
        table->block_bits == 0 ? f[i] : f[i + 1];  // f of the block's last integer is at least this
    table->heights.push_back(static_cast<std::uint32_t>(height));
    table->bias.push_back(bias);
    table->surely.push_back(scaled_lo(last.lo) >> kToCoin);
    table->possibly.push_back(coin_up(bias.hi));
    std::fill_n(table->cells.begin() + static_cast<std::ptrdiff_t>(cell), height,
                static_cast<std::uint16_t>(i));
    cell += height;
  }
  table->cells[kCells - 1] = static_cast<std::uint16_t>(
      n);  // the tail; its first block has bias at most C·2^(tail_bits+1)·f(n)
  table->surely.insert(table->surely.end(), {0, 0});
  table->possibly.insert(table->possibly.end(),
                         {coin_up((per_height_ << (shape(law).tail_bits + 1)) * f[n].hi), 0});
  add_lines(*table, f);
  table_ = std::move(table);
}

bool BlockSampler::settle(Rng& rng, std::uint32_t block, std::uint64_t coin, std::uint64_t place,
                          std::uint64_t& magnitude) const {
  const Table& table = *table_;
  if (coin >= table.possibly[block]) return false;
  if (block == table.blocks) return settle_tail(rng, coin, magnitude);
  if (table.block_bits > 0) {
    const Interval bias = table.bias[block] * decay_inside(block, place);
    constexpr int kToCoin = 63 - kCoinBits;
    if (coin < bias.lo >> kToCoin) return true;
    if (coin > bias.hi >> kToCoin) return false;
  }
  return settle_exactly(rng, coin, magnitude, table.heights[block], 0);
}

// f(start of block + place)/f(start of block).
Interval BlockSampler::decay_inside(std::uint32_t block, std::uint64_t place) const {
  // α = place/scale = (place/width)·(width/scale), in 2^-58.
  const uint128 fraction = static_cast<uint128>(place) << (64 - table_->block_bits);
  const auto lo = static_cast<std::uint64_t>(fraction * width_lo_ >> 64);
  const auto hi = static_cast<std::uint64_t>(fraction * width_hi_ >> 64) + 1;
  if (law_ == Law::laplace) return exp_minus<10>(lo, hi);
  // ((s+α)² − s²)/2 = α·(s + α/2) with s = block·width/scale.
  const auto product = [&](std::uint64_t alpha, std::uint64_t width) {
    return static_cast<std::uint64_t>(static_cast<uint128>(alpha) * (block * width + alpha / 2) >>
                                      kExponentBits);
  };
  return exp_minus<10>(product(lo, width_lo_), product(hi, width_hi_) + 2);
}

bool BlockSampler::settle_tail(Rng& rng, std::uint64_t coin, std::uint64_t& magnitude) const {
  // Block v of the tail with probability 2^-(v+1).
  unsigned v = 0;
  std::uint64_t word = 0;
  while ((word = rng.next_u64()) == 0) v += 64;
  v += static_cast<unsigned>(std::countr_zero(word));
  const int bits = table_->block_bits + static_cast<int>(shape(law_).tail_bits);
  const uint128 z = (static_cast<uint128>(table_->blocks) << table_->block_bits) +
                    (static_cast<uint128>(v) << bits) + (rng.next_u64() >> (64 - bits));
  if (z > limit_) return false;
  magnitude = static_cast<std::uint64_t>(z);
  return settle_exactly(rng, coin, magnitude, 1, shape(law_).tail_bits + 1 + v);
}

bool BlockSampler::settle_exactly(Rng& rng, std::uint64_t coin, std::uint64_t magnitude,
                                  std::uint64_t height, unsigned doublings) const {
  const std::uint64_t first = coin << (64 - kCoinBits) | rng.next_u64() >> kCoinBits;
  const std::uint64_t scaled = magnitude << shift_;  // ≤ 2^limit_bits · numerator_
  ExpThreshold threshold{
      .p = per_height_, .q = height, .s = doublings, .a = {scaled, 1}, .b = {numerator_, 1}};
  if (law_ == Law::gaussian)
    threshold.a = {scaled, scaled}, threshold.b = {numerator_, 2 * numerator_};
  return below_exp_threshold(rng, first, threshold);
}

}  // namespace sotto::detail
