// Cells of a column that are too rare to be told from noise, put together into levels.
//
// What       From noisy counts of the cells of one column: which cells make up a level, and how the
//            records of a level spread over its cells.
// Guarantee  Post-processing of released counts.
// Method     A level has at least three standard deviations of noise: neighbouring numbers are put
//            together until they have, or have `bar`; rare categories in one. Where there are many
//            levels of a number, more than 4/3 of `few`, the bar is raised until there are `few`: a
//            number with few values keeps each, one with many needs no more. No more than
//            kMostCategories of a category (the commonest). Inside a level cells share by their
//            counts, shrunken to equal shares by as much as noise alone would spread them [JS61].
//            Between whole numbers nothing is put where all that lies between together is no more
//            than noise.
// Numerics   Shares are not negative and add up to 1.
// Reference  docs/math/synthesis.md.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace sotto {

struct ColumnLevels {
  static constexpr std::uint32_t kMostNumbers = 16, kFewNumbers = 12, kMostCategories = 32;

  std::uint32_t levels = 0;
  std::vector<std::uint32_t> level = {};  // of each cell
  std::vector<double> share = {};         // of each cell in its level
  std::vector<double> counts = {};        // noisy, of each level
  std::vector<std::uint32_t> noisy = {};  // cells that these are sums of
  double deviation = 0;                   // of these: of levels of many cells more than of others
};

enum class CellOrder { categories, numbers };

// counts: noisy, with this standard deviation each. stride: every so many cells there is one of a
// whole number; 0: there is none. few: at most kFewNumbers. bar: a count that is enough for a level
// even where it is not told from noise. likely: what shares are shrunken to, up to a factor; none:
// equal ones.
ColumnLevels grouped(std::span<const double> counts, double deviation, CellOrder order,
                     std::uint32_t stride = 0, std::uint32_t few = ColumnLevels::kFewNumbers,
                     double bar = std::numeric_limits<double>::infinity(),
                     std::span<const double> likely = {});

// The same from better counts, with the levels as they are.
ColumnLevels regrouped(std::span<const double> counts, double deviation, std::uint32_t stride,
                       std::span<const std::uint32_t> level, std::span<const double> likely = {});

}  // namespace sotto
