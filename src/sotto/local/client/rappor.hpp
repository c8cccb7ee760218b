// RAPPOR: a Bloom filter of the value, noised for ever once and again in every report.
//
// What       The client is in one of m cohorts for ever. h hash functions of its cohort set bits of
//            a k-bit Bloom filter; each bit is replaced by a fair coin with probability f, for ever
//            (permanent response); every report draws each bit anew, 1 with probability q where the
//            permanent bit is 1, else p (instantaneous response).
// Guarantee  One report: h·ln(q*(1−p*)/(p*(1−q*))), with q* = ½f(p+q) + (1−f)q and p* =
//            ½f(p+q) + (1−f)p. Any number of reports of one value: 2h·ln((1−f/2)/(f/2)). That the
//            value changed, and when, is not hidden.
// Method     As published, bit by bit: hash i of a word is byte i of MD5(cohort ‖ word) mod k, the
//            permanent coins of bit i are byte i of HMAC-SHA-256(secret, bits), the lowest bit the
//            coin, the others below 128f whether it is used. [EPK14]
// Numerics   f is a multiple of 1/128 and k at most 32, as published; p and q are the nearest
//            multiples of 2^-64. Both ε are computed from these and rounded up.
// Reference  [EPK14]; docs/math/local-privacy.md.
#pragma once

#include "sotto/local/client/declaration.hpp"
#include "sotto/local/client/randomizer.hpp"

namespace sotto::local {

struct RapporParameters {
  std::uint64_t bits = 16, hashes = 2, cohorts = 64;  // k, h, m (a power of two)
  double f = 0.5, p = 0.5, q = 0.75;
};

RapporParameters rappor_parameters(const Declaration& declaration);

// The bits that a word sets in a cohort, one for each hash function.
std::uint32_t bloom_bits(std::string_view word, std::uint64_t cohort, const RapporParameters& r);
std::uint64_t bloom_index(std::string_view word, std::uint64_t cohort, std::uint64_t hash,
                          const RapporParameters& r);

class Rappor final : public Randomizer {
 public:
  explicit Rappor(const RapporParameters& parameters);

  double epsilon() const override { return epsilon_; }
  double epsilon_permanent() const override { return permanent_; }
  std::size_t report_bytes() const override { return 2 + (parameters_.bits + 7) / 8; }
  void answer(const Value& value, Memory* memory, Rng& rng,
              std::span<std::uint8_t> report) const override;
  long double probability(const Value& value, Bytes report) const override;

  const RapporParameters& parameters() const { return parameters_; }
  std::uint64_t cohort(Memory& memory, Rng& rng) const;
  std::uint32_t permanent_bits(std::uint32_t bloom, Memory& memory, Rng& rng) const;
  // A reported bit is 1: where the Bloom filter has 1, and where it has 0.
  long double one_given_one() const;   // q*
  long double one_given_zero() const;  // p*
  static std::uint64_t cohort_of(Bytes report) { return read_whole(report.first(2)); }
  static std::uint32_t bits_of(Bytes report) {
    return static_cast<std::uint32_t>(read_whole(report.subspan(2)));
  }

 private:
  RapporParameters parameters_;
  std::uint64_t p_, q_, f_;  // multiples of 2^-64, 2^-64, 1/128
  double epsilon_, permanent_;
};

}  // namespace sotto::local
