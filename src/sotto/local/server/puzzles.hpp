// Unknown words from the reports of a sequence fragment puzzle.
//
// What       words(): words over an alphabet that many clients have, with their shares; shares():
//            those of words that are named.
// Guarantee  Post-processing.
// Method     For each place, pieces (hash, two bytes) whose share is `deviations` standard errors
//            above nothing. Pieces of all places with one hash are joined in all ways; a word whose
//            hash agrees is asked of the sketch of whole words, which decides and gives its share.
// Numerics   At most `most` pieces a place, the most frequent ones; at most 2^20 words are tried.
// Reference  [App17].
#pragma once

#include <string>
#include <vector>

#include "sotto/local/client/puzzle.hpp"
#include "sotto/local/server/aggregator.hpp"
#include "sotto/local/server/prefixes.hpp"

namespace sotto::local {

class PuzzleAggregator final : public Aggregator {
 public:
  explicit PuzzleAggregator(const FragmentPuzzle& puzzle);
  bool accepts(Bytes report) const override;
  // Of words that are named, from the sketch of whole words.
  Frequencies shares(const std::vector<std::string>& words) const;
  std::vector<FoundWord> words(const std::string& alphabet, std::size_t most = 512,
                               double deviations = 4) const;

 private:
  struct Piece {
    std::uint8_t hash;
    std::string bytes;
    double share;
  };
  void count(Bytes report) override;
  std::int64_t most_down() const override { return 1; }
  std::vector<Piece> pieces(std::uint64_t place, const std::string& alphabet, std::size_t most,
                            double deviations) const;
  std::vector<std::string> joined(const std::vector<std::vector<Piece>>& by_place) const;
  std::uint64_t sketch_cells() const;
  // Of a place; that of whole words is the last.
  std::span<const std::int64_t> sketch(std::uint64_t place) const;

  FragmentPuzzle puzzle_;
};

}  // namespace sotto::local
