// Detail: records that were drawn, made more alike to what they were drawn from.
//
// What       A file of a few hundred records has accidents: pairs of columns that seem to depend on
//            each other, and above all a target that seems to depend on what it does not. A model
//            that is trained on the file learns these. Cells of a column are therefore exchanged
//            between records where that takes accidents out of the file.
// Guarantee  Post-processing: a function of a released model and of fresh randomness. What a column
//            holds stays as it was drawn.
// Method     First the columns without the target: exchanges that lower Σ (M − E)²/(E + ½) over the
//            combinations of bins of all pairs of columns, M drawn and E of the model. Then the
//            target: with r = 1[t] − P(t | x) of each record, exchanges that lower Σ |Σ r|²/n over
//            bins of each column, from fine to coarse, and of pairs of columns, n the records in
//            each: what a split of a decision tree would gain by chance. Pairs of records are tried
//            in random order, so many times as the work allows.
// Numerics   Sums in double; what is lowered is recomputed from exchanges alone.
// Reference  docs/math/synthesis.md.
#pragma once

#include <optional>
#include <vector>

#include "sotto/core/rng.hpp"
#include "sotto/models/synthesis/detail/cell_columns.hpp"
#include "sotto/models/synthesis/detail/synthesis_model.hpp"

namespace sotto {

class EvenRecords {
 public:
  static constexpr std::size_t kMostRecords = 20000;  // of more, accidents are small
  static constexpr std::size_t kMostColumns = 64;
  static constexpr std::uint32_t kMostLevels = 64;

  // Whether so many records of this model are: not more than that, and of a model that says little
  // more than pairs do. Where many columns depend on each other, exchanges that look at pairs alone
  // would lose what three and more of them have together.
  static bool suits(const CellColumns& columns, const SynthesisModel& model, std::uint64_t rows);

  // The model has potentials; markov draws from it. Both and columns must outlive it.
  EvenRecords(const CellColumns& columns, const SynthesisModel& model, const MarkovModel& markov,
              Rng& rng);

  // cells: one of each column, record by record.
  void even_out(std::vector<std::uint32_t>& cells, Rng& rng) const;

 private:
  struct Bins {
    std::vector<std::uint32_t> of_cell;
    std::uint32_t count = 1;
  };
  // within_levels: no bin reaches over the edge of a level, which may make some more of them.
  Bins bins_of(std::size_t column, std::uint32_t most, bool within_levels = false) const;
  std::vector<double> in_levels(std::size_t column, const Bins& bins) const;
  std::vector<double> expected(std::size_t a, std::size_t b) const;
  void even_columns(std::vector<std::uint32_t>& cells, Rng& rng) const;
  void draw_target(std::vector<std::uint32_t>& cells, Rng& rng) const;
  void even_target(std::vector<std::uint32_t>& cells, Rng& rng) const;

  const CellColumns& columns_;
  const SynthesisModel& model_;
  std::size_t width_;
  std::vector<std::vector<double>> share_;  // of each level of each column, of the model
  std::vector<std::uint32_t> sample_;       // levels of records of the model
  std::vector<Bins> fine_;
};

}  // namespace sotto
