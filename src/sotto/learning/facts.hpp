// Facts: everything a training plan may know about the data, all of it declared in public.
//
// For a table they are the schema and what follows from it, the encoder. For a folder of images
// they are the declared size, number and classes. Nothing here was read from the data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sotto/data/encoder.hpp"
#include "sotto/learning/task.hpp"

namespace sotto {

struct ImageFacts {
  std::size_t height = 28, width = 28, classes = 10;
};

struct Facts {
  std::shared_ptr<const Encoder> encoder = {};  // of a table; none for images
  std::optional<ImageFacts> images = {};        // none for a table
  Relation relation = Relation::add_remove;
  std::optional<std::uint64_t> rows = {};  // declared
  Unit unit = Unit::record;
  std::uint64_t contributions = 1;  // records that one unit of privacy may have

  // The declared number of records, for plans that divide by it. Throws DataError when there is
  // none.
  std::uint64_t declared_rows() const;
  // Names of the classes of the target; empty when it is a number or when there is none.
  std::vector<std::string> classes() const;
};

// Throws DataError or Unsupported when no encoder follows from the schema.
Facts table_facts(Schema schema);
Facts image_facts(const ImageFacts& images, Relation relation, std::uint64_t rows);

// Refuses a target that does not fit the task, and a class with fewer than two declared values.
// model: how the user calls what is to be fitted; others: what to use instead, for the hint.
void check_target(const Facts& facts, Task task, const std::string& model,
                  const std::string& others);

// The assumptions of every guarantee for these facts: the schema is public, users are bounded.
std::vector<std::string> assumptions_of(const Facts& facts);

}  // namespace sotto
