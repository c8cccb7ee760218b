// Detail: model.json of an artifact, as any family finds it: present, certified, of limited depth.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sotto/learning/model.hpp"

namespace sotto {

// Throws DataError.
nlohmann::ordered_json model_json(const Files& files);

}  // namespace sotto
