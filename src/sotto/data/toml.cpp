#include "sotto/data/toml.hpp"

#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/data/detail/toml_tree.hpp"

namespace sotto {

nlohmann::ordered_json parse_toml(std::string_view text, const std::string& label) {
  detail::Positions positions;
  try {
    return detail::toml_tree(text, positions);
  } catch (const SchemaProblem& problem) {
    throw DataError(problem.text(label), problem.hint);
  }
}

}  // namespace sotto
