#include "sotto/ledger/history.hpp"

#include <fmt/format.h>

#include <map>

#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"

namespace sotto::ledger {
namespace {

using Json = nlohmann::json;
using Counts = std::map<std::string, std::uint64_t>;  // events of a release, as text → how often

constexpr std::size_t kDistinct = 32;

Spec composed(const Dataset& dataset, const Counts& whole, const Counts& part) {
  Counts all = whole;
  for (const auto& [text, count] : part) all[text] += count;
  Spec spec{dataset.relation, {}};
  for (const auto& [text, count] : all) {
    std::vector<Event> events;
    for (const Json& e : Json::parse(text))
      events.push_back(event_from_json(nlohmann::ordered_json(e)));
    spec.events.push_back(repeat(compose(std::move(events)), count));
  }
  return spec;
}

std::optional<Bound> bound_of(const Spec& spec, double delta) {
  AccountOptions options;
  if (spec.events.size() > kDistinct) options.fully_adaptive = true;
  try {
    return guarantee(spec, delta, options);
  } catch (const Error& e) {
    if (e.code() == ErrorCode::internal) throw;
    return std::nullopt;
  }
}

}  // namespace

std::vector<Release> releases(const std::vector<Entry>& entries) {
  std::vector<Release> all;
  std::map<std::int64_t, std::size_t> place;
  for (const Entry& e : entries) try {
      if (e.kind == "reserve" || e.kind == "charge") {
        place[e.seq] = all.size();
        all.push_back({e.seq, e.json.at("time").get<std::int64_t>(), e.json.at("key"),
                       e.json.at("part"), e.json.at("purpose"), e.json.at("by"),
                       e.kind == "charge" ? "committed" : "reserved", e.json.at("events").dump()});
      } else if (e.kind == "commit" || e.kind == "abandon") {
        const auto it = place.find(e.json.at("entry").get<std::int64_t>());
        if (it == place.end()) continue;
        all[it->second].state = e.kind == "commit" ? "committed" : "abandoned";
        const std::string result = e.json.value("result", "");
        all[it->second].result = result.substr(0, result.find(' '));  // a run's state may follow
      }
    } catch (const nlohmann::json::exception&) {
      throw VerificationFailed(
          fmt::format("entry {} of the ledger lacks a field or has one of the wrong type", e.seq),
          "restore the store from a copy whose head you pinned");
    }
  return all;
}

std::vector<Release> releases_of_period(const std::vector<Entry>& entries) {
  std::int64_t renewed = 0;
  for (const Entry& e : entries)
    if (e.kind == "decision" && e.json.value("decision", "") == "renew") renewed = e.seq;
  std::vector<Release> all = releases(entries);
  std::erase_if(all, [&](const Release& r) { return r.entry < renewed; });
  return all;
}

std::optional<Bound> fixed_in_advance(const Dataset& dataset,
                                      const std::vector<Release>& releases) {
  if (dataset.delta == 0 && dataset.epsilon == 0) return std::nullopt;
  std::map<std::string, Counts> counts;
  for (const Release& r : releases) {
    if (r.state != "abandoned") ++counts[r.part][r.events];
  }
  std::optional<Bound> worst = bound_of(composed(dataset, counts[""], {}), dataset.delta);
  for (const auto& [part, own] : counts) {
    if (part.empty() || !worst) continue;
    const auto bound = bound_of(composed(dataset, counts[""], own), dataset.delta);
    if (!bound || bound->upper > worst->upper) worst = bound;
  }
  return worst;
}

}  // namespace sotto::ledger
