#include "sotto/deep/training/safetensors.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"

namespace sotto::deep {
namespace {

static_assert(std::endian::native == std::endian::little,
              "tensors are written as they are in memory");

using Json = nlohmann::ordered_json;
constexpr std::size_t kLengthBytes = 8, kAlignment = 8;
constexpr std::uint64_t kLargestHeader = 100'000'000;

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

[[noreturn]] void damaged(const std::string& label, const std::string& what) {
  throw DataError(fmt::format("'{}' is not a valid safetensors file: {}", label, what));
}

torch::Tensor read_tensor(const std::string& name, const Json& entry, std::string_view data,
                          const std::string& label, std::uint64_t& used) {
  const Type* type = nullptr;
  std::vector<std::int64_t> shape;
  std::uint64_t first = 0, last = 0, elements = 1;
  try {
    for (const Type& t : kTypes)
      if (entry.at("dtype").get<std::string>() == t.name) type = &t;
    for (const Json& n : entry.at("shape")) {
      const auto extent = n.get<std::uint64_t>();
      if (extent > (std::uint64_t{1} << 40) || (extent > 0 && elements > data.size() / extent + 1))
        damaged(label, fmt::format("tensor '{}' is larger than the file", name));
      elements *= extent;
      shape.push_back(static_cast<std::int64_t>(extent));
    }
    first = entry.at("data_offsets").at(0).get<std::uint64_t>();
    last = entry.at("data_offsets").at(1).get<std::uint64_t>();
  } catch (const nlohmann::json::exception&) {
    damaged(label, fmt::format("the entry of tensor '{}' cannot be read", name));
  }
  if (type == nullptr) damaged(label, fmt::format("tensor '{}' has an unknown type", name));
  if (first > last || last > data.size() || last - first != elements * type->size)
    damaged(label, fmt::format("tensor '{}' lies outside the file", name));
  used += last - first;
  auto tensor = torch::empty(shape, type->type);
  if (last > first) std::memcpy(tensor.data_ptr(), data.data() + first, last - first);
  return tensor;
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
  std::uint64_t length = 0;
  if (bytes.size() < kLengthBytes) damaged(label, "it is too short");
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > kLargestHeader || length > bytes.size() - kLengthBytes)
    damaged(label, "its header is longer than the file");
  const auto header = Json::parse(bytes.substr(kLengthBytes, length), nullptr, false);
  if (header.is_discarded() || !header.is_object()) damaged(label, "its header is not JSON");
  const std::string_view data = bytes.substr(kLengthBytes + length);
  TensorFile file;
  std::uint64_t used = 0;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      if (!entry.is_object()) damaged(label, "its metadata are not an object");
      for (const auto& [key, value] : entry.items()) {
        if (!value.is_string()) damaged(label, "its metadata are not text");
        file.metadata[key] = value.get<std::string>();
      }
    } else {
      file.tensors[name] = read_tensor(name, entry, data, label, used);
    }
  }
  if (used != data.size()) damaged(label, "it holds bytes that belong to no tensor");
  return file;
}

}  // namespace sotto::deep
