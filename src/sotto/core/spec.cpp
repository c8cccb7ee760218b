#include "sotto/core/spec.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/core/json_text.hpp"

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;

Json parse_document(const std::string& text) {
  return parse_json(text, "the specification",
                    R"(expected {"schema": 1, "relation": "add_remove", "events": [...]})");
}

void find_unknowns(const Json& json, const Json::json_pointer& where,
                   std::vector<Json::json_pointer>& found) {
  if (json.is_string() && json.get_ref<const std::string&>() == "?") found.push_back(where);
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) find_unknowns(value, where / key, found);
  }
  if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) find_unknowns(json[i], where / i, found);
  }
}

}  // namespace

nlohmann::ordered_json to_json(const Spec& spec) {
  Json events = Json::array();
  for (const Event& event : spec.events) events.push_back(to_json(event));
  return {
      {"schema", kSpecSchema}, {"relation", name(spec.relation)}, {"events", std::move(events)}};
}

Spec spec_from_json(const nlohmann::ordered_json& json) {
  if (!json.is_object()) throw DataError("the specification must be a JSON object");
  for (const auto& [key, value] : json.items()) {
    if (key != "schema" && key != "relation" && key != "events") {
      throw DataError(fmt::format("the specification has an unknown member '{}'", key),
                      "allowed: schema, relation, events");
    }
  }
  if (!json.contains("schema") || json["schema"] != kSpecSchema) {
    throw DataError(fmt::format("the specification must have \"schema\": {}", kSpecSchema));
  }
  Spec spec;
  if (json.contains("relation")) {
    if (!json["relation"].is_string()) throw DataError("relation must be a string");
    try {
      spec.relation = parse_relation(json["relation"].get<std::string>());
    } catch (const InvalidArgument& e) {
      throw DataError(e.what(), e.hint());
    }
  }
  if (!json.contains("events") || !json["events"].is_array())
    throw DataError("the specification must have a list \"events\"");
  for (std::size_t i = 0; i < json["events"].size(); ++i) {
    spec.events.push_back(event_from_json(json["events"][i], fmt::format("events[{}]", i)));
  }
  return spec;
}

Spec parse_spec(const std::string& text) { return spec_from_json(parse_document(text)); }

SpecTemplate SpecTemplate::parse(const std::string& text) {
  Json document = parse_document(text);
  std::vector<Json::json_pointer> found;
  find_unknowns(document, Json::json_pointer(), found);
  if (found.size() != 1) {
    throw DataError(fmt::format(
        "the specification has {} unknowns; calibration needs exactly one number written as \"?\"",
        found.size()));
  }
  SpecTemplate result;
  result.text_ = text;
  result.where_ = found.front().to_string();
  // The unknown inside a list carries the name of the list.
  Json::json_pointer key = found.front();
  while (!key.empty() && key.back().find_first_not_of("0123456789") == std::string::npos)
    key.pop_back();
  if (!key.empty()) result.unknown_ = key.back();
  return result;
}

bool SpecTemplate::unknown_is_whole() const {
  static const std::set<std::string> whole = {"count", "size", "population", "categories",
                                              "dimension"};
  return whole.contains(unknown_);
}

Spec SpecTemplate::with(double value) const {
  Json document = parse_document(text_);
  document[Json::json_pointer(where_)] = value;
  return spec_from_json(document);
}

}  // namespace sotto
