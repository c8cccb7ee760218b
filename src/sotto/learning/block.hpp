// Block: some records as a model sees them, rows of an encoded table or images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sotto/data/table.hpp"

namespace sotto {

// Grey images, one byte a pixel. A label is the number of a declared class, or that number of
// classes where the file had something else: whether it had is private.
struct Images {
  std::size_t height = 0, width = 0;
  std::vector<std::uint8_t> pixels;   // count × height × width
  std::vector<std::uint32_t> labels;  // empty when they were not read

  std::size_t count() const { return pixels.size() / (height * width); }
};

class Block {
 public:
  Block(const Table& table) : table_(&table) {}      // NOLINT: both are blocks
  Block(const Images& images) : images_(&images) {}  // NOLINT

  std::size_t rows() const { return table_ != nullptr ? table_->rows() : images_->count(); }
  bool is_table() const { return table_ != nullptr; }
  // Throw Unsupported where the records are of the other form.
  const Table& table() const;
  const Images& images() const;

 private:
  const Table* table_ = nullptr;
  const Images* images_ = nullptr;
};

}  // namespace sotto
