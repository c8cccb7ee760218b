// Records: what a trainer draws batches from. Private.
//
// What       RecordSource: any store of records that can be asked for some of them by index: a
//            database, files, a generator.
//            Records: tensors with one row for each record: inputs (several, such as tokens and a
//            mask) and targets.
//            map_npy: an array on disk as a tensor: rows are read when a batch takes them, so it
//            need not fit into memory.
// Method     Bytes (images) become floats in [0, 1] when a batch is taken, so that a data set stays
//            as small in memory as on disk.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sotto::deep {

// One row for each record.
struct Batch {
  torch::Tensor inputs, targets;
  std::vector<torch::Tensor> more = {};  // further inputs: masks, lengths

  std::vector<torch::Tensor> tensors() const;  // inputs, further inputs, targets
  static Batch of(std::vector<torch::Tensor> tensors);
};

class RecordSource {
 public:
  virtual ~RecordSource() = default;
  virtual std::int64_t size() const = 0;  // private under add_remove
  // One row for each index, in this order; a negative one gives a row of zeros.
  virtual Batch take(std::span<const std::int64_t> indices) const = 0;
  // Made-up records of the same shape and types, all zero: for measurements that must not touch
  // private data.
  virtual Batch zeros(std::int64_t count) const = 0;
};

class Records final : public RecordSource {
 public:
  // inputs: floats, bytes or int64 tokens (n, …), further ones also booleans; targets: (n, …) class
  // numbers as int64, or floats. Throws InvalidArgument.
  Records(torch::Tensor inputs, torch::Tensor targets, std::vector<torch::Tensor> more = {});

  std::int64_t size() const override { return inputs_.size(0); }
  const torch::Tensor& inputs() const { return inputs_; }
  const torch::Tensor& targets() const { return targets_; }
  std::vector<std::int64_t> shape() const {
    return inputs_.sizes().slice(1).vec();
  }  // of one record: public

  Batch take(std::span<const std::int64_t> indices) const override;
  Batch range(std::int64_t first, std::int64_t count) const;
  Batch zeros(std::int64_t count) const override;

 private:
  template <class Part>
  Batch each(Part&& part) const;
  torch::Tensor inputs_, targets_;
  std::vector<torch::Tensor> more_;
};

// A plain .npy file (f4, i8, u1) as a tensor that cannot be written to. Throws DataError,
// StorageError.
torch::Tensor map_npy(const std::string& path);

}  // namespace sotto::deep
