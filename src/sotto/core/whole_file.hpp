// A file that somebody handed over, read whole.
//
// Only regular files of limited size: a pipe would make the reader wait, a device never ends. What
// a user names for a stream (data, specifications on standard input) is read by
// data/byte_source.hpp instead.
#pragma once

#include <cstddef>
#include <string>

namespace sotto {

// Throws DataError when it is no regular file, cannot be read or is longer than `limit` bytes.
std::string read_whole_file(const std::string& path, std::size_t limit,
                            const std::string& hint = {});

}  // namespace sotto
