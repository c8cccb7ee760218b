#include "sotto/ledger/entry.hpp"

#include <fmt/format.h>

#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"

namespace sotto::ledger {

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
    e.json = nlohmann::json::parse(e.body);
    const Value key = e.json.contains("key") ? Value(e.json.at("key").get<std::string>()) : Value{};
    const Value refers =
        e.json.contains("entry") ? Value(e.json.at("entry").get<std::int64_t>()) : Value{};
    if (e.json.at("seq") != e.seq || e.json.at("kind") != e.kind ||
        e.json.at("dataset") != e.dataset || key != row.at(3) || refers != row.at(4))
      damaged("its columns do not match its content");
  } catch (const nlohmann::json::exception&) {
    damaged("it is not the JSON that is expected");
  }
  return e;
}

}  // namespace sotto::ledger
