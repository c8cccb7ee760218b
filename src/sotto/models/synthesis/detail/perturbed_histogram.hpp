// The perturbed histogram: noisy counts of the cells of a declared product grid, cleaned so that
// they can stand for records.
//
// What       Every record falls into one cell of a public grid (categories × bins of numbers). The
//            counts of all cells, occupied or not, get noise once. Cleaned, they are synthetic
//            records: so many copies of each cell, which any estimator may use.
// Guarantee  event(): one discrete Laplace (pure ε) or Gaussian (ρ) on the counts.
// Method     One record changes one count by 1 (add_remove, zero_out: ℓ1 = ℓ2 = 1) or two
//            (replace_one: ℓ1 = 2, ℓ2 = √2); k contributions, k times that. Cleaning: all counts
//            are lowered by one number and cut at 0 such that they sum to the declared number of
//            rows, then rounded. Bins of a number: as many, 2 to 32, as leave an average cell twice
//            the noise; public facts only. More than kMostCells are refused: noise would be all
//            there is.
// Numerics   Counts are whole numbers and the noise is exact.
// Reference  [BLR08] for releasing data for later use; docs/math/input-perturbation.md.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sotto/core/release.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/mechanisms/lattice_noise.hpp"

namespace sotto {

class PerturbedHistogram {
 public:
  static constexpr std::uint64_t kMostCells = 1 << 20;

  struct Options {
    Relation relation;
    Budget budget;                    // a pure ε or a ρ
    std::uint64_t rows = 0;           // declared
    std::uint64_t contributions = 1;  // records of one unit
  };
  // cells: how many there are; any number beyond kMostCells says "more". Throws Unsupported then,
  // InvalidArgument for another budget or no rows.
  PerturbedHistogram(const Options& options, double cells);
  // How many bins of a number; cells(b): the cells there are with b of them.
  static std::size_t bins(const Options& options, const std::function<double(std::size_t)>& cells);

  Event event() const { return noise_.event(); }
  Relation relation() const { return noise_.relation(); }
  std::string describe() const { return noise_.describe(); }
  const LatticeNoise& noise() const { return noise_; }

  // From the counts of all cells to cleaned ones.
  Release<std::vector<std::uint64_t>> run(std::span<const std::uint64_t> counts, Rng& rng) const;

 private:
  double rows_;
  LatticeNoise noise_;
};

// Lowers all counts by the same amount ≥ 0 and cuts them at 0 such that they sum to at most
// `total`, then rounds.
std::vector<std::uint64_t> cleaned_counts(std::vector<double> noisy, double total);

}  // namespace sotto
