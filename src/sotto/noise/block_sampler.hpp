// The engine of the fast exact samplers: integers with P(z) ∝ f(|z|), f(z) = exp(−z/b) or
// exp(−z²/(2σ²)).
//
// What       Rejection from a histogram with blocks of 2^k integers and heights that are multiples
//            of 1/C, an integer.
// Guarantee  Exact for uniform input words, conditioned on |z| ≤ 64σ (Gaussian) or 2048·b
//            (Laplace), which leaves out less than
//            2^-2900 of the probability. No floating-point arithmetic decides anything.
// Method     The heights c_i ≥ C·f(start of block i) fill 4096 equally likely cells, the last of
//            which is the tail: blocks of halving height for ever. A draw takes 12 bits for the
//            cell, k for the place in the block, one for the sign, and 51 for a coin of bias
//            C·f(z)/c_i. Nearly always the coin is below the smallest bias in its block and z is
//            taken; else bounds of 64 bits decide; else (about once in 2^31 Gaussian, 2^18 Laplace
//            draws) exact arithmetic on as many more bits as needed.
//            Many Gaussian draws at once (fill) take one word each: the coin has 24 bits first and
//            is compared with a line below the bias and one above it, without branches; what lies
//            between the lines, one draw in 600, goes the way of the others.
// Numerics   Tables are bounds in fixed point with directed rounding; docs/math/exact-noise.md
//            proves them and the absence of overflow.
// Reference  [CKS20] for the laws, [MT00] for the idea of quick acceptance in blocks;
//            docs/math/exact-noise.md.
// Not        constant-time: the number of words used depends on the noise, not on data.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sotto/core/rng.hpp"
#include "sotto/noise/fixed_interval.hpp"

namespace sotto::detail {

class BlockSampler {
 public:
  enum class Law { laplace, gaussian };

  // kMinNoiseScale ≤ scale ≤ kMaxNoiseScale, checked by the caller.
  BlockSampler(Law law, double scale);

  std::int64_t sample(Rng& rng) const {
    const Table& table = *table_;
    for (;;) {
      const std::uint64_t word = rng.next_u64();
      const std::uint64_t coin = word << kCellBits >> (64 - kCoinBits);
      const std::uint32_t block = table.cells[word >> (64 - kCellBits)];
      std::uint64_t place = 0;
      if (table.block_bits > 0) place = rng.next_u64() >> (64 - table.block_bits);
      std::uint64_t magnitude = (static_cast<std::uint64_t>(block) << table.block_bits) + place;
      if (coin >= table.surely[block]) [[unlikely]] {
        if (!settle(rng, block, coin, place, magnitude)) continue;
      }
      const bool negative = (word & 1) != 0;
      if (negative && magnitude == 0) continue;  // zero has one sign only
      const auto z = static_cast<std::int64_t>(magnitude);
      return negative ? -z : z;
    }
  }
  // Independent draws, several times as fast as one by one where blocks have 2^16 to 2^27 integers.
  void fill(Rng& rng, std::span<std::int64_t> out) const;

 private:
  friend struct BlockSamplerProbe;  // tests reach branches that chance reaches once in 2^30 draws

  static constexpr int kCellBits = 12, kCoinBits = 51;
  static constexpr std::size_t kCells = std::size_t{1} << kCellBits;
  // fill: bits of the first coin, and of the place in the block that the lines look at.
  static constexpr int kFirstCoinBits = 24, kLineBits = 16;

  // Bounds on 2^24·bias, the block being cut into 2^16 parts: in part t it is at least b = base −
  // ⌊slope·(t + 1)/2^16⌋ and at most b + gap.
  struct Line {
    std::int64_t base, slope, gap;
  };

  struct Table {
    int block_bits = 0;  // a block has 2^block_bits integers
    std::uint32_t blocks =
        0;  // body blocks; index `blocks` is the tail, `blocks + 1` an unused cell
    std::array<std::uint16_t, kCells> cells;  // cell → block
    std::vector<std::uint64_t> surely;  // coins below are accepted, whatever the place in the block
    std::vector<std::uint64_t> possibly;  // coins from here on are refused
    std::vector<Interval> bias;           // of the first integer in the block: C·f/c_i
    std::vector<std::uint32_t> heights;   // c_i
    std::vector<Line> lines;              // of all blocks; none where fill draws one by one
  };

  void add_lines(Table& table, const std::vector<Interval>& f) const;

  bool settle(Rng& rng, std::uint32_t block, std::uint64_t coin, std::uint64_t place,
              std::uint64_t& magnitude) const;
  bool settle_tail(Rng& rng, std::uint64_t coin, std::uint64_t& magnitude) const;
  bool settle_exactly(Rng& rng, std::uint64_t coin, std::uint64_t magnitude, std::uint64_t height,
                      unsigned doublings) const;
  Interval decay_inside(std::uint32_t block, std::uint64_t place) const;

  Law law_;
  std::uint64_t numerator_;  // scale = numerator_ / 2^shift_
  int shift_;
  std::uint64_t limit_;                        // larger magnitudes are redrawn
  std::uint64_t width_lo_ = 0, width_hi_ = 0;  // bounds on block width / scale, in 2^-58
  std::uint64_t per_height_ = 0;               // C
  std::shared_ptr<const Table> table_;
};

}  // namespace sotto::detail
