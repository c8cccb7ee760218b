// Canaries among images: made-up ones, put into the data by fair coins (canaries.hpp has those of
// tables).
#pragma once

#include <random>
#include <vector>

#include "commands/canaries.hpp"
#include "commands/record_set.hpp"

namespace sotto::cli {

// mislabelled: somebody's image with another class; blank: grey; extreme: black and white pixels at
// random. Throws DataError when there is no image.
RecordSet image_canaries(CanaryKind kind, std::size_t count, const RecordSet& all,
                         const Facts& facts, std::mt19937_64& random);

// Where canaries stand: behind all records under add_remove, else in place of a record each, which
// is there when the canary is not (replace_one) or a null record (zero_out).
class CanaryPlaces {
 public:
  // Throws DataError when there are fewer records than places.
  CanaryPlaces(std::size_t canaries, std::size_t records, Relation relation,
               std::mt19937_64& random);
  RecordSet data_with(const RecordSet& all, const RecordSet& canaries, const std::vector<bool>& in,
                      const Facts& facts) const;

 private:
  std::vector<std::size_t> places_;  // empty: behind all records
};

}  // namespace sotto::cli
