// Which pairs of columns say something together that neither says alone: one noisy look at all.
//
// What       Each column's scale is cut into kCuts even parts. For every pair of columns, in every
//            combination of parts, the noisy sum of the residuals of its records. By
//            post-processing: the credit of a pair.
// Guarantee  One discrete Gaussian mechanism. A record has residuals of norm ≤ 1, truncated to
//            steps of 2^−20, and adds them to one cell of each of P pairs: ℓ2 ≤ √P. replace_one:
//            twice as far; k records of a unit: k times.
// Method     From a table of sums G what either column says alone is taken out, by the noisy shares
//            of its parts. The rest of pure noise has an expected square of F·σ² with a known F, 49
//            for even shares, and what chance puts into the cells of n records has one of about n:
//            so Σ G²/σ² − F − n/σ² has expectation ≤ 0 where columns do not act together. What is
//            below three standard deviations counts as nothing. Where no pair has five, the same
//            is asked of four products of shapes (even steps and a bowl along each column): of
//            pairs that act smoothly one coordinate has all of the signal and little of the noise.
// Numerics   64-bit sums of steps of 2^−20, for up to 2^40 records.
// Reference  docs/math/kernel.md.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sotto/core/rng.hpp"
#include "sotto/models/kernel/detail/margin_loss.hpp"
#include "sotto/models/kernel/detail/noisy_marginals.hpp"

namespace sotto {

struct PairCredit {
  std::uint32_t first = 0, second = 0;  // columns
  double credit = 0;                    // > 0
};

class PairScan {
 public:
  static constexpr double kUnit = 0x1p-20;
  static constexpr std::size_t kCuts = 8, kCells = kCuts * kCuts;
  using Shares = std::array<double, kCuts>;  // of the records, in the parts of a column

  // Of d columns with so many outputs, how many are looked at in pairs: all, or as many as keep the
  // tables small.
  static std::size_t columns_of(std::size_t d, std::size_t outputs);
  static std::size_t pairs_of(std::size_t columns) { return columns * (columns - 1) / 2; }

  // The `wanted` columns with the largest uses.
  PairScan(const std::vector<ColumnScale>& scales, const std::vector<double>& uses,
           std::size_t wanted, std::size_t outputs);

  // Pair by pair, cell by cell, output by output, in steps of kUnit. margins: one for each output
  // of each record.
  std::vector<int128> sums(const BinnedRows& records, std::span<const float> margins,
                           MarginLoss loss, double clip) const;
  // noisy: in natural units, with noise of this standard deviation; of so many declared rows.
  std::vector<PairCredit> credits(std::span<const double> noisy, double noise, double rows) const;

 private:
  const std::vector<ColumnScale>& scales_;
  std::vector<std::uint32_t> columns_;  // ascending
  std::vector<Shares> shares_;          // of these columns
  std::size_t outputs_;
};

}  // namespace sotto
