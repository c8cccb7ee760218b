#include "sotto/ledger/entry.hpp"

#include <fmt/format.h>

#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"

namespace sotto::ledger {
namespace {

// What the column that repeats this member holds.
template <class T>
Value member(const nlohmann::json& json, const char* name) {
  if (!json.contains(name)) return {};
  return json.at(name).get<T>();
}

}  // namespace

std::string canonical(const nlohmann::json& json) { return json.dump(); }

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
  } catch (const nlohmann::json::exception&) {
    damaged("it is not the JSON that is expected");
  }
  return e;
}

}  // namespace sotto::ledger
