#include "sotto/core/certificate.hpp"

#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"

namespace sotto {

using Json = nlohmann::ordered_json;

nlohmann::ordered_json to_json(const Certificate& c) {
  Json json = {{"schema", 1}, {"private", c.is_private()}};
  if (!c.is_private())
    json["warning"] = "NOT PRIVATE: this artifact was made without differential privacy";
  if (c.is_private() && !c.secure())
    json["warning"] = "INSECURE: made with a fixed seed, NOT PRIVATE";
  json["unit"] = c.unit;
  if (c.spec) {
    const Json spec = to_json(*c.spec);
    json["relation"] = spec["relation"];
    json["epsilon"] = c.epsilon;
    json["delta"] = c.delta;
    json["accountant"] = c.accountant;
    json["conversion"] = c.conversion;
    json["epsilon_by"] = c.epsilon_by;
    json["events"] = spec["events"];
  }
  json["method"] = c.method;
  json["description"] = c.description;
  json["assumptions"] = c.assumptions;
  json["dataset"] = c.dataset;
  json["version"] = c.version;
  json["generator"] = c.generator;
  json["files"] = c.files;
  return json;
}

Certificate certificate_from_json(const nlohmann::ordered_json& json) {
  try {
    if (json.at("schema") != 1) throw DataError("the certificate has a schema other than 1");
    Certificate c;
    c.unit = json.at("unit").get<std::string>();
    if (json.at("private").get<bool>()) {
      c.spec = spec_from_json({{"schema", kSpecSchema},
                               {"relation", json.at("relation")},
                               {"events", json.at("events")}});
      c.epsilon = json.at("epsilon").get<double>();
      c.delta = json.at("delta").get<double>();
      c.accountant = json.at("accountant").get<std::string>();
      c.conversion = json.at("conversion").get<std::string>();
      c.epsilon_by = json.at("epsilon_by").get<std::map<std::string, double>>();
    }
    c.method = json.at("method").get<std::string>();
    c.description = json.at("description").get<std::string>();
    c.assumptions = json.at("assumptions").get<std::vector<std::string>>();
    c.dataset = json.at("dataset").get<std::string>();
    c.version = json.at("version").get<std::string>();
    c.generator = json.at("generator").get<std::string>();
    c.files = json.at("files").get<std::map<std::string, std::string>>();
    return c;
  } catch (const nlohmann::json::exception&) {
    throw DataError("the certificate is incomplete or damaged",
                    "restore it from where the artifact was copied");
  }
}

}  // namespace sotto
