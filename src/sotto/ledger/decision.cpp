#include "sotto/ledger/decision.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/ledger/period.hpp"

namespace sotto::ledger {
namespace {

Dataset renewed(Dataset d, const Decision& decision) {
  if (d.until == 0)
    throw InvalidArgument(fmt::format("the budget of '{}' has no period, so none follows", d.name),
                          "sotto ledger raise gives it more");
  d.from = d.until;
  if (decision.until > 0) {
    d.until = decision.until;
  } else if (!d.period.empty()) {
    d.until = end_of_period(d.from, d.period);
  } else {
    throw InvalidArgument(
        fmt::format("'{}' was created with a last day, not with a period", d.name),
        "give `until` DAY, the end of the next one");
  }
  if (d.until <= d.from)
    throw InvalidArgument(fmt::format("the period would end on {}, before it begins on {}",
                                      iso_day(d.until), iso_day(d.from)));
  return d;
}

void set_cap(Dataset& d, const Decision& decision) {
  if ((decision.rho > 0 && d.rho == 0) || (decision.epsilon > 0 && d.rho > 0))
    throw InvalidArgument("a cap stays in its currency",
                          d.rho > 0 ? "give `rho`" : "give `epsilon`");
  // What is set aside of δ keeps its share.
  if (decision.delta > 0 && d.delta > 0) d.own_delta *= decision.delta / d.delta;
  if (decision.epsilon > 0) d.epsilon = decision.epsilon;
  if (decision.delta > 0) d.delta = decision.delta;
  if (decision.rho > 0) d.rho = decision.rho;
}

bool lower(const Dataset& after, const Dataset& before) {
  return after.epsilon < before.epsilon || after.delta < before.delta || after.rho < before.rho;
}
bool equal_caps(const Dataset& a, const Dataset& b) {
  return a.epsilon == b.epsilon && a.delta == b.delta && a.rho == b.rho;
}

}  // namespace

Dataset decided(const Dataset& before, const Decision& decision) {
  if (before.closed)
    throw InvalidArgument(fmt::format("the data set '{}' is closed, and stays so", before.name));
  Dataset after = before;
  if (decision.what == "renew") {
    after = renewed(std::move(after), decision);
    set_cap(after, decision);
  } else if (decision.what == "raise") {
    set_cap(after, decision);
    if (lower(after, before) || equal_caps(after, before))
      throw InvalidArgument("raising needs a cap above the one there is",
                            "to spend less, spend less; to end it: sotto ledger close");
  } else if (decision.what == "close") {
    after.closed = true;
  } else {
    throw InvalidArgument(fmt::format("'{}' is no decision", decision.what));
  }
  check(after);
  return after;
}

bool may_follow(const Dataset& before, const std::string& what, const Dataset& after) {
  Decision decision{.what = what};
  if (what != "close") {
    decision.epsilon = after.epsilon == before.epsilon ? 0 : after.epsilon;
    decision.delta = after.delta == before.delta ? 0 : after.delta;
    decision.rho = after.rho == before.rho ? 0 : after.rho;
  }
  if (what == "renew") decision.until = after.until;
  try {
    return to_json(decided(before, decision)) == to_json(after);
  } catch (const Error&) {
    return false;
  }
}

std::string signed_text(const nlohmann::json& body) {
  nlohmann::json text = {{"sotto", "decision"}};
  for (const char* key : {"dataset", "decision", "definition", "reason", "by", "previous"})
    text[key] = body.at(key);
  return canonical(text);
}

}  // namespace sotto::ledger
