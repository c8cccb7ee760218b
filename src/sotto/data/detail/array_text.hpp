// Arrays (.npy, IDX) read where a table is expected: their rows as lines of comma-separated
// numbers.
//
// The first axis counts the records; whatever is left is one column for each number of a record, in
// C order. Numbers are written so that they read back as the same double, whole ones without a
// point: "3" can be a category. From there an array goes the way of a CSV file without a header,
// through the same encoder and the same refusals.
#pragma once

#include <memory>
#include <string>

#include "sotto/data/byte_source.hpp"

namespace sotto {

class ArrayText {
 public:
  // Null when the file, plain or gzip, does not begin like an array. Throws DataError when it does
  // and is damaged, or has no column.
  static std::shared_ptr<const ArrayText> open(const std::string& path);

  virtual ~ArrayText() = default;
  virtual std::size_t columns() const = 0;
  // From the first record on; the array must outlive the source.
  virtual std::unique_ptr<ByteSource> text() const = 0;
};

}  // namespace sotto
