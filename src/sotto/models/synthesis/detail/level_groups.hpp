// Cells of a column that are too rare to be told from noise, put together into levels.
//
// What       From noisy counts of the cells of one column: which cells make up a level, and how the
//            records of a level spread over its cells.
// Guarantee  Post-processing of released counts.
// Method     A level has at least three standard deviations of noise: neighbouring numbers are put
//            together until they have, rare categories all in one. Where that leaves more than
//            kMostNumbers levels of a number the bar is raised until there are kFewNumbers: a
//            number with few values keeps each, one with many needs no more. No more than
//            kMostCategories of a category (the commonest). Inside a level cells share by their counts, shrunken to equal shares
//            by as much as noise alone would spread them [JS61]. Between whole numbers nothing is
//            put where all that lies between together is no more than noise.
// Numerics   Shares are not negative and add up to 1.
// Reference  docs/math/synthesis.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sotto {

struct ColumnLevels {
  static constexpr std::uint32_t kMostNumbers = 16, kFewNumbers = 12, kMostCategories = 32;

  std::uint32_t levels = 0;
  std::vector<std::uint32_t> level;  // of each cell
  std::vector<double> share;         // of each cell in its level
};

enum class CellOrder { categories, numbers, whole_numbers };

// counts: noisy, with this standard deviation each.
ColumnLevels grouped(std::span<const double> counts, double deviation, CellOrder order);

}  // namespace sotto
