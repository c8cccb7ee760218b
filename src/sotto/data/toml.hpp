// TOML documents other than schemas, as a JSON tree in the order of the document.
//
// TOML 1.0 without dates and arrays of tables. Any bytes whatever give a tree of limited depth or a
// DataError that names the line.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace sotto {

nlohmann::ordered_json parse_toml(std::string_view text, const std::string& label);

}  // namespace sotto
