// Input perturbation: a noisy histogram of the whole encoded record becomes synthetic records,
// which any estimator may use.
//
// What       Every record falls into one cell of a public product grid (categories × bins of
//            numbers × target). Cell counts get noise once; synthetic records are as many copies of
//            each cell's centre as its cleaned count; an ordinary fit follows.
// Guarantee  event(): one discrete Laplace (pure ε) or Gaussian (ρ) on the counts. The synthetic
//            records and whatever is computed from them are post-processing.
// Method     One record changes one count by 1 (add_remove, zero_out: ℓ1 = ℓ2 = 1) or two
//            (replace_one: ℓ1 = 2, ℓ2 = √2); k contributions, k times that. Cleaning: all counts
//            are lowered by one number and cut at 0 such that they sum to the declared number of
//            rows, then rounded. Bins of a number: as many, 2 to 32, as leave an average cell twice
//            the noise; public facts only.
//            More than 2^20 cells even with two bins for a number are refused: noise would be all
//            there is.
// Numerics   Counts are whole numbers and the noise is exact.
// Reference  [BLR08] for releasing data for later use; docs/math/input-perturbation.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sotto/core/relation.hpp"
#include "sotto/core/release.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/mechanisms/lattice_noise.hpp"
#include "sotto/models/linear/exact_rows.hpp"
#include "sotto/models/linear/linear_model.hpp"
#include "sotto/models/linear/method_choice.hpp"

namespace sotto {

// The product grid: one axis for each column of the encoded row, one for the target.
class ProductGrid {
 public:
  static constexpr std::uint64_t kMaximalCells = 1 << 20;

  // numbers: bins of a numeric column (and of a numeric target). Throws Unsupported beyond
  // kMaximalCells.
  ProductGrid(const PublicFacts& facts, std::size_t numbers);
  // How many cells there would be; saturates.
  static std::uint64_t cells(const PublicFacts& facts, std::size_t numbers);

  std::uint64_t size() const { return size_; }
  std::size_t numbers() const { return numbers_; }
  // The cell of a row; none for the null record.
  std::optional<std::uint64_t> cell(const ExactRows& rows, std::size_t i) const;
  // The encoded features and the target at the centre of a cell.
  void centre(std::uint64_t cell, std::span<float> features, float& target) const;

 private:
  std::vector<EncodedColumn> columns_;
  std::size_t numbers_, classes_;  // classes_: 0 for a numeric target
  bool signed_target_;             // −1 and 1 instead of 0 and 1
  std::uint64_t size_;
};

struct InputPerturbationOptions {
  std::size_t bins = 0;       // of a number; 0: by the rule above
  double regularisation = 0;  // of the fit on synthetic records; 0: 1e-4
  unsigned threads = 0;
};

class InputPerturbationPlan {
 public:
  // budget: a pure ε or a ρ.
  InputPerturbationPlan(InputPerturbationOptions options, PublicFacts facts, const Budget& budget);

  Event event() const { return noise_.event(); }
  Relation relation() const { return noise_.relation(); }
  std::string describe() const;
  const ProductGrid& grid() const { return grid_; }

  // The counts by cell, PRIVATE.
  std::vector<std::uint64_t> counts(const ExactRows& rows) const;
  Release<ExactRows> synthesise(const ExactRows& rows, Rng& rng) const;
  Release<LinearModel> run(const ExactRows& rows, Rng& rng) const;

 private:
  InputPerturbationOptions options_;
  PublicFacts facts_;
  ProductGrid grid_;
  LatticeNoise noise_;
};

// Lowers all counts by the same amount ≥ 0 and cuts them at 0 such that they sum to at most
// `total`, then rounds.
std::vector<std::uint64_t> cleaned_counts(std::vector<double> noisy, double total);

}  // namespace sotto
