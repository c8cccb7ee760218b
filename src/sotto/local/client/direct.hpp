// Direct encoding: k-ary randomized response (GRR).
//
// What       The truth with probability a, else one of all k categories, each alike.
// Guarantee  ln(1 + k·a/(1 − a))-local DP: a report equals the truth with probability a + (1−a)/k
//            and any other category with (1−a)/k.
// Method     a = (e^ε − 1)/(e^ε + k − 1): then p = e^ε/(e^ε + k − 1), q = 1/(e^ε + k − 1) [KOV16].
// Numerics   1 − a is a multiple of 2^-64, rounded up.
// Reference  [War65], [KOV16], [WBLJ17].
#pragma once

#include "sotto/local/client/randomizer.hpp"

namespace sotto::local {

class DirectEncoding final : public Randomizer {
 public:
  DirectEncoding(double epsilon, std::uint64_t categories);

  double epsilon() const override { return epsilon_; }
  std::size_t report_bytes() const override { return bytes_for(categories_); }
  void answer(const Value& value, Memory* memory, Rng& rng,
              std::span<std::uint8_t> report) const override;
  long double probability(const Value& value, Bytes report) const override;

  std::uint64_t draw(std::uint64_t value, Rng& rng) const;  // value < categories
  std::uint64_t categories() const { return categories_; }
  double p() const { return static_cast<double>(p_); }  // of the truth
  double q() const { return static_cast<double>(q_); }  // of each other category

 private:
  std::uint64_t categories_, blind_;  // blind_/2^64: the answer does not look at the truth
  long double p_, q_;
  double epsilon_;
};

}  // namespace sotto::local
