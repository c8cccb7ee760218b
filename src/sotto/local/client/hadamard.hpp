// Hadamard response: a column of a Hadamard matrix in which the value's row is likelier +1.
//
// What       Categories lie in B blocks; each has a row of the Hadamard matrix of its block. The
//            report is one of K = B·b columns, log₂K bits.
// Guarantee  ln(P(K−s)/((1−P)s))-local DP: the s = b/2 columns of the own block where the own row
//            is +1 share the probability P, all others share 1 − P.
// Method     P = se^ε/(se^ε + K − s). B = 1 for high privacy, B = 2^⌊log₂ min(e^ε, 2k)⌋ in general
//            [ASZ19], or half of that where it has the smaller variance; b = 2^⌈log₂(k/B + 1)⌉.
// Numerics   1 − P is a multiple of 2^-64, rounded up. A uniform column becomes one with the wanted
//            sign by flipping one bit: the lowest that is set in the row's number.
// Reference  [ASZ19].
#pragma once

#include "sotto/local/client/randomizer.hpp"

namespace sotto::local {

std::uint64_t best_block_count(double epsilon, std::uint64_t categories);

class HadamardResponse final : public Randomizer {
 public:
  // blocks: a power of two.
  HadamardResponse(double epsilon, std::uint64_t categories, std::uint64_t blocks);

  double epsilon() const override { return epsilon_; }
  std::size_t report_bytes() const override { return bytes_for(columns()); }
  void answer(const Value& value, Memory* memory, Rng& rng,
              std::span<std::uint8_t> report) const override;
  long double probability(const Value& value, Bytes report) const override;

  std::uint64_t categories() const { return categories_; }
  std::uint64_t blocks() const { return blocks_; }
  std::uint64_t block_size() const { return block_size_; }
  std::uint64_t columns() const { return blocks_ * block_size_; }
  // Where a category stands: its block, and its row there, from 1 on.
  std::uint64_t block(std::uint64_t category) const { return category % blocks_; }
  std::uint64_t row(std::uint64_t category) const { return category / blocks_ + 1; }
  double p() const;  // the report is one of the value's own columns

 private:
  std::uint64_t categories_, blocks_, block_size_, elsewhere_;  // elsewhere_/2^64 = 1 − P
  double epsilon_;
};

// What a report is, for a category x: in its own columns, those of another category of its block,
// or those of one elsewhere; and in x's block.
struct BlockLaw {
  double own, same_block, elsewhere, block_own, block_elsewhere;
  bool one_block;
  explicit BlockLaw(const HadamardResponse& response);
  // n times the variance of the estimated share of a category, its block having block_share.
  double variance(double share, double block_share) const;
};

}  // namespace sotto::local
