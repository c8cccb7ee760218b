#include "sotto/deep/training/records.hpp"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "sotto/core/error.hpp"

namespace sotto::deep {
namespace {

torch::Tensor as_floats(const torch::Tensor& inputs) {
  return inputs.scalar_type() == torch::kByte ? inputs.to(torch::kFloat).div_(255) : inputs;
}

// Bytes become floats as in as_floats.
void copy_row(const std::uint8_t* from, std::int64_t count, float* to) {
  static const auto table = [] {
    std::array<float, 256> t;
    for (std::size_t i = 0; i < t.size(); ++i) t[i] = static_cast<float>(i) / 255;
    return t;
  }();
  for (std::int64_t i = 0; i < count; ++i) to[i] = table[from[i]];
}

// The rows of these indices, each read and written once; zeros where an index is negative.
torch::Tensor gathered(const torch::Tensor& source, std::span<const std::int64_t> indices) {
  const bool bytes = source.scalar_type() == torch::kByte;
  std::vector<std::int64_t> shape = source.sizes().vec();
  shape[0] = static_cast<std::int64_t>(indices.size());
  auto out = torch::empty(shape, bytes ? torch::kFloat : source.scalar_type());
  if (out.numel() == 0) return out;
  const std::int64_t width = out.numel() / shape[0];
  const auto from_size = static_cast<std::int64_t>(source.element_size()) * width,
             to_size = static_cast<std::int64_t>(out.element_size()) * width;
  const auto* from = static_cast<const std::uint8_t*>(source.data_ptr());
  auto* to = static_cast<std::uint8_t*>(out.data_ptr());
  const std::int64_t rows = source.size(0);
  at::parallel_for(0, shape[0], std::max<std::int64_t>(1, 65536 / to_size),
                   [&](std::int64_t first, std::int64_t last) {
                     for (std::int64_t i = first; i < last; ++i) {
                       const std::int64_t index = indices[static_cast<std::size_t>(i)];
                       std::uint8_t* const row = to + i * to_size;
                       if (index >= rows) invariant_broken("a record that is not there");
                       if (index < 0)
                         std::memset(row, 0, static_cast<std::size_t>(to_size));
                       else if (bytes)
                         copy_row(from + index * from_size, width, reinterpret_cast<float*>(row));
                       else
                         std::memcpy(row, from + index * from_size,
                                     static_cast<std::size_t>(to_size));
                     }
                   });
  return out;
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
  return {gathered(inputs_, indices), gathered(targets_, indices)};
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
