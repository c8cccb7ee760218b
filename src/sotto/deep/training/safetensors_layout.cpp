#include "sotto/deep/training/safetensors_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"

namespace sotto::deep {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the length is read as it is in the file");

constexpr std::uint64_t kLengthBytes = 8, kLargestHeader = 100'000'000;
constexpr std::size_t kMostAxes = 16;
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 40;

[[noreturn]] void no_layout(const std::string& label, const std::string& what) {
  throw DataError(fmt::format("'{}' is not a valid safetensors file: {}", label, what));
}

std::vector<std::int64_t> read_shape(const nlohmann::ordered_json& json, const std::string& what) {
  if (!json.is_array() || json.size() > kMostAxes)
    throw DataError(fmt::format("{} must be a list of at most {} numbers", what, kMostAxes));
  std::vector<std::int64_t> shape;
  std::uint64_t product = 1;  // without the zeros: strides are computed from it
  for (const auto& n : json) {
    const std::uint64_t extent = json_count(n, what, kMostElements);
    if (extent > 0 && product > kMostElements / extent)
      throw DataError(fmt::format("{} is too large", what));
    product *= std::max<std::uint64_t>(extent, 1);
    shape.push_back(static_cast<std::int64_t>(extent));
  }
  return shape;
}

StoredTensor read_entry(const nlohmann::ordered_json& entry, std::string_view data) {
  StoredTensor tensor{
      entry.at("dtype").get<std::string>(), read_shape(entry.at("shape"), "its shape"), {}};
  const std::uint64_t size = size_of_type(tensor.type);
  if (size == 0) throw DataError("it has an unknown type");
  const auto& offsets = entry.at("data_offsets");
  if (!offsets.is_array() || offsets.size() != 2) throw DataError("it needs two offsets");
  const std::uint64_t first = json_count(offsets[0], "its first offset", data.size()),
                      last = json_count(offsets[1], "its last offset", data.size());
  if (first > last || last - first != tensor.elements() * size)
    throw DataError("its offsets do not fit its shape");
  tensor.bytes = data.substr(first, last - first);
  return tensor;
}

// Every byte belongs to exactly one tensor.
bool tiles(const StoredTensors& file, std::string_view data) {
  std::vector<std::string_view> parts;
  for (const auto& [name, tensor] : file.tensors)
    if (!tensor.bytes.empty()) parts.push_back(tensor.bytes);
  std::sort(parts.begin(), parts.end(), [](std::string_view a, std::string_view b) {
    return std::less<>()(a.data(), b.data());
  });
  const char* at = data.data();
  for (const std::string_view part : parts) {
    if (part.data() != at) return false;
    at += part.size();
  }
  return at == data.data() + data.size();
}

}  // namespace

std::uint64_t StoredTensor::elements() const {
  std::uint64_t n = 1;
  for (const std::int64_t extent : shape) n *= static_cast<std::uint64_t>(extent);
  return n;
}

std::uint64_t size_of_type(std::string_view type) {
  if (type == "F64" || type == "I64") return 8;
  if (type == "F32") return 4;
  return type == "U8" ? 1 : 0;
}

StoredTensors safetensors_layout(std::string_view bytes, const std::string& label) {
  std::uint64_t length = 0;
  if (bytes.size() < kLengthBytes) no_layout(label, "it is too short");
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > kLargestHeader || length > bytes.size() - kLengthBytes)
    no_layout(label, "its header is longer than the file");
  const auto header =
      parse_json(bytes.substr(kLengthBytes, length), fmt::format("the header of '{}'", label));
  if (!header.is_object()) no_layout(label, "its header is not an object");
  const std::string_view data = bytes.substr(kLengthBytes + length);
  StoredTensors file;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      if (!entry.is_object()) no_layout(label, "its metadata are not an object");
      for (const auto& [key, value] : entry.items()) {
        if (!value.is_string()) no_layout(label, "its metadata are not text");
        file.metadata[key] = value.get<std::string>();
      }
      continue;
    }
    try {
      file.tensors[name] = read_entry(entry, data);
    } catch (const nlohmann::json::exception&) {
      no_layout(label, fmt::format("the entry of tensor '{}' cannot be read", name));
    } catch (const DataError& e) {
      no_layout(label, fmt::format("tensor '{}': {}", name, e.what()));
    }
  }
  if (!tiles(file, data)) no_layout(label, "its tensors do not lie side by side");
  return file;
}

}  // namespace sotto::deep
