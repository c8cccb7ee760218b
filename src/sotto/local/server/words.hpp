// How many clients have which word: sketches and hash tables asked about candidates.
//
// What       WordAggregator::shares estimates the share of each candidate, with its variance.
// Guarantee  Post-processing. Candidates are public; asking for many gives false ones by chance, as
//            standard errors say.
// Method     Over the rows of a sketch, the debiased content T of the candidate's cells; others
//            share a cell in 1/m of the rows: f̂ = (T/n − 1/m)·m/(m − 1) [App17].
// Numerics   A row of the Hadamard sketch is transformed at a time: memory is that of the cells.
// Reference  [App17]; docs/math/local-privacy.md.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sotto/local/client/declaration.hpp"
#include "sotto/local/server/aggregator.hpp"

namespace sotto::local {

class WordAggregator : public Aggregator {
 public:
  using Aggregator::Aggregator;
  virtual Frequencies shares(const std::vector<std::string>& candidates) = 0;
};

// Nothing for protocols that are not sketches.
std::unique_ptr<WordAggregator> make_word_aggregator(const Declaration& declaration);

}  // namespace sotto::local
