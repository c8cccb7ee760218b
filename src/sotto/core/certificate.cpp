#include "sotto/core/certificate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <set>

#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/core/json_text.hpp"

namespace sotto {

using Json = nlohmann::ordered_json;

namespace {

// Events are objects with one member, their name; those that wrap others hold them as "event" or
// "events".
void collect_noise(const Json& event, std::set<std::string>& kinds) {
  const Json& body = event.begin().value();
  if (body.is_array()) {
    for (const Json& e : body) collect_noise(e, kinds);
  } else if (body.contains("event")) {
    collect_noise(body["event"], kinds);
  } else if (body.contains("events")) {
    for (const Json& e : body["events"]) collect_noise(e, kinds);
  } else {
    kinds.insert(event.begin().key());
  }
}

DraftCost draft_from_json(const Json& json) {
  DraftCost draft;
  for (const Json& event : json.at("events")) draft.events.push_back(event_from_json(event));
  const auto number = [&](const char* key) {
    const double x = json_number(json.at(key), "the cost of the draft");
    if (x < 0) throw DataError("the certificate's cost of a draft is out of range");
    return x;
  };
  draft.epsilon = number("epsilon"), draft.delta = number("delta");
  draft.epsilon_together = number("epsilon_together");
  draft.delta_together = number("delta_together");
  if (draft.events.empty() || draft.delta >= 1 || draft.delta_together >= 1)
    throw DataError("the certificate's cost of a draft is out of range");
  return draft;
}

}  // namespace

nlohmann::ordered_json to_json(const Certificate& c) {
  Json json = {{"schema", kCertificateSchema}, {"private", c.is_private()}};
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
  if (c.draft) {
    Json events = Json::array();
    for (const Event& event : c.draft->events) events.push_back(to_json(event));
    json["draft"] = {{"epsilon", c.draft->epsilon},
                     {"delta", c.draft->delta},
                     {"events", std::move(events)},
                     {"epsilon_together", c.draft->epsilon_together},
                     {"delta_together", c.draft->delta_together}};
  }
  if (!c.family.empty()) json["family"] = c.family;
  json["method"] = c.method;
  json["description"] = c.description;
  json["assumptions"] = c.assumptions;
  json["dataset"] = c.dataset;
  json["version"] = c.version;
  json["generator"] = c.generator;
  json["noise"] = c.noise;
  if (!c.fingerprint.empty()) json["fingerprint"] = c.fingerprint;
  if (c.ledger) {
    json["ledger"] = {{"store", c.ledger->store},
                      {"dataset", c.ledger->dataset},
                      {"entry", c.ledger->entry},
                      {"head", c.ledger->head}};
  }
  json["files"] = c.files;
  json["digest"] = sha256(canonical_form(json));
  return json;
}

std::string canonical_form(const nlohmann::ordered_json& certificate) {
  nlohmann::json sorted = certificate;  // its members are kept in order of name
  sorted.erase("digest");
  return sorted.dump();
}

std::string noise_of(const Event& event) {
  std::set<std::string> kinds;
  collect_noise(to_json(event), kinds);
  return kinds.empty() ? "none" : fmt::format("{}", fmt::join(kinds, " + "));
}

void check_certificate_text(const std::string& text) {
  Json json;
  try {
    json = parse_json(text, "the certificate", "", {.bytes = kMostCertificateBytes});
  } catch (const DataError&) {
    json = nullptr;
  }
  if (!text.starts_with('{'))
    throw VerificationFailed("what was named is no certificate",
                             "name a model's directory, or the .json that was written beside a "
                             "result, e.g. records.certificate.json");
  if (!json.is_object() || json.dump(2) + "\n" != text)
    throw VerificationFailed("the certificate is not in the form in which it was written",
                             "do not rely on this artifact");
  // Schema 1 had no digest; a certificate that has one is held to it, whatever schema it claims.
  const bool first = json.contains("schema") && json["schema"] == 1 && !json.contains("digest");
  if (!first && (!json.contains("digest") || json["digest"] != sha256(canonical_form(json))))
    throw VerificationFailed("the certificate was changed after it was written",
                             "do not rely on this artifact");
}

Certificate certificate_from_json(const nlohmann::ordered_json& json) {
  try {
    const std::uint64_t schema = json_count(json.at("schema"), "the certificate's schema");
    if (schema < 1 || schema > static_cast<std::uint64_t>(kCertificateSchema))
      throw DataError(fmt::format("the certificate has schema {}; this sotto knows up to {}",
                                  schema, kCertificateSchema),
                      "use a newer sotto");
    Certificate c;
    c.unit = json.at("unit").get<std::string>();
    if (json.at("private").get<bool>()) {
      c.spec = spec_from_json({{"schema", kSpecSchema},
                               {"relation", json.at("relation")},
                               {"events", json.at("events")}});
      c.epsilon = json_number(json.at("epsilon"), "the certificate's epsilon");
      c.delta = json_number(json.at("delta"), "the certificate's delta");
      if (c.epsilon < 0 || c.delta < 0 || c.delta >= 1)
        throw DataError("the certificate's epsilon or delta is out of range");
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
    if (schema >= 2) {
      c.noise = json.at("noise").get<std::string>();
      c.fingerprint = json.value("fingerprint", "");
      if (json.contains("ledger")) {
        const Json& l = json.at("ledger");
        c.ledger = {l.at("store").get<std::string>(), l.at("dataset").get<std::string>(),
                    static_cast<std::int64_t>(json_count(l.at("entry"), "the ledger's entry")),
                    l.at("head").get<std::string>()};
      }
    }
    if (c.spec && json.contains("draft")) c.draft = draft_from_json(json.at("draft"));
    if (schema >= 3) c.family = json.value("family", "");
    c.files = json.at("files").get<std::map<std::string, std::string>>();
    return c;
  } catch (const nlohmann::json::exception&) {
    throw DataError("the certificate is incomplete or damaged",
                    "restore it from where the artifact was copied");
  }
}

}  // namespace sotto
