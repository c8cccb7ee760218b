// Subset selection: a random set of ω categories that contains the truth more often than not.
//
// What       The report is a bitmap with exactly ω of k bits. The truth is among them with
//            probability P; the others are a uniformly random set.
// Guarantee  ln(P(k−ω)/((1−P)ω))-local DP: a set with the truth has probability P/C(k−1, ω−1), one
//            without (1−P)/C(k−1, ω).
// Method     ω = max(1, round(k/(e^ε+1))), P = ωe^ε/(ωe^ε + k − ω): the least variance of all
//            protocols here at any ε; with ω = 1 it is randomized response [YB18].
// Numerics   1 − P is a multiple of 2^-64, rounded up. Categories are drawn until enough are
//            distinct, of the smaller of the set and its complement.
// Reference  [YB18], [WHWNXYLQ16].
#pragma once

#include "sotto/local/client/randomizer.hpp"

namespace sotto::local {

std::uint64_t best_subset_size(double epsilon, std::uint64_t categories);

class SubsetSelection final : public Randomizer {
 public:
  SubsetSelection(double epsilon, std::uint64_t categories, std::uint64_t size);

  double epsilon() const override { return epsilon_; }
  std::size_t report_bytes() const override { return (categories_ + 7) / 8; }
  void answer(const Value& value, Memory* memory, Rng& rng,
              std::span<std::uint8_t> report) const override;
  long double probability(const Value& value, Bytes report) const override;

  std::uint64_t categories() const { return categories_; }
  std::uint64_t size() const { return size_; }
  double p() const;  // the truth is in the set
  double q() const;  // another category is

 private:
  std::uint64_t categories_, size_, without_;  // without_/2^64: the truth is not in the set
  double epsilon_;
};

}  // namespace sotto::local
