// Unary encoding: one bit a category, each flipped by a coin of its own (SUE, OUE, THE).
//
// What       The report is k bits. The bit of the value is 1 with probability p, any other with q.
// Guarantee  ln(p(1−q)/(q(1−p)))-local DP: two values differ in two bits, and these factors bound
//            them.
// Method     symmetric (SUE, one-time basic RAPPOR): p = e^{ε/2}/(e^{ε/2} + 1), q = 1 − p.
//            optimised (OUE): p = ½, q = 1/(e^ε + 1), the least variance for rare values.
//            thresholded (THE): Laplace noise of scale 2/ε on the bits, then 1 where above θ:
//            p = 1 − ½e^{ε(θ−1)/2}, q = ½e^{−εθ/2}. Only the thresholded bits leave the client,
//            which is more private than the noise: epsilon() says by how much.
// Numerics   p and q are multiples of 2^-64, moved towards each other. 64 bits are drawn at once.
// Reference  [WBLJ17], [EPK14].
#pragma once

#include <vector>

#include "sotto/local/client/randomizer.hpp"

namespace sotto::local {

// The θ that gives the least variance for rare values.
double best_threshold(double epsilon);

class UnaryEncoding final : public Randomizer {
 public:
  static UnaryEncoding symmetric(double epsilon, std::uint64_t categories);
  static UnaryEncoding optimised(double epsilon, std::uint64_t categories);
  static UnaryEncoding thresholded(double epsilon, std::uint64_t categories, double threshold);
  // Any p > q, both multiples of 2^-64.
  UnaryEncoding(std::uint64_t categories, std::uint64_t p, std::uint64_t q);

  double epsilon() const override { return epsilon_; }
  std::size_t report_bytes() const override { return (categories_ + 7) / 8; }
  void answer(const Value& value, Memory* memory, Rng& rng,
              std::span<std::uint8_t> report) const override;
  long double probability(const Value& value, Bytes report) const override;

  std::uint64_t categories() const { return categories_; }
  double p() const;
  double q() const;

 private:
  std::uint64_t categories_, p_, q_;
  double epsilon_;
};

// Bits in a report, bit i in byte i/8.
inline bool bit_of(Bytes report, std::uint64_t i) { return (report[i / 8] >> (i % 8) & 1) != 0; }
void set_bit(std::span<std::uint8_t> report, std::uint64_t i, bool value);

}  // namespace sotto::local
