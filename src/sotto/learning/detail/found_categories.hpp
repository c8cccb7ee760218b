// The values of categorical columns, found in the data with a part of the budget: the first step of
// a pipeline, `categories`.
//
// What       For each named column the categories that are common enough to hide a unit, at most
//            `most` of them, the commonest; everything else is "other". The schema that comes out
//            declares them as anybody would.
// Guarantee  event(): for each column a stability histogram, (ε, δ) each (stability_histogram.hpp),
//            for neighbours under the relation and units with at most the declared number of
//            records. A column has `most` values before and after: fewer found ones are made up to
//            it with values that do not occur, so that nothing planned beforehand depends on how
//            many there are.
// Method     One pass over the file. With users as units the records of each that have the smallest
//            hashes of their text are counted, at most as many as the schema allows: a matter of
//            this user's records alone. A cell that is empty or marked as missing counts nowhere.
// Numerics   As the histogram's.
// Reference  docs/math/preprocessing.md.
#pragma once

#include <string>
#include <vector>

#include "sotto/core/release.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/data/csv.hpp"
#include "sotto/data/schema.hpp"

namespace sotto {

class FoundCategories {
 public:
  static constexpr std::size_t kMost = 1000;

  struct Options {
    std::vector<std::string> columns;  // neither the target nor the user
    std::size_t most = 32;
  };
  // epsilon, delta: of all columns together. Throws InvalidArgument or DataError.
  FoundCategories(const Schema& schema, Options options, double epsilon, double delta);

  Event event() const;
  Relation relation() const { return schema_.relation; }
  std::string describe() const;

  // The schema with made-up values: all that can be known before the data is read.
  Schema expected() const;
  Release<Schema> run(CsvReader& file, Rng& rng) const;

 private:
  Schema with(const std::vector<std::vector<std::string>>& found) const;

  Schema schema_;
  Options options_;
  double epsilon_, delta_;  // of a column
  std::uint64_t contributions_;
};

}  // namespace sotto
