// Records: what a trainer draws batches from. Private.
//
// Inputs and targets have one row for each record. Bytes (images) become floats in [0, 1] when a batch is taken, so that a
// data set stays as small in memory as on disk.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <span>
#include <vector>

namespace sotto::deep {

struct Batch {
  torch::Tensor inputs, targets;
};

class Records {
 public:
  // inputs: floats or bytes (n, …); targets: (n) class numbers as int64, or floats. Throws InvalidArgument.
  Records(torch::Tensor inputs, torch::Tensor targets);

  std::int64_t size() const { return inputs_.size(0); }
  const torch::Tensor& inputs() const { return inputs_; }
  const torch::Tensor& targets() const { return targets_; }
  std::vector<std::int64_t> shape() const {
    return inputs_.sizes().slice(1).vec();
  }  // of one record: public

  // One row for each index; a negative one gives a row of zeros.
  Batch take(std::span<const std::int64_t> indices) const;
  Batch range(std::int64_t first, std::int64_t count) const;
  // Made-up records of the same shape, all zero: for measurements that must not touch private data.
  Batch zeros(std::int64_t count) const;

 private:
  torch::Tensor inputs_, targets_;
};

}  // namespace sotto::deep
