// "did you mean …?" for names that are public: column headers, schema keys, options.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sotto {

// The known name closest to `wanted`, or nothing when none is close.
std::string nearest_name(std::string_view wanted, std::span<const std::string> known);

// A hint: "did you mean 'age'?" or, when nothing is near, the known names (shortened when there are
// many).
std::string name_hint(std::string_view wanted, std::span<const std::string> known,
                      std::string_view what);

}  // namespace sotto
