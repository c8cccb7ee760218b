#include "sotto/core/detail/aes_ctr_wide.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#define SOTTO_WIDE __attribute__((target("aes,sse4.1,avx512f,avx512bw,vaes")))
#endif

namespace sotto::detail {

#if defined(__x86_64__)
namespace {

constexpr std::size_t kRounds = 14, kAtOnce = 8;  // registers of four blocks

// FIPS 197: word i of the schedule is word i − 8, plus what word i − 1 becomes.
template <int kConstant>
SOTTO_WIDE __m128i next_even(__m128i before, __m128i last) {
  const __m128i add = _mm_shuffle_epi32(_mm_aeskeygenassist_si128(last, kConstant), 0xff);
  before = _mm_xor_si128(before, _mm_slli_si128(before, 4));
  before = _mm_xor_si128(before, _mm_slli_si128(before, 8));
  return _mm_xor_si128(before, add);
}
SOTTO_WIDE __m128i next_odd(__m128i before, __m128i last) {
  const __m128i add = _mm_shuffle_epi32(_mm_aeskeygenassist_si128(last, 0), 0xaa);
  before = _mm_xor_si128(before, _mm_slli_si128(before, 4));
  before = _mm_xor_si128(before, _mm_slli_si128(before, 8));
  return _mm_xor_si128(before, add);
}

SOTTO_WIDE void expand(const std::byte* key, std::byte* schedule) {
  auto* const out = reinterpret_cast<__m128i*>(schedule);
  __m128i even = _mm_loadu_si128(reinterpret_cast<const __m128i*>(key));
  __m128i odd = _mm_loadu_si128(reinterpret_cast<const __m128i*>(key) + 1);
  out[0] = even, out[1] = odd;
  out[2] = even = next_even<0x01>(even, odd), out[3] = odd = next_odd(odd, even);
  out[4] = even = next_even<0x02>(even, odd), out[5] = odd = next_odd(odd, even);
  out[6] = even = next_even<0x04>(even, odd), out[7] = odd = next_odd(odd, even);
  out[8] = even = next_even<0x08>(even, odd), out[9] = odd = next_odd(odd, even);
  out[10] = even = next_even<0x10>(even, odd), out[11] = odd = next_odd(odd, even);
  out[12] = even = next_even<0x20>(even, odd), out[13] = odd = next_odd(odd, even);
  out[14] = next_even<0x40>(even, odd);
}

SOTTO_WIDE void one_block(const std::byte* schedule, std::uint64_t high, std::uint64_t low,
                          std::byte* out) {
  const auto* const keys = reinterpret_cast<const __m128i*>(schedule);
  __m128i x = _mm_set_epi64x(static_cast<std::int64_t>(__builtin_bswap64(low)),
                             static_cast<std::int64_t>(__builtin_bswap64(high)));
  x = _mm_xor_si128(x, keys[0]);
  for (std::size_t round = 1; round < kRounds; ++round) x = _mm_aesenc_si128(x, keys[round]);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_aesenclast_si128(x, keys[kRounds]));
}

// (Masked: the plain form makes GCC 12 warn of its own header.)
SOTTO_WIDE __m512i four_times(__m128i x) { return _mm512_maskz_broadcast_i32x4(0xffff, x); }

// count registers of four blocks; the low half of the counter must not run over.
SOTTO_WIDE void many_blocks(const std::byte* schedule, std::uint64_t high, std::uint64_t low,
                            std::byte* out, std::size_t count) {
  const auto* const keys = reinterpret_cast<const __m128i*>(schedule);
  __m512i key[kRounds + 1];
#pragma GCC unroll 15
  for (std::size_t round = 0; round <= kRounds; ++round) key[round] = four_times(keys[round]);
  const __m512i turned =
      four_times(_mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
  const auto h = static_cast<std::int64_t>(high), l = static_cast<std::int64_t>(low);
  const __m512i four = _mm512_set_epi64(4, 0, 4, 0, 4, 0, 4, 0);
  __m512i counter = _mm512_set_epi64(l + 3, h, l + 2, h, l + 1, h, l, h);
  // Unrolled, so that states and keys stay in registers.
  for (; count >= kAtOnce; count -= kAtOnce, out += 64 * kAtOnce) {
    __m512i x[kAtOnce];
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kAtOnce; ++i) {
      x[i] = _mm512_xor_si512(_mm512_shuffle_epi8(counter, turned), key[0]);
      counter = _mm512_add_epi64(counter, four);
    }
#pragma GCC unroll 14
    for (std::size_t round = 1; round < kRounds; ++round)
#pragma GCC unroll 8
      for (std::size_t i = 0; i < kAtOnce; ++i) x[i] = _mm512_aesenc_epi128(x[i], key[round]);
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kAtOnce; ++i)
      _mm512_storeu_si512(out + 64 * i, _mm512_aesenclast_epi128(x[i], key[kRounds]));
  }
  for (; count > 0; --count, out += 64) {
    __m512i x = _mm512_xor_si512(_mm512_shuffle_epi8(counter, turned), key[0]);
    counter = _mm512_add_epi64(counter, four);
#pragma GCC unroll 14
    for (std::size_t round = 1; round < kRounds; ++round) x = _mm512_aesenc_epi128(x, key[round]);
    _mm512_storeu_si512(out, _mm512_aesenclast_epi128(x, key[kRounds]));
  }
}

std::uint64_t big_endian(const std::byte* bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes, sizeof value);
  return __builtin_bswap64(value);
}

// Leaf 7, bit 9 of ECX: not every compiler has a name for it.
bool has_vector_aes() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c >> 9 & 1) != 0;
}

}  // namespace

bool has_wide_aes() {
  static const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("aes") && has_vector_aes();
  return has;
}

WideAes::WideAes(std::span<const std::byte, 32> key, std::span<const std::byte, 16> counter)
    : high_(big_endian(counter.data())), low_(big_endian(counter.data() + 8)) {
  expand(key.data(), keys_.front().data());
}

// A register of four blocks at a time, unless the low half of the counter runs over within it.
void WideAes::blocks(std::byte* out, std::size_t count) {
  while (count > 0) {
    const std::uint64_t before_carry = ~low_;  // steps without one
    const std::size_t wide =
        static_cast<std::size_t>(std::min<std::uint64_t>(count, before_carry) / 4);
    if (wide > 0) {
      many_blocks(keys_.front().data(), high_, low_, out, wide);
      low_ += 4 * wide;
      out += 64 * wide;
      count -= 4 * wide;
      continue;
    }
    one_block(keys_.front().data(), high_, low_, out);
    if (++low_ == 0) ++high_;
    out += 16;
    --count;
  }
}
#else
bool has_wide_aes() { return false; }
WideAes::WideAes(std::span<const std::byte, 32>, std::span<const std::byte, 16>) {}
void WideAes::blocks(std::byte*, std::size_t) {}
#endif

WideAes::~WideAes() {
  OPENSSL_cleanse(keys_.data(), sizeof keys_);
  OPENSSL_cleanse(rest_.data(), sizeof rest_);
}

void WideAes::fill(std::span<std::byte> out) {
  const std::size_t first = std::min(left_, out.size());
  std::copy_n(rest_.end() - static_cast<std::ptrdiff_t>(left_), first, out.begin());
  left_ -= first;
  out = out.subspan(first);
  const std::size_t whole = out.size() / 16;
  blocks(out.data(), whole);
  out = out.subspan(16 * whole);
  if (out.empty()) return;
  blocks(rest_.data(), 1);
  std::copy_n(rest_.begin(), out.size(), out.begin());
  left_ = rest_.size() - out.size();
}

}  // namespace sotto::detail
