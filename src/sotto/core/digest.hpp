// SHA-256 of bytes, in lower-case hexadecimal: how artifacts notice that a file was changed.
#pragma once

#include <string>
#include <string_view>

namespace sotto {

std::string sha256(std::string_view bytes);

}  // namespace sotto
