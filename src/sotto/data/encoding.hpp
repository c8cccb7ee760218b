// Text files that are not UTF-8, as UTF-8.
//
// latin_1 and windows_1252 give every byte a meaning (the five that Windows leaves open stay
// control characters); utf_16 follows the byte-order mark and is little-endian without one.
#pragma once

#include <memory>
#include <string>

#include "sotto/data/byte_source.hpp"

namespace sotto {

enum class Encoding { utf_8, latin_1, windows_1252, utf_16 };

// The same text as UTF-8; the source itself where it is that already. read() throws DataError for
// what is no UTF-16.
std::unique_ptr<ByteSource> as_utf8(std::unique_ptr<ByteSource> source, Encoding encoding,
                                    const std::string& label);

}  // namespace sotto
