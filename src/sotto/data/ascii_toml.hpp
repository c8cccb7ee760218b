// TOML text with nothing but ASCII in it and the same meaning: characters beyond ASCII become \u escapes in "strings" and vanish from
// comments. They are refused elsewhere: outside strings TOML has no use for them, and in 'literal strings' there is no escape.
//
// Why: toml++ 3.3 has undefined behaviour on some of them in malformed documents (a branch marked unreachable that is not), and schemas
// may come from anyone.
#pragma once

#include <string>
#include <string_view>

namespace sotto::detail {

std::string ascii_toml(std::string_view text);  // throws SchemaProblem

}  // namespace sotto::detail
