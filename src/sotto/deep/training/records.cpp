#include "sotto/deep/training/records.hpp"

#include <ATen/Parallel.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "sotto/core/error.hpp"
#include "sotto/data/npy.hpp"

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
torch::Tensor gathered(const torch::Tensor& source, std::span<const std::int64_t> indices,
                       bool input) {
  const bool bytes = input && source.scalar_type() == torch::kByte;
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

std::vector<torch::Tensor> Batch::tensors() const {
  std::vector<torch::Tensor> all{inputs};
  all.insert(all.end(), more.begin(), more.end());
  all.push_back(targets);
  return all;
}

Batch Batch::of(std::vector<torch::Tensor> all) {
  return {all.front(), all.back(), {all.begin() + 1, all.end() - 1}};
}

Records::Records(torch::Tensor inputs, torch::Tensor targets, std::vector<torch::Tensor> more)
    : inputs_(std::move(inputs)), targets_(std::move(targets)), more_(std::move(more)) {
  const auto check = [&](torch::Tensor& t, std::initializer_list<torch::ScalarType> types,
                         const char* what) {
    if (t.dim() < 1 || inputs_.dim() < 1 || t.size(0) != inputs_.size(0))
      throw InvalidArgument("inputs and targets must have one row for each record");
    if (std::find(types.begin(), types.end(), t.scalar_type()) == types.end())
      throw InvalidArgument(what);
    t = t.contiguous();
  };
  check(inputs_, {torch::kFloat, torch::kByte, torch::kLong},
        "inputs must be 32-bit floats, bytes or int64 tokens");
  for (auto& t : more_)
    check(t, {torch::kFloat, torch::kByte, torch::kLong, torch::kBool},
          "further inputs must be 32-bit floats, bytes, int64 or booleans");
  check(targets_,
        {torch::kFloat, torch::kLong, torch::kDouble, torch::kInt, torch::kByte, torch::kBool},
        "targets must be floats or whole numbers");
}

template <class Part>
Batch Records::each(Part&& part) const {
  Batch batch{part(inputs_, true), part(targets_, false), {}};
  for (const auto& t : more_) batch.more.push_back(part(t, true));
  return batch;
}

Batch Records::take(std::span<const std::int64_t> indices) const {
  return each([&](const torch::Tensor& t, bool input) { return gathered(t, indices, input); });
}

Batch Records::range(std::int64_t first, std::int64_t count) const {
  return each([&](const torch::Tensor& t, bool input) {
    const auto rows = t.narrow(0, first, count);
    return input ? as_floats(rows) : rows;
  });
}

Batch Records::zeros(std::int64_t count) const {
  return each([&](const torch::Tensor& t, bool input) {
    std::vector<std::int64_t> sizes = t.sizes().vec();
    sizes.front() = count;
    const bool bytes = input && t.scalar_type() == torch::kByte;
    return torch::zeros(sizes, bytes ? torch::kFloat : t.scalar_type());
  });
}

torch::Tensor map_npy(const std::string& path) {
  const NpyPlace place = find_npy(path, {.max_elements = std::size_t{1} << 40});
  const auto type =
      place.type == "<f4"   ? torch::kFloat
      : place.type == "<i8" ? torch::kLong
      : place.type == "|u1"
          ? torch::kByte
          : throw DataError(fmt::format("{}: the array's type is not one of f4, i8, u1", path));
  std::vector<std::int64_t> sizes(place.shape.begin(), place.shape.end());
  std::size_t bytes = place.offset, elements = 1;
  for (const std::size_t size : place.shape) elements *= size;
  bytes += elements * torch::elementSize(type);
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0 || !S_ISREG(status.st_mode) ||
      static_cast<std::size_t>(status.st_size) != bytes) {
    if (file >= 0) close(file);
    throw DataError(fmt::format("{}: the file ends before its array does, or after it", path),
                    "give a plain .npy file");
  }
  if (elements == 0) {
    close(file);
    return torch::zeros(sizes, type);
  }
  void* const at = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (at == MAP_FAILED) throw StorageError(fmt::format("{} cannot be mapped", path));
  return torch::from_blob(
      static_cast<char*>(at) + place.offset, sizes, [at, bytes](void*) { munmap(at, bytes); },
      type);
}

}  // namespace sotto::deep
