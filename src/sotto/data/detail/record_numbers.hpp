// Detail: the numbers of a record, from their texts to scaled values, four of them at a time.
//
// Each is short_decimal (short_decimal.hpp) and then NumberScale::product, to the bit, whichever
// way the processor takes: the operations are those, in lanes. Mantissas of at most eight digits
// are added up by integer products and divided once.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sotto/data/csv_record.hpp"
#include "sotto/data/detail/number_scale.hpp"

namespace sotto::detail {

class RecordNumbers {
 public:
  // The i-th number is in the field places[i] and has the scale scales[i]. unit: scaled to [0, 1],
  // not to [−1, 1].
  RecordNumbers(std::vector<std::size_t> places, const std::vector<NumberScale>& scales, bool unit);

  // One value for each place. False where a field is no short decimal. The fields lie in a block
  // with room behind it (csv_record.hpp).
  bool read(std::span<const CsvField> fields, std::span<double> values) const;
  // The same without the vectors of some processors.
  bool read_plainly(std::span<const CsvField> fields, std::span<double> values) const;

 private:
  bool read_one(std::span<const CsvField> fields, std::size_t i, double& value) const;
  bool read_wide(std::span<const CsvField> fields, std::span<double> values) const;

  std::vector<std::size_t> places_;
  std::vector<NumberScale> scales_;
  std::vector<double> lower_, upper_, middle_, per_half_width_;  // of the scales, for lanes
  bool unit_;
};

}  // namespace sotto::detail
