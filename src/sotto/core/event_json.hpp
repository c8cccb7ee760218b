// Events as JSON: an object with exactly one key, the event's name. Unknown keys are errors, so a
// typo cannot change a guarantee.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sotto/core/event.hpp"

namespace sotto {

nlohmann::ordered_json to_json(const Event& event);

// Throws DataError that names the place in the document, e.g. "events[0].sampled.rate is 1.5; it
// must be …".
Event event_from_json(const nlohmann::ordered_json& json, const std::string& where = "event");

}  // namespace sotto
