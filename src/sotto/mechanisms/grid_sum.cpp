#include "sotto/mechanisms/grid_sum.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"

namespace sotto {

void GridSum::merge(const GridSum& other) {
  if (other.totals_.size() != totals_.size()) {
    throw InvalidArgument(fmt::format("cannot merge sums of {} and {} coordinates", totals_.size(),
                                      other.totals_.size()));
  }
  for (std::size_t i = 0; i < totals_.size(); ++i) totals_[i] += other.totals_[i];
  records_ += other.records_;
}

}  // namespace sotto
