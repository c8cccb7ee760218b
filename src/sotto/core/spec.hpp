// A specification: the relation and the events of a release or a training run, as a document.
//
//   {"schema": 1, "relation": "add_remove", "events": [E, …]}
// In a template one number is the string "?", the unknown that calibration solves for.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sotto/core/event.hpp"
#include "sotto/core/relation.hpp"

namespace sotto {

inline constexpr int kSpecSchema = 1;

struct Spec {
  Relation relation = Relation::add_remove;
  std::vector<Event> events;

  Event event() const { return compose(events); }
};

nlohmann::ordered_json to_json(const Spec& spec);
Spec spec_from_json(const nlohmann::ordered_json& json);  // throws DataError
Spec parse_spec(const std::string& text);  // throws DataError, also for malformed JSON

// A document with exactly one "?".
class SpecTemplate {
 public:
  static SpecTemplate parse(
      const std::string& text);  // throws DataError unless exactly one number is "?"

  // The name of the unknown, e.g. "noise_multiplier", and where it stands, e.g.
  // "/events/0/gaussian/noise_multiplier".
  const std::string& unknown() const { return unknown_; }
  const std::string& where() const { return where_; }
  bool unknown_is_whole()
      const;  // count, size, population, categories, dimension take whole numbers only

  Spec with(double value) const;  // throws DataError when the value is out of range there

 private:
  SpecTemplate() = default;
  std::string text_, where_, unknown_;
};

}  // namespace sotto
