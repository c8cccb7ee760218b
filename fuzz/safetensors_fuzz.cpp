// Any bytes as a safetensors file (weights, checkpoint): tensors that tile the data, or a
// DataError.
#include <cstdint>
#include <string_view>

#include "property.hpp"
#include "sotto/core/error.hpp"
#include "sotto/deep/training/safetensors_layout.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sotto;
  if (size > 1 << 16) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const deep::StoredTensors file = deep::safetensors_layout(bytes, "it");
    std::uint64_t used = 0, touched = 0;
    for (const auto& [name, tensor] : file.tensors) {
      require(tensor.elements() * deep::size_of_type(tensor.type) == tensor.bytes.size(),
              "a tensor has the bytes of its shape");
      used += tensor.bytes.size();
      for (const char c : tensor.bytes) touched += static_cast<unsigned char>(c);
    }
    require(used <= size && touched <= used * 255, "the tensors lie within the file");
  } catch (const Error& error) {
    require(error.code() == ErrorCode::bad_input, "an error of the input");
  }
  return 0;
}
