// Input perturbation: a noisy histogram of the whole encoded record becomes synthetic records,
// which any estimator may use.
//
// What       The perturbed histogram of the encoded record and its target
//            (synthesis/detail/perturbed_histogram.hpp); synthetic records are as many copies of
//            each cell's centre as its cleaned count; an ordinary fit follows.
// Guarantee  event(): that of the histogram. The synthetic records and whatever is computed from
//            them are post-processing.
// Method     One axis for each column and one for the target: a cell for each value, bins of
//            numbers.
// Numerics   Counts are whole numbers and the noise is exact.
// Reference  docs/math/input-perturbation.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sotto/core/relation.hpp"
#include "sotto/core/release.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/models/linear/exact_rows.hpp"
#include "sotto/models/linear/linear_model.hpp"
#include "sotto/models/linear/method_choice.hpp"
#include "sotto/models/synthesis/detail/perturbed_histogram.hpp"

namespace sotto {

// The product grid: one axis for each column of the encoded row, one for the target.
class ProductGrid {
 public:
  // numbers: bins of a numeric column (and of a numeric target).
  ProductGrid(const PublicFacts& facts, std::size_t numbers);
  // How many cells there would be, however many.
  static double cells(const PublicFacts& facts, std::size_t numbers);

  double size() const { return size_; }
  std::size_t numbers() const { return numbers_; }
  // The cell of a row; none for the null record.
  std::optional<std::uint64_t> cell(const ExactRows& rows, std::size_t i) const;
  // The encoded features and the target at the centre of a cell.
  void centre(std::uint64_t cell, std::span<float> features, float& target) const;

 private:
  std::vector<EncodedColumn> columns_;
  std::size_t numbers_, classes_;  // classes_: 0 for a numeric target
  bool signed_target_;             // −1 and 1 instead of 0 and 1
  double size_;
};

struct InputPerturbationOptions {
  std::size_t bins = 0;       // of a number; 0: by the rule above
  double regularisation = 0;  // of the fit on synthetic records; 0: 1e-4
  unsigned threads = 0;
};

class InputPerturbationPlan {
 public:
  // budget: a pure ε or a ρ.
  InputPerturbationPlan(InputPerturbationOptions options, const PublicFacts& facts,
                        const Budget& budget);

  Event event() const { return histogram_.event(); }
  Relation relation() const { return histogram_.relation(); }
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
  PerturbedHistogram histogram_;
};

}  // namespace sotto
