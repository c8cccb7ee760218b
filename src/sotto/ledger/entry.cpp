#include "sotto/ledger/entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/core/json_text.hpp"

namespace sotto::ledger {
namespace {

// What the column that repeats this member holds.
template <class T>
Value member(const nlohmann::json& json, const char* name) {
  if (!json.contains(name)) return {};
  return json.at(name).get<T>();
}

// Whoever may charge writes entries: each field that is read later has the type that it must have.
bool has_the_types(const nlohmann::json& json) {
  for (const char* name : {"seq", "time"})
    if (!json.contains(name)) return false;
  for (const auto& [name, value] : json.items()) {
    const auto among = [&, &name = name](std::initializer_list<const char*> names) {
      return std::ranges::find(names, name) != names.end();
    };
    const bool fits = among({"seq", "time", "entry", "resumes", "linked", "for"})
                          ? value.is_number_unsigned() && value <= std::uint64_t{1} << 60
                      : among({"kind", "dataset", "previous", "key", "part", "purpose", "by",
                               "what", "run", "reason", "asked", "result", "spends", "version"})
                          ? value.is_string()
                      : name == "events"     ? value.is_array()
                      : name == "definition" ? value.is_object()
                                             : true;
    if (!fits) return false;
  }
  const auto& kind = json.at("kind");
  if (kind != "reserve" && kind != "charge") return true;
  return json.contains("events") && json.contains("key") && json.contains("part");
}

}  // namespace

std::string canonical(const nlohmann::json& json) { return json.dump(); }

bool resumes_are_noted(const Entry& reservation) {
  const nlohmann::json& json = reservation.json;
  const auto tally = json.find("this_data");
  return !json.value("run", "").empty() ||
         (tally != json.end() && tally->is_object() && tally->contains("announced"));
}

Entry entry_from_row(const Values& row) {
  Entry e;
  const auto damaged = [&](const std::string& why) {
    throw VerificationFailed(fmt::format("entry {} of the ledger was changed: {}", e.seq, why),
                             "restore the store from a copy whose head you pinned");
  };
  const auto text = [&](std::size_t i) {
    const auto* t = std::get_if<std::string>(&row.at(i));
    if (t == nullptr) damaged("a column has the wrong type");
    return *t;
  };
  if (const auto* n = std::get_if<std::int64_t>(&row.at(0))) e.seq = *n;
  e.kind = text(1), e.dataset = text(2), e.body = text(5), e.hash = text(6);
  if (sha256(e.body) != e.hash) damaged("its hash does not match its content");
  try {
    e.json = parse_json(e.body, "the entry");
  } catch (const DataError&) {
    damaged("it is not the JSON that is expected");
  }
  try {
    if (e.json.at("seq") != e.seq || e.json.at("kind") != e.kind ||
        e.json.at("dataset") != e.dataset || member<std::string>(e.json, "key") != row.at(3) ||
        member<std::int64_t>(e.json, "entry") != row.at(4))
      damaged("its columns do not match its content");
    if (!has_the_types(e.json)) damaged("a field is missing or has another type");
  } catch (const nlohmann::json::exception&) {
    damaged("it is not the JSON that is expected");
  }
  return e;
}

std::string select_entries(const std::string& rest) {
  return fmt::format("SELECT {} FROM sotto_entries {}", kEntryColumns, rest);
}

std::vector<Event> released_events(const Entry& release) {
  std::vector<Event> events;
  for (const nlohmann::json& e : release.json.at("events"))
    events.push_back(event_from_json(nlohmann::ordered_json(e)));
  return events;
}

}  // namespace sotto::ledger
