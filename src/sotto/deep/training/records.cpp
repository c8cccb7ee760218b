#include "sotto/deep/training/records.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"

namespace sotto::deep {
namespace {

torch::Tensor as_floats(const torch::Tensor& inputs) {
  return inputs.scalar_type() == torch::kByte ? inputs.to(torch::kFloat).div_(255) : inputs;
}

}  // namespace

Records::Records(torch::Tensor inputs, torch::Tensor targets)
    : inputs_(std::move(inputs)), targets_(std::move(targets)) {
  if (inputs_.dim() < 1 || targets_.dim() < 1 || inputs_.size(0) != targets_.size(0))
    throw InvalidArgument("inputs and targets must have one row for each record");
  const auto type = inputs_.scalar_type();
  if (type != torch::kFloat && type != torch::kByte && type != torch::kLong)
    throw InvalidArgument("inputs must be 32-bit floats, bytes or int64 tokens");
  inputs_ = inputs_.contiguous();
  targets_ = targets_.contiguous();
}

Batch Records::take(std::span<const std::int64_t> indices) const {
  const auto count = static_cast<std::int64_t>(indices.size());
  std::vector<std::int64_t> rows, records;
  for (std::int64_t row = 0; row < count; ++row) {
    if (indices[static_cast<std::size_t>(row)] < 0) continue;
    rows.push_back(row);
    records.push_back(indices[static_cast<std::size_t>(row)]);
  }
  const auto which = torch::tensor(records, torch::kLong);
  auto inputs = as_floats(inputs_.index_select(0, which));
  auto targets = targets_.index_select(0, which);
  if (records.size() == indices.size()) return {inputs, targets};
  Batch batch = zeros(count);
  const auto where = torch::tensor(rows, torch::kLong);
  batch.inputs.index_copy_(0, where, inputs);
  batch.targets.index_copy_(0, where, targets);
  return batch;
}

Batch Records::range(std::int64_t first, std::int64_t count) const {
  return {as_floats(inputs_.narrow(0, first, count)), targets_.narrow(0, first, count)};
}

Batch Records::zeros(std::int64_t count) const {
  std::vector<std::int64_t> in = shape(), out = targets_.sizes().slice(1).vec();
  in.insert(in.begin(), count);
  out.insert(out.begin(), count);
  const auto type = inputs_.scalar_type() == torch::kByte ? torch::kFloat : inputs_.scalar_type();
  return {torch::zeros(in, type), torch::zeros(out, targets_.scalar_type())};
}

}  // namespace sotto::deep
