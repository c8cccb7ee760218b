// Detail: records of the shelf as tensors.
#pragma once

#include "sotto/deep/training/records.hpp"
#include "sotto/learning/block.hpp"
#include "sotto/learning/facts.hpp"

namespace sotto::deep {

// classification: targets are classes. A label that is none of the declared classes counts for
// nothing. Without targets all are zero.
Records records_of(const Block& block, bool classification);
// No records, of the shape of those to come.
Records no_records(const Facts& facts, bool classification);

}  // namespace sotto::deep
