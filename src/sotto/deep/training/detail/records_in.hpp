// Detail: the tensors of a batch, for who follows its records.
#pragma once

#include "sotto/deep/clipped_sum.hpp"
#include "sotto/deep/training/records.hpp"

namespace sotto::deep {

inline rows::RecordTensors records_in(const Batch& b) {
  const auto tensors = b.tensors();
  return {tensors.begin(), tensors.end()};
}

}  // namespace sotto::deep
