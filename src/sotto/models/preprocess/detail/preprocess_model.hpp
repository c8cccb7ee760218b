// Detail: released bounds, means or edges as a model of the shelf.
#pragma once

#include <memory>
#include <vector>

#include "sotto/learning/unsupervised_model.hpp"

namespace sotto {

enum class Preprocessing { bounds, scale, bins };
std::string_view name(Preprocessing kind);
Preprocessing parse_preprocessing(std::string_view text);  // throws InvalidArgument

// What was found of a numeric column: lower and upper bound; mean and deviation; inner edges of
// bins, ascending. All in the unit of the column.
using ColumnFigures = std::vector<double>;

inline constexpr double kScaleReach = 4;  // scaled numbers beyond are clamped by whoever reads them
inline constexpr std::size_t kMostBins = 1000;

// One entry of figures for each numeric feature. Throws DataError when they do not fit.
std::unique_ptr<Model> preprocess_model(Preprocessing kind, std::vector<ColumnFigures> figures,
                                        const Facts& facts);
std::unique_ptr<Model> load_preprocess(const Files& files, Facts& facts);

// The columns that a model writes.
std::vector<OutputColumn> preprocess_columns(Preprocessing kind,
                                             const std::vector<ColumnFigures>& figures,
                                             const Encoder& encoder);

}  // namespace sotto
