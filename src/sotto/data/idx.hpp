// IDX files (MNIST and its relatives): arrays of unsigned bytes, plain or gzip.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sotto {

struct IdxArray {
  std::vector<std::size_t> shape;  // images: {count, rows, columns}; labels: {count}
  std::vector<std::uint8_t> values;
};

IdxArray read_idx(const std::string& path);                            // throws DataError
IdxArray parse_idx(std::string_view bytes, const std::string& label);  // throws DataError

}  // namespace sotto
