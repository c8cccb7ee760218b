#include "sotto/learning/facts.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"

namespace sotto {

std::uint64_t Facts::declared_rows() const {
  if (!rows) {
    throw DataError("the schema declares no number of rows",
                    "add rows = N at its top: a public number, used as divisor; it need not be "
                    "exact under add_remove");
  }
  return *rows;
}

std::vector<std::string> Facts::classes() const {
  if (encoder)
    return encoder->is_classification() ? encoder->target().labels() : std::vector<std::string>{};
  std::vector<std::string> labels;
  for (std::size_t c = 0; images && c < images->classes; ++c) labels.push_back(std::to_string(c));
  return labels;
}

Facts table_facts(Schema schema) {
  Facts facts;
  facts.encoder = std::make_shared<const Encoder>(std::move(schema));
  const Schema& declared = facts.encoder->schema();
  facts.relation = declared.relation;
  facts.rows = declared.rows;
  facts.unit = declared.unit;
  facts.contributions = declared.unit == Unit::user ? declared.max_contributions : 1;
  return facts;
}

Facts image_facts(const ImageFacts& images, Relation relation, std::uint64_t rows) {
  Facts facts;
  facts.images = images;
  facts.relation = relation;
  facts.rows = rows;
  return facts;
}

void check_target(const Facts& facts, Task task, const std::string& model,
                  const std::string& others) {
  const std::vector<std::string> labels = facts.classes();
  if (facts.encoder) {
    const ColumnEncoder& target = facts.encoder->target();  // throws when there is none
    if (labels.empty() != (task == Task::regress)) {
      throw InvalidArgument(
          fmt::format("the model {} does not fit the target '{}', which is {}", model,
                      target.column().name, labels.empty() ? "a number" : "a class"),
          fmt::format("use `model` {}", others));
    }
  }
  if (task == Task::classify && labels.size() < 2) {
    throw DataError("the target has fewer than two declared classes",
                    "declare all classes in the schema");
  }
}

std::vector<std::string> assumptions_of(const Facts& facts) {
  std::vector<std::string> list;
  if (facts.images) {
    list.push_back(fmt::format(
        "{} images of {}x{} pixels in {} classes are declared, public figures",
        facts.rows.value_or(0), facts.images->height, facts.images->width, facts.images->classes));
    return list;
  }
  list.push_back(fmt::format("the schema (columns, bounds, categories{}) {}",
                             facts.rows ? fmt::format(", {} rows", *facts.rows) : "",
                             facts.encoder->schema().drafted
                                 ? "was estimated from this data, at the cost of its draft"
                                 : "is public and was not read from this data"));
  if (facts.unit == Unit::user)
    list.push_back(fmt::format("at most {} records of a user are used", facts.contributions));
  return list;
}

}  // namespace sotto
