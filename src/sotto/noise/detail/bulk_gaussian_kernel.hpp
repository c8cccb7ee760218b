// The inner loop of fill_gaussian: random bits in, normal floats out, in place. Compiled once per
// instruction set.
//
// Plain loops that the compiler turns into vector code; the including file sets the two names and
// its compile options.
// Nothing from the standard library is used, so that no inline function compiled for a newer
// processor can leak into the rest.
//
// A block of 2·kPairs words: words i and i + kPairs become one pair by Box–Muller [BM58].
//   radius  u = (a + ½)/2^32, r = √(−2 ln u). Near u = 1, where ln u is small, 1 − u is formed in
//           integers.
//   angle   30 bits in [−π/4, π/4), one to swap sine and cosine, one for the sign: together uniform
//           on the circle.
// Polynomials: interpolation at Chebyshev nodes; relative errors 3e-8 (ln), 4e-9 (sine), 1e-10
// (cosine).
#pragma once

#include <cstdint>

namespace sotto::detail {

inline constexpr int kPairs = 512;

// The smallest radius word of a block: whether any of its pairs is in the far tail.
inline std::uint32_t SOTTO_SMALLEST_NAME(const float* block) {
  std::uint32_t smallest = 0xffffffffu;
  for (int i = 0; i < kPairs; ++i) {
    const auto a = __builtin_bit_cast(std::uint32_t, block[i]);
    smallest = a < smallest ? a : smallest;
  }
  return smallest;
}

// soon: two runs of 2·kPairs floats that will be wanted next, fetched from memory meanwhile.
inline void SOTTO_KERNEL_NAME(float* __restrict block, float sigma, const float* const soon[2]) {
  constexpr float kLn2 = 0.693147181f;
  constexpr int kGroup = 16, kLine = 16;
  for (int group = 0; group < kPairs; group += kGroup) {
    for (int run = 0; run < 2; ++run)
      for (int at = 2 * group; at < 2 * (group + kGroup); at += kLine)
        __builtin_prefetch(soon[run] + at);
    for (int i = group; i < group + kGroup; ++i) {
      const auto a = __builtin_bit_cast(std::uint32_t, block[i]);
      const auto b = __builtin_bit_cast(std::uint32_t, block[i + kPairs]);

      // u = 2^e·(1 + f) with f in [−¼, ½); from u = ¾ on, e = 0 and f = −(1 − u) without
      // cancellation.
      const auto as_signed = static_cast<std::int32_t>(a);
      const bool upper = as_signed < 0 && as_signed >= -(1 << 30);
      const float v = static_cast<float>(static_cast<std::int32_t>(a >> 1)) * 2.0f +
                      (static_cast<float>(a & 1u) + 0.5f);
      const auto bits =
          __builtin_bit_cast(std::uint32_t, v) - 0x3f400000u;  // 0.75 becomes exponent 0
      const float e = static_cast<float>(static_cast<std::int32_t>(bits) >> 23) - 32.0f;
      const float m = __builtin_bit_cast(float, (bits & 0x007fffffu) + 0x3f400000u);
      const float f = upper ? (static_cast<float>(as_signed) + 0.5f) * 0x1p-32f : m - 1.0f;
      const float whole = upper ? 0.0f : e * kLn2;
      float p = -5.147591755e-02f;
      p = p * f + 1.089631439e-01f;
      p = p * f - 1.306141532e-01f;
      p = p * f + 1.438231738e-01f;
      p = p * f - 1.664944838e-01f;
      p = p * f + 1.999687406e-01f;
      p = p * f - 2.500014408e-01f;
      p = p * f + 3.333334632e-01f;
      const float log_u = whole + (f - f * f * (0.5f - f * p));
      const float r = sigma * __builtin_sqrtf(-2.0f * log_u);

      const float x = (static_cast<float>(static_cast<std::int32_t>(b << 2)) + 2.0f) *
                      0x1p-32f;  // in quarter turns
      const float y = x * x;
      const float sine =
          x *
          (((-4.602149213e-03f * y + 7.968021765e-02f) * y - 6.459634777e-01f) * y + 1.570796322f);
      const float cosine =
          (((9.036280664e-04f * y - 2.086006950e-02f) * y + 2.536692037e-01f) * y - 1.233700541f) *
              y +
          1.0f;
      const bool swap = (b & 0x40000000u) != 0;
      const float signed_r =
          __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, r) ^ (b & 0x80000000u));
      block[i] = signed_r * (swap ? sine : cosine);
      block[i + kPairs] = signed_r * (swap ? cosine : sine);
    }
  }
}

}  // namespace sotto::detail
