// Bounds, categories and the number of rows of a file, estimated with a budget, for a schema that
// nobody can write down.
//
// What       For each numeric column the binary magnitudes that surely occur, for each categorical
//            one the categories that are common enough, and a noisy number of rows. The types are
//            declared (or guessed from the names), not read.
// Guarantee  Costs at most the budget for neighbouring files under the relation, unit one row: the
//            parts compose to event().
//            A cell that is missing or cannot be read as its type counts nowhere; nothing else of
//            the file has any influence.
// Method     The budget is split evenly: bounds_estimate.hpp (pure) for each numeric column,
//            stability_histogram.hpp ((ε, δ)) for each categorical one, a count (pure) under
//            add_remove. Where the relation makes the number of rows public it is exact.
// Numerics   Shares round down (budget.hpp).
// Reference  docs/math/statistics.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sotto/core/release.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/data/csv.hpp"
#include "sotto/data/draft.hpp"
#include "sotto/mechanisms/budget.hpp"

namespace sotto {

class SchemaEstimatePlan {
 public:
  // Numeric and categorical columns are estimated, others left as they are. options.rows, when
  // given, is not estimated.
  // Throws InvalidArgument when categories are asked for without a δ, or nothing is to be
  // estimated.
  SchemaEstimatePlan(std::vector<DraftColumn> columns, const DraftOptions& options,
                     const Budget& budget);

  Event event() const;
  Relation relation() const { return options_.relation; }
  std::string describe() const;

  struct Estimate {
    std::vector<DraftColumn> columns;
    DraftOptions options;  // with the number of rows
  };
  Release<Estimate> run(CsvReader& file, Rng& rng) const;

 private:
  bool counts_rows() const;

  std::vector<DraftColumn> columns_;
  DraftOptions options_;
  std::size_t numeric_ = 0, categorical_ = 0;
  double epsilon_ = 0, delta_ = 0;  // of each part
};

}  // namespace sotto
