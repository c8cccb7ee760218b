#include "sotto/learning/block.hpp"

#include "sotto/core/error.hpp"

namespace sotto {

const Table& Block::table() const {
  if (table_ == nullptr)
    throw Unsupported("this model reads rows of a table, not images",
                      "give a CSV file or an array");
  return *table_;
}

const Images& Block::images() const {
  if (images_ == nullptr)
    throw Unsupported("this model reads images, not rows of a table", "give a folder of images");
  return *images_;
}

}  // namespace sotto
