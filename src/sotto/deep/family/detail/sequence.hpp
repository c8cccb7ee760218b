// Detail: rows of values as sequences, and the network that predicts each value from those before
// it as a model of the shelf.
//
// What       A table whose features are all categories with one list of values is a sequence in
//            each row: text with a character in each column, codes, visited states. The model
//            writes the log-likelihood of a row.
// Guarantee  That of DpSgdPlan: the unit is the row, hence a whole text.
// Numerics   A place counts for at most kMostNats.
#pragma once

#include <memory>

#include "sotto/deep/family/detail/network_model.hpp"
#include "sotto/deep/training/records.hpp"
#include "sotto/learning/block.hpp"
#include "sotto/learning/facts.hpp"

namespace sotto::deep {

inline constexpr double kMostNats = 32;  // of one place: ln of the inverse probability

// Throws Unsupported unless all features are categories with the same values.
void check_sequence_facts(const Facts& facts);
std::int64_t values_of_places(const Facts& facts);

// Inputs and targets (n, places): the numbers of the values; a null record's targets count for
// nothing.
Records sequence_records(const Table& table);

std::unique_ptr<Model> sequence_model(Network network, const Facts& facts, NetworkFiles files);

}  // namespace sotto::deep
