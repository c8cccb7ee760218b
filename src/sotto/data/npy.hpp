// NumPy's .npy arrays (format 1, 2 and 3): little-endian f4, f8, i4, i8 and u1 in C order, plain or
// gzip.
//
// The header is treated as hostile: its size, the shape and the product of the shape are checked
// before anything is allocated, and no Python is evaluated.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/data/byte_source.hpp"

namespace sotto {

struct NpyArray {
  std::vector<std::size_t> shape;
  std::vector<double> values;  // in C order; i8 beyond 2^53 rounds to the nearest double
};

struct NpyLimits {
  std::size_t max_elements = std::size_t{1} << 32;
};

NpyArray read_npy(const std::string& path, const NpyLimits& limits = {});  // throws DataError
NpyArray parse_npy(std::string_view bytes, const std::string& label, const NpyLimits& limits = {});

// The numbers of an array one after the other, without holding them all.
class NpyReader {
 public:
  explicit NpyReader(const std::string& path, const NpyLimits& limits = {});  // throws DataError
  NpyReader(std::unique_ptr<ByteSource> source, std::string label, const NpyLimits& limits);

  const std::vector<std::size_t>& shape() const { return shape_; }
  std::size_t left() const { return left_; }
  // Fills `out` as far as the array goes. Throws DataError when the file ends before its array
  // does, or goes on after it.
  std::size_t read(std::span<double> out);

 private:
  template <class T>
  void read_as(std::span<double> out);

  std::unique_ptr<ByteSource> source_;
  std::string label_, type_;
  std::vector<std::size_t> shape_;
  std::size_t left_ = 0;
  std::vector<char> buffer_;
};

// Where the array of a plain file lies, for who reads parts of it only.
struct NpyPlace {
  std::string type;  // "<f4", …
  std::vector<std::size_t> shape;
  std::size_t offset = 0;  // of the first element, in bytes
};
NpyPlace find_npy(const std::string& path, const NpyLimits& limits = {});  // throws DataError

// Doubles as a version 1 file; throws StorageError.
void write_npy(const std::string& path, const NpyArray& array);

}  // namespace sotto
