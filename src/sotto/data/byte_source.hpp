// Bytes of a file, decompressed when the file is gzip (recognised by its first two bytes, not by
// its name).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace sotto {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills `out` as far as the source goes; fewer bytes than asked for means the end.
  virtual std::size_t read(std::span<char> out) = 0;
};

// "-" is standard input. Throws DataError when the file cannot be opened, and read() does when it
// is damaged.
std::unique_ptr<ByteSource> open_bytes(const std::string& path);
// The same without the knowledge of a witness (read_witness.hpp): to look at a file is not to use
// it as data.
std::unique_ptr<ByteSource> open_unwatched(const std::string& path);

// The same for bytes in memory, which must outlive the source.
std::unique_ptr<ByteSource> bytes_of(std::span<const char> bytes, const std::string& label);

// The whole content; throws DataError when it is longer than `limit` bytes.
std::string read_all(const std::string& path, std::size_t limit);

}  // namespace sotto
