// Canaries: made-up records, put into a data file by fair coins, so that whoever sees the result
// can be asked which of them were in. They are records like any other: read, clamped, clipped and
// sampled as those are.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "commands/neighbouring_files.hpp"
#include "sotto/data/schema.hpp"

namespace sotto::cli {

enum class CanaryKind {
  mislabelled,  // somebody's record with another target
  blank,        // the middle of all bounds, missing categories; any target
  extreme,      // an end of all bounds, any categories, any target
};
CanaryKind parse_canary(const std::string& text);

class Canaries {
 public:
  // Made up from public facts and, where mislabelled, from records of the file.
  Canaries(const CsvText& text, const Schema& schema, bool decimal_comma);

  // Lines of the file. Users of the canaries are new ones.
  std::vector<std::string> made(CanaryKind kind, std::size_t count, std::mt19937_64& random) const;

  // The file with those canaries that are in. add_remove: after all records. Under the other
  // relations the k-th canary has the place of a record: replace_one, who is there when the canary
  // is not; zero_out, where there is a null record then.
  std::string file(const std::vector<std::string>& canaries, const std::vector<bool>& in) const;
  // Places of records that so many canaries take; throws DataError when there are too few.
  void take_places(std::size_t count, std::mt19937_64& random);

 private:
  std::string cell(const ColumnSchema& column, CanaryKind kind, const std::string& was,
                   std::mt19937_64& random) const;
  std::string number(double value) const;

  const CsvText& text_;
  const Schema& schema_;
  bool decimal_comma_;
  std::vector<std::size_t> places_;
};

}  // namespace sotto::cli
