// Detail: whether the target rises or falls with a column: one number where a table has many.
//
// What       For each column but the target a few sums over records of u(x)·v(t). u of a number is
//            −1 in its lower levels and +1 in its upper ones, of a category one for each level,
//            which is 1 there and 0 elsewhere; v the same of the target. Then, from these sums with
//            noise: the table of each column with the target that they make likely.
// Guarantee  sums() is private and is noised by who asks. In the block of a column one record has
//            one entry that is not 0, and this is −1 or 1: between neighbours a block moves by at
//            most 1 in ℓ1 and ℓ2 alike, replaced by at most 2 in both (from −1 to 1 in one entry;
//            in two entries ℓ2 is √2), all blocks by ℓ1 = their number, ℓ2 = its root times that.
//            shrunken() and table() are post-processing.
// Method     Of one pair with l × m levels (l − 1)(m − 1) contrasts are told by a table, each with
//            the noise of all its cells; a trend is the one that matters most, alone. Where no
//            record says anything the sums are what the columns say: this is taken off, for a side
//            that is a category by its own sum. What is left is shrunken by what noise explains
//            [JS61], of all columns together or of one, whichever leaves more. The table has the
//            columns' shares p, q as margins and is p·q·exp(η·d), up to factors of rows and of
//            columns, with the scores d of levels by their ranks (numbers) or by the sums
//            (categories); η by bisection, so that the table has the shrunken sums.
// Numerics   Sums of whole numbers. Tables are positive and add up to 1.
// Reference  docs/math/synthesis.md.
#pragma once

#include <vector>

#include "sotto/learning/source.hpp"
#include "sotto/models/synthesis/detail/cell_columns.hpp"
#include "sotto/models/synthesis/detail/synthesis_model.hpp"

namespace sotto {

class TrendQueries {
 public:
  // columns must outlive it and has a target; the model has levels and counts of columns.
  TrendQueries(const CellColumns& columns, const SynthesisModel& model);

  // How many sums there can be, whatever the levels are.
  static std::size_t most(const CellColumns& columns);
  std::size_t size() const { return size_; }
  std::vector<int128> sums(Source& source) const;

  // Of each column: what is left of its sums; nothing for the target and where no trend is told
  // from noise. deviation: of a sum.
  std::vector<std::vector<double>> shrunken(std::span<const double> sums, double deviation) const;
  // Shares of the combinations of a column's levels with the target's, in the order of the two
  // columns, from these sums. now: the columns, which may have other levels by then.
  std::vector<double> table(std::size_t column, const std::vector<double>& shrunken,
                            const SynthesisModel& now) const;

 private:
  struct Side {
    bool number = true;
    std::vector<double> share = {}, score = {};  // of each level
    std::vector<int> sign = {};                  // of each level of a number
    std::size_t width() const { return number ? 1 : share.size(); }
    double mean_sign() const;
  };
  // A column with levels as they are now: what each entry of u is in them on average, and what it
  // adds to their scores.
  struct Reading {
    std::vector<double> share, entry, score;  // the last two: entries × levels
    std::size_t entries = 1;
  };
  std::vector<double> residual(const Side& side, std::span<const double> sums) const;
  Reading reading(std::size_t column, const SynthesisModel& now) const;
  static Side side_of(bool number, std::vector<double> share);

  const CellColumns& columns_;
  std::vector<std::vector<std::uint32_t>> level_;  // of each cell of each column
  double total_;
  std::size_t target_;
  std::vector<Side> sides_;          // of each column
  std::vector<std::size_t> offset_;  // of each column's block
  std::size_t size_ = 0;
};

}  // namespace sotto
