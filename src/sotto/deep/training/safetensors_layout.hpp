// Detail: where the tensors of a safetensors file lie. Knows nothing of LibTorch.
//
// The file may come from anyone: its header is JSON with limits, no size overflows, and the tensors
// lie side by side without gap or overlap, so that what is copied later is exactly what is there.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sotto::deep {

struct StoredTensor {
  std::string type;  // F64, I64, F32 or U8
  std::vector<std::int64_t> shape;
  std::string_view bytes;  // into the file

  std::uint64_t elements() const;
};

struct StoredTensors {
  std::map<std::string, StoredTensor> tensors;
  std::map<std::string, std::string> metadata;
};

std::uint64_t size_of_type(std::string_view type);  // in bytes; 0: not a type that is read
// label: what messages call the bytes, which must outlive the result. Throws DataError.
StoredTensors safetensors_layout(std::string_view bytes, const std::string& label);

}  // namespace sotto::deep
