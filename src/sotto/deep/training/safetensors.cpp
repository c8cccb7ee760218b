#include "sotto/deep/training/safetensors.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/deep/training/safetensors_layout.hpp"

namespace sotto::deep {
namespace {

static_assert(std::endian::native == std::endian::little,
              "tensors are written as they are in memory");

using Json = nlohmann::ordered_json;
constexpr std::size_t kLengthBytes = 8, kAlignment = 8;

struct Type {
  const char* name;
  torch::ScalarType type;
  std::uint64_t size;
};
constexpr std::array<Type, 4> kTypes = {{{"F64", torch::kDouble, 8},
                                         {"I64", torch::kLong, 8},
                                         {"F32", torch::kFloat, 4},
                                         {"U8", torch::kByte, 1}}};

const Type& type_of(const torch::Tensor& tensor, const std::string& name) {
  for (const Type& t : kTypes)
    if (t.type == tensor.scalar_type()) return t;
  throw InvalidArgument(fmt::format("tensor '{}' has a type that is not written", name),
                        "convert it to 32-bit floats");
}

torch::Tensor tensor_of(const StoredTensor& stored) {
  for (const Type& t : kTypes) {
    if (stored.type != t.name) continue;
    auto tensor = torch::empty(stored.shape, t.type);
    if (!stored.bytes.empty())
      std::memcpy(tensor.data_ptr(), stored.bytes.data(), stored.bytes.size());
    return tensor;
  }
  invariant_broken("a stored tensor has a type that is not known");
}

}  // namespace

std::string to_safetensors(const TensorFile& file) {
  Json header = Json::object();
  if (!file.metadata.empty()) header["__metadata__"] = file.metadata;
  std::uint64_t at = 0;
  std::string data;
  for (const Type& t : kTypes) {  // wide types first, so that all stay aligned
    for (const auto& [name, tensor] : file.tensors) {
      if (type_of(tensor, name).type != t.type) continue;
      const torch::Tensor bytes = tensor.detach().contiguous();
      const std::uint64_t size = static_cast<std::uint64_t>(bytes.numel()) * t.size;
      header[name] = {
          {"dtype", t.name}, {"shape", bytes.sizes().vec()}, {"data_offsets", {at, at + size}}};
      data.append(static_cast<const char*>(bytes.data_ptr()), size);
      at += size;
    }
  }
  std::string text = header.dump();
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  const std::uint64_t length = text.size();
  std::string result(reinterpret_cast<const char*>(&length), kLengthBytes);
  return result + text + data;
}

TensorFile from_safetensors(std::string_view bytes, const std::string& label) {
  StoredTensors stored = safetensors_layout(bytes, label);
  TensorFile file;
  file.metadata = std::move(stored.metadata);
  for (const auto& [name, tensor] : stored.tensors) file.tensors[name] = tensor_of(tensor);
  return file;
}

}  // namespace sotto::deep
