// Many draws at once: one word each, and two lines that decide nearly every coin.
// docs/math/exact-noise.md, section "Many draws".
#include <algorithm>
#include <array>

#include "sotto/noise/block_sampler.hpp"

namespace sotto::detail {
namespace {

constexpr int kMostBlockBits = 27;  // so that a word has 24 bits left for the coin
constexpr int kUnitBits = 30;       // widths and distances in units of 2^-30 scales

}  // namespace

// Between its ends the bias a of a block departs from its chord by at most max|a″|·w²/8, and a″ =
// a·((z/σ)² − 1)/σ²: above the chord up to z = σ, below from there on.
void BlockSampler::add_lines(Table& table, const std::vector<Interval>& f) const {
  if (law_ != Law::gaussian || table.block_bits < kLineBits || table.block_bits > kMostBlockBits)
    return;
  constexpr int kToFirst = 63 - kFirstCoinBits;
  constexpr std::uint64_t kScale = std::uint64_t{1} << kUnitBits;
  const auto down = [](std::uint64_t x) { return static_cast<std::int64_t>(x >> kToFirst); };
  const auto up = [&](std::uint64_t x) { return down(x) + 1; };
  const std::uint64_t width = (width_hi_ >> (kExponentBits - kUnitBits)) + 1,
                      narrow = width_lo_ >> (kExponentBits - kUnitBits);
  for (std::uint32_t i = 0; i < table.blocks; ++i) {
    const std::uint64_t height = table.heights[i];
    const auto end = [&](std::uint64_t x) {
      return static_cast<std::uint64_t>(static_cast<uint128>(per_height_) * x / height);
    };
    const Interval first = table.bias[i], last{end(f[i + 1].lo), end(f[i + 1].hi) + 1};
    // max|a″|·w²/8 in units of 2^-33, then of the first coin.
    const uint128 far = std::max<std::uint64_t>(kScale, (i + 1) * width);
    const auto square = static_cast<std::uint64_t>(static_cast<uint128>(width) * width >> 24) + 1;
    const auto curvature = (square * ((far * far >> 30) + 1) >> 33) + 1;
    const auto bend = static_cast<std::int64_t>(curvature * first.hi >> (33 + kToFirst + 3)) + 1;
    const bool above = i * narrow<kScale, below = (i + 1) * width> kScale;

    Line line;
    line.slope = up(first.hi) - down(last.lo);
    line.base = down(first.lo) - 1 - (below ? bend : 0);
    const std::int64_t slack = line.slope - (down(first.lo) - up(last.hi));
    line.gap =
        up(first.hi) + (above ? bend : 0) + slack + (line.slope >> kLineBits) + 1 - line.base;
    table.lines.push_back(line);
  }
  // The tail accepts nothing at once; the cells that are nobody's refuse everything.
  const std::int64_t never = -(std::int64_t{1} << 32);
  constexpr int kRest = kCoinBits - kFirstCoinBits;
  table.lines.push_back(
      {never, 0, static_cast<std::int64_t>(table.possibly[table.blocks] >> kRest) + 1 - never});
  table.lines.push_back({never, 0, 0});
}

void BlockSampler::fill(Rng& rng, std::span<std::int64_t> out) const {
  const Table& table = *table_;
  if (table.lines.empty()) {
    for (auto& z : out) z = sample(rng);
    return;
  }
  // A word: 12 bits for the cell, block_bits for the place, 24 or more for the coin, one for the
  // sign.
  const int bits = table.block_bits, before_coin = kCellBits + bits;
  const Line* const lines = table.lines.data();
  std::array<std::uint64_t, 512> words;
  auto next = out.begin();
  while (next != out.end()) {
    const auto wanted = static_cast<std::size_t>(out.end() - next);
    const auto some = std::span(words).first(std::min(words.size(), wanted + wanted / 8 + 4));
    rng.fill(std::as_writable_bytes(some));
    for (const std::uint64_t word : some) {
      const std::uint32_t block = table.cells[word >> (64 - kCellBits)];
      const Line line = lines[block];
      const auto part = static_cast<std::int64_t>(word << kCellBits >> (64 - kLineBits));
      const auto coin = static_cast<std::int64_t>(word << before_coin >> (64 - kFirstCoinBits));
      const std::int64_t bound = line.base - (line.slope * (part + 1) >> kLineBits);
      const std::uint64_t place = word << kCellBits >> (64 - bits);
      std::uint64_t magnitude = (static_cast<std::uint64_t>(block) << bits) + place;
      if (coin >= bound) [[unlikely]] {
        if (coin >= bound + line.gap) continue;
        constexpr int kRest = kCoinBits - kFirstCoinBits;
        const std::uint64_t longer =
            static_cast<std::uint64_t>(coin) << kRest | rng.next_u64() >> (64 - kRest);
        if (!settle(rng, block, longer, place, magnitude)) continue;
      }
      if (magnitude == 0 && (word & 1) != 0) [[unlikely]]
        continue;  // zero has one sign only
      const auto sign =
          -static_cast<std::int64_t>(word & 1);  // 0 or −1: a branch would be a coin toss
      *next++ = (static_cast<std::int64_t>(magnitude) ^ sign) - sign;
      if (next == out.end()) break;
    }
  }
}

}  // namespace sotto::detail
