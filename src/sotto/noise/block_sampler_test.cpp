#include "sotto/noise/block_sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/multiprecision/cpp_dec_float.hpp>

#include "sotto/noise/sampler_checks_test.hpp"
#include "sotto/noise/uniform.hpp"

namespace sotto::detail {

struct BlockSamplerProbe {
  const BlockSampler& s;
  static constexpr int kCoinBits = BlockSampler::kCoinBits;
  const auto& table() const { return *s.table_; }
  std::uint64_t per_height() const { return s.per_height_; }
  std::uint64_t limit() const { return s.limit_; }
  static constexpr int kFirstCoinBits = BlockSampler::kFirstCoinBits;
  static constexpr int kLineBits = BlockSampler::kLineBits;
  Interval decay_inside(std::uint32_t block, std::uint64_t place) const {
    return s.decay_inside(block, place);
  }
  bool settle_exactly(Rng& rng, std::uint64_t coin, std::uint64_t z, std::uint64_t height) const {
    return s.settle_exactly(rng, coin, z, height, 0);
  }
  // One accepted draw of the tail.
  std::uint64_t tail(Rng& rng) const {
    for (;;) {
      std::uint64_t magnitude = 0;
      if (s.settle_tail(rng, uniform_below(rng, table().possibly[table().blocks]), magnitude))
        return magnitude;
    }
  }
};

namespace block_sampler_test {

using Real = boost::multiprecision::cpp_dec_float_50;
using Law = BlockSampler::Law;

Real weight(Law law, double scale, std::uint64_t z) {
  const Real x = Real(z) / Real(scale);
  const Real exponent = law == Law::laplace ? x : Real(x * x / 2);
  return exp(-exponent);
}

constexpr double kScales[] = {
    0x1p-10, 0.03, 0.1, 0.7, 1, 7.999, 8, 10, 15.99, 16, 100.25, 12345.678, 0x1.fffffffffffffp39,
    0x1p50};

template <class Check>
void for_all(const Check& check) {
  for (Law law : {Law::laplace, Law::gaussian}) {
    for (double scale : kScales) {
      SCOPED_TRACE((law == Law::laplace ? "laplace " : "gaussian ") + std::to_string(scale));
      const BlockSampler sampler(law, scale);
      check(law, scale, BlockSamplerProbe{sampler});
    }
  }
}

TEST(BlockSampler, TablesBoundTheExactBias) {
  for_all([](Law law, double scale, const BlockSamplerProbe& probe) {
    const auto& t = probe.table();
    const Real coins = pow(Real(2), BlockSamplerProbe::kCoinBits), one = Real(kOne);
    std::size_t cells = 0;
    for (std::uint32_t i = 0; i < t.blocks; ++i) {
      const std::uint64_t first = static_cast<std::uint64_t>(i) << t.block_bits;
      const std::uint64_t last = first + (std::uint64_t{1} << t.block_bits) - 1;
      const Real per = Real(probe.per_height()) / t.heights[i];
      const Real largest = per * weight(law, scale, first),
                 smallest = per * weight(law, scale, last);
      EXPECT_LE(largest, 1);
      EXPECT_LE(Real(t.bias[i].lo), largest * one);
      EXPECT_GE(Real(t.bias[i].hi), largest * one);
      EXPECT_LE(Real(t.surely[i]), smallest * coins);
      EXPECT_GE(Real(t.possibly[i]), largest * coins);
      EXPECT_LT(t.bias[i].hi - t.bias[i].lo, kOne >> 40)
          << "bounds so wide that exact arithmetic would be frequent";
      cells += t.heights[i];
      EXPECT_EQ(static_cast<std::size_t>(std::count(t.cells.begin(), t.cells.end(), i)),
                t.heights[i]);
    }
    EXPECT_LT(cells, t.cells.size());
    EXPECT_EQ(std::count(t.cells.begin(), t.cells.end(), t.blocks), 1);  // the tail
  });
}

TEST(BlockSampler, BoundsInsideABlockHoldEverywhere) {
  Rng rng = Rng::insecure_seed(1);
  for_all([&](Law law, double scale, const BlockSamplerProbe& probe) {
    const auto& t = probe.table();
    if (t.block_bits == 0) return;
    for (int i = 0; i < 300; ++i) {
      const auto block = static_cast<std::uint32_t>(uniform_below(rng, t.blocks));
      const std::uint64_t width = std::uint64_t{1} << t.block_bits, first = block * width;
      const std::uint64_t place = i == 0 ? 0 : i == 1 ? width - 1 : uniform_below(rng, width);
      const Real exact = weight(law, scale, first + place) / weight(law, scale, first) * Real(kOne);
      const Interval bounds = probe.decay_inside(block, place);
      EXPECT_LE(Real(bounds.lo), exact);
      EXPECT_GE(Real(bounds.hi), exact);
      EXPECT_LT(bounds.hi - bounds.lo, kOne >> 28);
    }
  });
}

// fill trusts its lines: at both ends of every part that is tried, the bias lies between them.
TEST(BlockSampler, LinesBoundTheExactBias) {
  Rng rng = Rng::insecure_seed(5);
  for (const double scale : {0x1p19, 0x1.fffffp19, 0x1.2345p23, 0x1.fffp26, 0x1p30, 0x1.ffp30}) {
    const BlockSampler sampler(Law::gaussian, scale);
    const BlockSamplerProbe probe{sampler};
    const auto& t = probe.table();
    ASSERT_EQ(t.lines.size(), t.blocks + 2u) << scale;
    const Real coins = pow(Real(2), BlockSamplerProbe::kFirstCoinBits);
    const std::uint64_t parts = std::uint64_t{1} << BlockSamplerProbe::kLineBits;
    double undecided = 0;
    for (std::uint32_t i = 0; i < t.blocks; ++i) {
      const auto line = t.lines[i];
      for (int k = 0; k < 40; ++k) {
        const std::uint64_t part = k == 0   ? 0
                                   : k == 1 ? parts - 1
                                   : k == 2 ? parts / 2
                                            : uniform_below(rng, parts);
        const std::uint64_t size = std::uint64_t{1}
                                   << (t.block_bits - BlockSamplerProbe::kLineBits);
        const std::uint64_t first = (static_cast<std::uint64_t>(i) << t.block_bits) + part * size;
        const Real per = Real(probe.per_height()) / t.heights[i] * coins;
        const std::int64_t bound = line.base - (line.slope * static_cast<std::int64_t>(part + 1) >>
                                                BlockSamplerProbe::kLineBits);
        EXPECT_LE(Real(bound), per * weight(Law::gaussian, scale, first + size - 1));
        EXPECT_GE(Real(bound + line.gap), per * weight(Law::gaussian, scale, first));
      }
      undecided += static_cast<double>(line.gap) * t.heights[i];
    }
    EXPECT_LT(undecided, 0.01 * 4096 * 0x1p24) << "lines so far apart that fill would be slow";
  }
  // Elsewhere fill draws one by one.
  for (const double scale : {0x1.ffp18, 0x1p31}) {
    const BlockSampler sampler(Law::gaussian, scale);
    EXPECT_TRUE(BlockSamplerProbe{sampler}.table().lines.empty()) << scale;
  }
}

// Coins that 51 bits cannot decide: they must come up with the probability the remaining bits of
// the bias say.
TEST(BlockSampler, UndecidedCoinsAreSettledExactly) {
  Rng rng = Rng::insecure_seed(2);
  double expected = 0, variance = 0, seen = 0;
  for_all([&](Law law, double scale, const BlockSamplerProbe& probe) {
    const auto& t = probe.table();
    for (int i = 0; i < 400; ++i) {
      const auto block = static_cast<std::uint32_t>(uniform_below(rng, t.blocks));
      const std::uint64_t width = std::uint64_t{1} << t.block_bits,
                          z = block * width + uniform_below(rng, width);
      const Real bias = Real(probe.per_height()) / t.heights[block] * weight(law, scale, z) *
                        pow(Real(2), BlockSamplerProbe::kCoinBits);
      const auto coin = static_cast<std::uint64_t>(floor(bias));
      const auto p = static_cast<double>(bias - floor(bias));
      if (coin >> BlockSamplerProbe::kCoinBits != 0)
        continue;  // a bias of 1: no coin is that large
      expected += p;
      variance += p * (1 - p);
      seen += probe.settle_exactly(rng, coin, z, t.heights[block]);
    }
  });
  EXPECT_GT(variance, 500);
  EXPECT_LT(std::abs(seen - expected), 4.9 * std::sqrt(variance));  // α = 1e-6
}

// The tail follows the law from the end of the body on: chi-square in slices of one body block.
TEST(BlockSampler, TheTailHasTheRightLaw) {
  for (Law law : {Law::laplace, Law::gaussian}) {
    for (double scale : {3.0, 10.0, 12345.678, 0x1.23p39}) {
      const BlockSampler sampler(law, scale);
      const BlockSamplerProbe probe{sampler};
      const auto& t = probe.table();
      const std::uint64_t start = static_cast<std::uint64_t>(t.blocks) << t.block_bits;
      const std::size_t slices = law == Law::laplace ? 100 : 20;
      // Integers in slices; for wide blocks the sum over a slice is an integral to far better than
      // the test can see.
      const double w = std::ldexp(1.0, t.block_bits), reach = static_cast<double>(start);
      const auto mass = [&](double from, double to) {
        if (t.block_bits > 0) {
          if (law == Law::laplace)
            return std::exp((reach - from) / scale) - std::exp((reach - to) / scale);
          return std::erfc(from / scale / std::sqrt(2.0)) - std::erfc(to / scale / std::sqrt(2.0));
        }
        double sum = 0;
        for (double z = from; z < to && z < from + 40; ++z) {
          sum += law == Law::laplace ? std::exp((reach - z) / scale)
                                     : std::exp((reach * reach - z * z) / (2 * scale * scale));
        }
        return sum;
      };
      double total = 0;
      std::vector<double> probabilities;
      for (std::size_t i = 0; i < 400; ++i) {
        const double shift =
            t.block_bits > 0 ? -0.5 : 0;  // sum over integers ≈ integral between halves
        const double m = mass(reach + static_cast<double>(i) * w + shift,
                              reach + static_cast<double>(i + 1) * w + shift);
        total += m;
        if (i < slices) probabilities.push_back(m);
      }
      for (double& p : probabilities) p /= total;
      std::vector<std::uint64_t> counts(slices);
      Rng rng = Rng::insecure_seed(3);
      constexpr std::uint64_t kDraws = 2000;
      for (std::uint64_t i = 0; i < kDraws; ++i) {
        const std::uint64_t slice = (probe.tail(rng) - start) >> t.block_bits;
        if (slice < slices) ++counts[slice];
      }
      EXPECT_GT(test::chi_square_p(counts, probabilities, kDraws), test::kAlpha)
          << static_cast<int>(law) << ' ' << scale;
    }
  }
}

TEST(BlockSampler, RangeFitsItsIntegers) {
  const BlockSampler laplace(Law::laplace, 0x1p50), gaussian(Law::gaussian, 0x1p50);
  EXPECT_EQ(BlockSamplerProbe{laplace}.limit(), std::uint64_t{1} << 61);
  EXPECT_EQ(BlockSamplerProbe{gaussian}.limit(), std::uint64_t{1} << 56);
}

}  // namespace block_sampler_test
}  // namespace sotto::detail
