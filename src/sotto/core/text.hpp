// Text from outside (data, files, certificates, other programs), made fit for JSON and for a
// terminal.
//
// Whatever is printed goes through visible(): a terminal obeys control characters, so that a cell
// or a header could hide, move or forge what it shows. Whatever becomes a name in a result goes
// through as_utf8(): JSON has no other text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sotto {

// The code point at `at`, which is moved past it; −1 for a byte that belongs to none, which is
// moved past alone.
long next_code_point(std::string_view text, std::size_t& at);
// Control and direction characters, and others without a shape of their own.
bool is_invisible(long code_point);

bool is_utf8(std::string_view text);
// Bytes that are not UTF-8 are written as \xNN.
std::string as_utf8(std::string_view text);
// Invisible characters are written as \uNNNN besides, also inside of JSON strings without changing
// what they mean.
std::string visible(std::string_view text);
// The same for text of several lines: line feeds and tabs stay.
std::string visible_lines(std::string_view text);

}  // namespace sotto
