// Sequence fragment puzzle: two sketched reports from which unknown words can be put together.
//
// What       A client draws a place in its word, reports the two bytes there together with an 8-bit
//            hash of the whole word (the puzzle piece), and the whole word, each by a Hadamard
//            count-mean sketch.
// Guarantee  ε/2 for each of the two: ε together. The place is drawn without a look at the word.
// Method     Words are padded with zeros to `length` bytes; places are 0, 2, 4, …. Frequent pieces
//            of all places with the same hash make a word; the second sketch confirms it
//            [App17].
// Numerics   As sketch.hpp.
// Reference  [App17].
#pragma once

#include <string>

#include "sotto/local/client/sketch.hpp"

namespace sotto::local {

class FragmentPuzzle final : public Randomizer {
 public:
  static constexpr std::uint64_t kFragment = 2;

  // length: of words, even; longer ones are cut.
  FragmentPuzzle(double epsilon, std::uint64_t length, const SketchShape& shape);
  double epsilon() const override { return 2 * sketch_.epsilon(); }  // exact in a double
  std::size_t report_bytes() const override { return 1 + 2 * sketch_.report_bytes(); }
  void answer(const Value& value, Memory* memory, Rng& rng,
              std::span<std::uint8_t> report) const override;
  long double probability(const Value& value, Bytes report) const override;

  const HadamardSketch& sketch() const { return sketch_; }
  std::uint64_t places() const { return length_ / kFragment; }
  std::string padded(std::string_view word) const;
  static std::uint8_t piece_hash(const std::string& padded);
  // What the first sketch is given: place, hash and the two bytes.
  static std::string piece(std::uint64_t place, std::uint8_t hash, std::string_view fragment);

 private:
  std::uint64_t length_;
  HadamardSketch sketch_;
};

}  // namespace sotto::local
