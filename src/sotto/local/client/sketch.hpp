// Sketches for words that nobody has listed: count-mean sketch (CMS) and its Hadamard form (HCMS).
//
// What       A client draws one of the public hash functions (rows) and hashes its word to one of m
//            cells. CMS reports all m cells, unary and noised; HCMS reports one random coordinate
//            of the Hadamard transform of the cells, one noised sign.
// Guarantee  CMS: that of symmetric unary encoding over m cells. HCMS: ln((1−t)/t) with t the
//            probability that the sign is turned, 1/(e^ε + 1). Row and coordinate are drawn without
//            a look at the word.
// Method     Row j hashes by a polynomial of degree 2 over the field of 2^61 − 1 elements, which is
//            three-wise independent [App17].
// Numerics   t is a multiple of 2^-64, rounded up.
// Reference  [App17].
#pragma once

#include "sotto/local/client/unary.hpp"

namespace sotto::local {

struct SketchShape {
  std::uint64_t rows = 1024, width = 1024;  // width: a power of two for HCMS
};

// The cell of a key (hash_family.hpp: key_of_word) in a row.
std::uint64_t sketch_cell(std::uint64_t row, std::uint64_t key, std::uint64_t width);

class CountSketch final : public Randomizer {
 public:
  CountSketch(double epsilon, const SketchShape& shape);
  double epsilon() const override { return bits_.epsilon(); }
  std::size_t report_bytes() const override {
    return bytes_for(shape_.rows) + bits_.report_bytes();
  }
  void answer(const Value& value, Memory* memory, Rng& rng,
              std::span<std::uint8_t> report) const override;
  long double probability(const Value& value, Bytes report) const override;
  const SketchShape& shape() const { return shape_; }
  double p() const { return bits_.p(); }
  double q() const { return bits_.q(); }

 private:
  SketchShape shape_;
  UnaryEncoding bits_;
};

class HadamardSketch final : public Randomizer {
 public:
  HadamardSketch(double epsilon, const SketchShape& shape);
  double epsilon() const override { return epsilon_; }
  // Row, then coordinate and sign together: 2·coordinate, and 1 more for −1.
  std::size_t report_bytes() const override {
    return bytes_for(shape_.rows) + bytes_for(2 * shape_.width);
  }
  void answer(const Value& value, Memory* memory, Rng& rng,
              std::span<std::uint8_t> report) const override;
  long double probability(const Value& value, Bytes report) const override;
  const SketchShape& shape() const { return shape_; }
  double scale() const;  // c: a reported sign times c is unbiased
  // Whether bytes are a report; and which cell it moves (row by row), up or down.
  bool readable(Bytes report) const;
  struct Told {
    std::uint64_t cell;
    std::int64_t sign;
  };
  Told told(Bytes report) const;

 private:
  SketchShape shape_;
  std::uint64_t turn_;
  double epsilon_;
};

}  // namespace sotto::local
