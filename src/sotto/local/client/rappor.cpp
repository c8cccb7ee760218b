#include "sotto/local/client/rappor.hpp"

#include <openssl/evp.h>

#include <array>
#include <bit>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/numeric/outward.hpp"
#include "sotto/local/client/coin.hpp"
#include "sotto/local/client/memory.hpp"

namespace sotto::local {
namespace {

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xFF);
  return bytes;
}

std::array<unsigned char, 16> md5(const std::string& text) {
  std::array<unsigned char, 16> digest{};
  if (EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_md5(), nullptr) != 1)
    throw StorageError("this system does not allow MD5, which RAPPOR's hash functions are");
  return digest;
}

std::uint64_t nearest(double p) {
  if (!(p > 0 && p < 1)) throw InvalidArgument("`p` and `q` lie between 0 and 1");
  return dyadic_below(p);  // exact: a double has fewer bits, down to 2^-11
}

}  // namespace

std::uint64_t bloom_index(std::string_view word, std::uint64_t cohort, std::uint64_t hash,
                          const RapporParameters& r) {
  return md5(big_endian(static_cast<std::uint32_t>(cohort)) + std::string(word))[hash] % r.bits;
}

std::uint32_t bloom_bits(std::string_view word, std::uint64_t cohort, const RapporParameters& r) {
  const auto digest = md5(big_endian(static_cast<std::uint32_t>(cohort)) + std::string(word));
  std::uint32_t bits = 0;
  for (std::uint64_t i = 0; i < r.hashes; ++i) bits |= std::uint32_t{1} << (digest[i] % r.bits);
  return bits;
}

Rappor::Rappor(const RapporParameters& r)
    : parameters_(r),
      p_(nearest(r.p)),
      q_(nearest(r.q)),
      f_(static_cast<std::uint64_t>(128 * r.f)) {
  if (r.bits < 2 || r.bits > 32 || r.hashes < 1 || r.hashes > 16)
    throw InvalidArgument("RAPPOR has 2 to 32 `bits` and 1 to 16 `hashes`");
  if (!std::has_single_bit(r.cohorts) || r.cohorts > 65536)
    throw InvalidArgument("the number of `cohorts` is a power of two, at most 65536");
  if (static_cast<double>(f_) != 128 * r.f || f_ < 1 || f_ > 127)
    throw InvalidArgument("`f` is a multiple of 1/128 above 0 and below 1",
                          "0 would give no guarantee beyond the first reports, 1 no information");
  if (q_ <= p_) throw InvalidArgument("`q` must be above `p`, or a report says nothing");
  const auto h = static_cast<double>(r.hashes);
  const long double one = one_given_one(), zero = one_given_zero();
  epsilon_ = multiply_up(h, log_ratio_up(one * (1 - zero), zero * (1 - one)));
  permanent_ = multiply_up(
      2 * h, log_ratio_up(static_cast<long double>(256 - f_), static_cast<long double>(f_)));
}

long double Rappor::one_given_one() const {
  const long double f = static_cast<long double>(f_) / 128, p = dyadic(p_), q = dyadic(q_);
  return f * (p + q) / 2 + (1 - f) * q;
}
long double Rappor::one_given_zero() const {
  const long double f = static_cast<long double>(f_) / 128, p = dyadic(p_), q = dyadic(q_);
  return f * (p + q) / 2 + (1 - f) * p;
}

std::uint64_t Rappor::cohort(Memory& memory, Rng& rng) const {
  // Four bytes of the empty key, the lowest first; no Bloom filter has this key.
  const std::string drawn = memory.recall("", 32, rng);
  return read_whole({reinterpret_cast<const std::uint8_t*>(drawn.data()), 4}) % parameters_.cohorts;
}

std::uint32_t Rappor::permanent_bits(std::uint32_t bloom, Memory& memory, Rng& rng) const {
  const std::string drawn = memory.recall(big_endian(bloom), 32, rng);
  std::uint32_t coins = 0, used = 0;
  for (std::uint64_t i = 0; i < parameters_.bits; ++i) {
    const auto byte = static_cast<std::uint8_t>(drawn[i]);
    coins |= static_cast<std::uint32_t>(byte & 1) << i;
    if (byte >> 1 < static_cast<int>(f_)) used |= std::uint32_t{1} << i;
  }
  return (bloom & ~used) | (coins & used);
}

void Rappor::answer(const Value& value, Memory* memory, Rng& rng,
                    std::span<std::uint8_t> report) const {
  Memory& kept = needed(memory);
  const std::uint64_t in = cohort(kept, rng);
  const std::uint32_t bits = permanent_bits(bloom_bits(word(value), in, parameters_), kept, rng);
  std::uint32_t out = 0;
  for (std::uint64_t i = 0; i < parameters_.bits; ++i)
    if (flip(rng, (bits >> i & 1) != 0 ? q_ : p_)) out |= std::uint32_t{1} << i;
  write_whole(report.first(2), in);
  write_whole(report.subspan(2), out);
}

long double Rappor::probability(const Value& value, Bytes report) const {
  const std::uint32_t bloom = bloom_bits(word(value), cohort_of(report), parameters_);
  long double result = 1;
  for (std::uint64_t i = 0; i < parameters_.bits; ++i) {
    const long double one = (bloom >> i & 1) != 0 ? one_given_one() : one_given_zero();
    result *= (bits_of(report) >> i & 1) != 0 ? one : 1 - one;
  }
  return result;
}

}  // namespace sotto::local
