// Summation with histogram encoding: Laplace noise on every bit of the unary encoding (SHE).
//
// What       k whole numbers: 1024 for the value and 0 for all others, each with discrete Laplace
//            noise of scale b.
// Guarantee  2·1024/b-local DP: two values differ by 1024 in two places.
// Method     b ≥ 2·1024/ε; the average report, over 1024, is an unbiased estimate.
// Numerics   The noise is exact; b is a double, rounded up. Numbers beyond 32 bits are cut, which
//            is post-processing (less than e^-100000 ever are at ε ≥ 0.1).
// Reference  [WBLJ17], [DMNS06].
#pragma once

#include "sotto/local/client/randomizer.hpp"
#include "sotto/noise/discrete_laplace.hpp"

namespace sotto::local {

class HistogramEncoding final : public Randomizer {
 public:
  static constexpr std::int64_t kUnit = 1024;

  HistogramEncoding(double epsilon, std::uint64_t categories);

  double epsilon() const override { return epsilon_; }
  std::size_t report_bytes() const override { return 4 * categories_; }
  void answer(const Value& value, Memory* memory, Rng& rng,
              std::span<std::uint8_t> report) const override;
  long double probability(const Value& value, Bytes report) const override;

  std::uint64_t categories() const { return categories_; }
  double noise_variance() const;  // of one number, in units of kUnit

 private:
  std::uint64_t categories_;
  DiscreteLaplace noise_;
  double epsilon_;
};

std::int32_t read_signed(Bytes four_bytes);

}  // namespace sotto::local
