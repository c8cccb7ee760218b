// Arrays (.npy, IDX) read where a table is expected: their rows as numbers, or as lines of
// comma-separated numbers.
//
// The first axis counts the records; whatever is left is one column for each number of a record, in
// C order. Where a column is more than a number (a category, a user), an array goes the way of a
// CSV file without a header, through the same encoder and the same refusals: numbers are written so
// that they read back as the same double, whole ones without a point, and "3" can be a category.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "sotto/data/byte_source.hpp"

namespace sotto {

class NumberSource {
 public:
  virtual ~NumberSource() = default;
  // Fills `out` as far as the array goes; throws DataError when the file is damaged.
  virtual std::size_t read(std::span<double> out) = 0;
};

class ArrayText {
 public:
  // Null when the file, plain or gzip, does not begin like an array. Throws DataError when it does
  // and is damaged, or has no column.
  static std::shared_ptr<const ArrayText> open(const std::string& path);

  virtual ~ArrayText() = default;
  virtual std::size_t columns() const = 0;
  // From the first record on; the array must outlive the source.
  virtual std::unique_ptr<NumberSource> numbers() const = 0;
  std::unique_ptr<ByteSource> text() const;
};

}  // namespace sotto
