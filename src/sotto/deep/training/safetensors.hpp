// Safetensors: named tensors in one file that cannot run code. Own writer and reader.
//
// Layout: eight bytes with the length of the header (little endian), the header as JSON (name →
// dtype, shape, data_offsets, and "__metadata__" with text), then the bytes of the tensors one
// after the other.
#pragma once

#include <torch/torch.h>

#include <map>
#include <string>
#include <string_view>

namespace sotto::deep {

using TensorMap = std::map<std::string, torch::Tensor>;

struct TensorFile {
  TensorMap tensors;
  std::map<std::string, std::string> metadata;
};

// F32, F64, I64 and U8 tensors. Throws InvalidArgument for other types.
std::string to_safetensors(const TensorFile& file);
// label: what messages call the bytes. Throws DataError unless every byte is accounted for.
TensorFile from_safetensors(std::string_view bytes, const std::string& label);

}  // namespace sotto::deep
