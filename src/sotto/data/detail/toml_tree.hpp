// Detail: a TOML document as a JSON tree in the order of the document, with the place of each part.
//
// TOML 1.0 without what a schema has no use for: dates and arrays of tables are refused. Any bytes
// whatever give a tree of limited depth or a SchemaProblem, in time linear in their number.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "sotto/data/schema.hpp"

namespace sotto::detail {

nlohmann::ordered_json toml_tree(std::string_view text, Positions& positions);

}  // namespace sotto::detail
