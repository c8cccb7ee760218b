// Protocols for clients that report again and again: a permanent answer, noised anew each time.
//
// What       LongitudinalUnary (L-SUE, L-OSUE): unary encoding for ever, then each bit once more.
//            LongitudinalHash (LOLOHA): one hash function for ever, randomized response over its
//            buckets for ever, then once more. BucketBits (dBitFlip): d of the k categories for
//            ever, and a permanent noised bit for each.
// Guarantee  epsilon() for one report, epsilon_permanent() for any number of reports while the
//            value (LOLOHA: its bucket; dBitFlip: which of the d it is, if any) stays the same. A
//            client with c different ones in its life has c·epsilon_permanent(), for neighbours
//            that change at the same times: when a value changes is not hidden.
// Method     The permanent answer is drawn by the one-time client from permanent randomness
//            (memory.hpp). The second step is symmetric, and as strong as ε of one report asks.
// Numerics   Probabilities are multiples of 2^-64; the ε of one report is that of the chain,
//            computed from them and rounded up.
// Reference  [EPK14], [APPG23], [DKY17]; docs/math/local-privacy.md.
#pragma once

#include "sotto/local/client/local_hash.hpp"
#include "sotto/local/client/unary.hpp"

namespace sotto::local {

class LongitudinalUnary final : public Randomizer {
 public:
  // permanent: the answer for ever. epsilon: of one report, below the permanent one.
  LongitudinalUnary(UnaryEncoding permanent, double epsilon);

  double epsilon() const override { return epsilon_; }
  double epsilon_permanent() const override { return permanent_.epsilon(); }
  std::size_t report_bytes() const override { return permanent_.report_bytes(); }
  void answer(const Value& value, Memory* memory, Rng& rng,
              std::span<std::uint8_t> report) const override;
  long double probability(const Value& value, Bytes report) const override;

  std::uint64_t categories() const { return permanent_.categories(); }
  // A reported bit is 1: for the own category, for another.
  double p() const { return static_cast<double>(chain(permanent_.p())); }
  double q() const { return static_cast<double>(chain(permanent_.q())); }

 private:
  long double chain(long double one) const;
  UnaryEncoding permanent_;
  std::uint64_t flip_;  // /2^64: a bit is turned over in a report
  double epsilon_;
};

class LongitudinalHash final : public Randomizer {
 public:
  LongitudinalHash(double epsilon, double permanent_epsilon, std::uint64_t categories,
                   std::uint64_t buckets);

  double epsilon() const override { return epsilon_; }
  double epsilon_permanent() const override { return permanent_.epsilon(); }
  std::size_t report_bytes() const override { return 8 + permanent_.report_bytes(); }
  void answer(const Value& value, Memory* memory, Rng& rng,
              std::span<std::uint8_t> report) const override;
  long double probability(const Value& value, Bytes report) const override;

  std::uint64_t buckets() const { return permanent_.categories(); }
  double p() const;  // the reported bucket is that of the value

 private:
  std::uint64_t categories_;
  DirectEncoding permanent_, again_;
  double epsilon_;
};

class BucketBits final : public Randomizer {
 public:
  BucketBits(double epsilon, std::uint64_t categories, std::uint64_t bits);

  double epsilon() const override { return epsilon_; }
  double epsilon_permanent() const override { return epsilon_; }
  std::size_t report_bytes() const override { return bits_ * (bytes_for(categories_) + 1); }
  void answer(const Value& value, Memory* memory, Rng& rng,
              std::span<std::uint8_t> report) const override;
  long double probability(const Value& value, Bytes report) const override;

  std::uint64_t categories() const { return categories_; }
  std::uint64_t bits() const { return bits_; }
  // The i-th category that a report speaks of, and its bit (0 or 1).
  std::uint64_t category_at(Bytes report, std::uint64_t i) const;
  std::uint8_t bit_at(Bytes report, std::uint64_t i) const;
  double p() const;

 private:
  std::uint64_t categories_, bits_, flip_;
  double epsilon_;
};

}  // namespace sotto::local
