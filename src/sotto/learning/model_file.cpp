#include "sotto/learning/model_file.hpp"

#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"

namespace sotto {

nlohmann::ordered_json model_json(const Files& files) {
  const auto file = files.find("model.json");
  if (file == files.end())
    throw DataError("'model.json' is missing or not certified",
                    "is this the directory that 'sotto train' wrote?");
  return parse_json(file->second, "'model.json'");
}

}  // namespace sotto
