// Charges, reservations and what settles them, as entries (ledger.hpp).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/core/version.hpp"
#include "sotto/ledger/ledger.hpp"
#include "sotto/ledger/period.hpp"

namespace sotto::ledger {
namespace {

using Json = nlohmann::json;

Json events_json(const Spec& spec) {
  Json events = Json::array();
  for (const Event& e : spec.events) events.push_back(Json(to_json(e)));
  return events;
}

// A budget is spent while it is open, in its period.
void check_time(const Dataset& d, std::int64_t now) {
  if (d.closed)
    throw BudgetExceeded(fmt::format("the data set '{}' is closed", d.name),
                         "nothing was charged and no data was read; ask its owner");
  if (d.from != 0 && now < d.from)
    throw BudgetExceeded(fmt::format("the period of '{}' begins on {}", d.name, iso_day(d.from)),
                         "nothing was charged and no data was read; wait for it");
  if (d.until != 0 && now >= d.until)
    throw BudgetExceeded(
        fmt::format("the period of '{}' ended on {}", d.name, iso_day(d.until)),
        "nothing was charged and no data was read; its owner may decide on another: sotto ledger "
        "renew");
}

// Twelve places are what caps and pure charges are counted in; the rest of a difference is noise of
// the subtraction.
double difference(double after, double before) {
  return std::max(0.0, std::round((after - before) * 1e12) / 1e12);
}

void check_charge(const Charge& c, const Dataset& d) {
  check_text("key", c.key);
  if (!c.what.empty()) check_text("description of the release", c.what, 500);
  if (!c.by.empty()) check_text("name of who asks", c.by);
  if (!c.run.empty()) check_text("name of the run", c.run);
  if (c.spec.events.empty())
    throw InvalidArgument("there is nothing to charge: the specification has no events");
  if (c.spec.relation != d.relation)
    throw InvalidArgument(
        fmt::format("the release is about {}, the data set '{}' is accounted under {}",
                    name(c.spec.relation), d.name, name(d.relation)),
        "guarantees under different relations cannot be added; use the data set's relation");
  if (!c.unit.empty() && c.unit != d.unit)
    throw InvalidArgument(
        fmt::format("the release protects one {}, the data set '{}' one {}", c.unit, d.name,
                    d.unit),
        d.unit == "user" ? "use a schema with a column of role \"user\"; statistics: sotto release "
                           "summary"
                         : "");
  const bool listed = std::ranges::find(d.purposes, c.purpose) != d.purposes.end();
  if (!d.purposes.empty() && !listed)
    throw InvalidArgument(
        c.purpose.empty()
            ? fmt::format("the data set '{}' is charged for a purpose only", d.name)
            : fmt::format("'{}' is not a purpose of the data set '{}'", c.purpose, d.name),
        fmt::format("`purpose`: {}", fmt::join(d.purposes, ", ")));
  if (d.purposes.empty() && !c.purpose.empty()) check_text("purpose", c.purpose);
}

}  // namespace

Receipt Ledger::append_charge(const Charge& c, const std::string& kind, bool dry) {
  Transaction t = dry ? Transaction::reading(*db_) : Transaction::writing(*db_);
  Account& account = this->account(c.dataset);
  check_charge(c, account.dataset());
  account.check_place(c.part);
  const Json events = events_json(c.spec);
  const auto rows =
      db_->query(select_entries("WHERE dataset = $1 AND release_key = $2"), {c.dataset, c.key});
  if (!rows.empty()) {
    const Found f = find(entry_from_row(rows[0]));
    if (f.entry.json.at("events") != events || f.entry.json.value("part", "") != c.part)
      throw InvalidArgument(
          fmt::format("the key '{}' was used in entry {} for another release", c.key, f.entry.seq),
          "nothing was charged; each release needs a key of its own");
    if (f.abandoned)
      throw InvalidArgument(
          fmt::format("the key '{}' belongs to entry {}, which was abandoned", c.key, f.entry.seq),
          "nothing was charged; use another key");
    if (f.entry.json.value("run", "") != c.run)
      throw InvalidArgument(
          fmt::format("the key '{}' belongs to entry {}, which another run reserved", c.key,
                      f.entry.seq),
          "nothing was charged; go on with that run (its checkpoint), or use another key");
    Receipt r = receipt(account, f.entry.seq, head());
    r.replayed = true, r.committed = f.committed, r.result = f.result;
    if (kind == "charge" && !f.committed && !dry) {
      const Entry e = append_settlement(f.entry, {{"kind", "commit"}});
      r.head = e.hash, r.committed = true;
      finish(t, e);
    } else if (kind == "reserve" && resumes_are_noted(f.entry) && !f.committed && !dry) {
      // The run was stopped, or killed, and goes on, or draws what it will say anew. `entry` is for
      // what settles a reservation, once.
      const Entry e = append({{"kind", "resume"},
                              {"resumes", f.entry.seq},
                              {"by", c.by},
                              {"spends", account.digest()}},
                             c.dataset);
      r.head = e.hash;
      if (r.this_data) r.this_data = tally(account.dataset());
      finish(t, e);
    }
    return r;
  }
  if (dry) {
    const std::int64_t now = this->now();
    check_time(account.dataset(), now);
    const double before = account.has_epsilon() ? account.epsilon() : 0;
    account.charge(c.spec.event(), c.part);
    const Entry newest = head();
    check_kept_head(newest);
    Receipt r = receipt(account, 0, newest);
    if (r.this_data) r.this_data->enter(0, r.this_data->worst_of(c.spec, c.announced));
    if (!r.people.empty()) {
      Account& shared = this->account(r.people);
      check_time(shared.dataset(), now);
      shared.charge(c.spec.event(), "");
      r.people_left = shared.left();
    }
    r.epsilon_added = difference(r.epsilon_spent, before);
    return r;
  }
  try {
    return append_new_charge(t, c, kind);
  } catch (const BudgetExceeded& refused) {
    append_refusal(t, c, refused.what());
    throw;
  }
}

// Everything is checked before the first entry is written. A shared budget is charged by an entry
// of its own, in front of this one.
Receipt Ledger::append_new_charge(Transaction& t, const Charge& c, const std::string& kind) {
  Account& account = this->account(c.dataset);
  const std::int64_t now = this->now();
  check_time(account.dataset(), now);
  const double before = account.has_epsilon() ? account.epsilon() : 0;
  const std::string spend = account.charge(c.spec.event(), c.part);
  Json body = {{"kind", kind},         {"key", c.key},       {"part", c.part},
               {"purpose", c.purpose}, {"by", c.by},         {"events", events_json(c.spec)},
               {"time", now},          {"version", kVersion}};
  if (!c.what.empty()) body["what"] = c.what;
  if (!c.run.empty()) body["run"] = c.run;
  if (account.dataset().this_data_epsilon > 0) {
    Tally tally = this->tally(account.dataset());
    const Entered worst = tally.worst_of(c.spec, c.announced);
    tally.enter(0, worst);
    body["this_data"] = to_json(worst);
  }
  if (const std::string people = account.dataset().people; !people.empty()) {
    Account& shared = this->account(people);
    check_time(shared.dataset(), now);
    const std::string shared_spend = shared.charge(c.spec.event(), "");
    Json first = body;
    first["key"] = fmt::format("for {}: {}", c.dataset, c.key);
    first["for"] = head().seq + 2;
    first["spends"] = shared.digest();
    body["linked"] = append(std::move(first), people, PlaceSpend{"", shared_spend}).seq;
  }
  body["spends"] = account.digest();
  const Entry e = append(std::move(body), c.dataset, PlaceSpend{c.part, spend});
  Receipt r = receipt(account, e.seq, e);
  r.epsilon_added = difference(r.epsilon_spent, before);
  r.committed = kind == "charge";
  finish(t, e);
  return r;
}

// What was refused is part of the history. It depends on public facts only, uses up no key and
// changes no spend.
void Ledger::append_refusal(Transaction& t, const Charge& c, const std::string& reason) {
  Json body = {{"kind", "refuse"},
               {"asked", c.key},
               {"part", c.part},
               {"purpose", c.purpose},
               {"by", c.by},
               {"events", events_json(c.spec)},
               {"reason", reason},
               {"spends", account(c.dataset).digest()},  // as stored: the charge did not happen
               {"version", kVersion}};
  if (!c.what.empty()) body["what"] = c.what;
  finish(t, append(std::move(body), c.dataset));
}

Receipt Ledger::reserve(const Charge& c) { return append_charge(c, "reserve", false); }
Receipt Ledger::charge(const Charge& c) { return append_charge(c, "charge", false); }
Receipt Ledger::quote(const Charge& c) { return append_charge(c, "charge", true); }

// Commits or abandons one reservation, and first the one that it has on a shared budget.
Entry Ledger::append_settlement(const Entry& reservation, nlohmann::json body) {
  if (reservation.json.contains("linked"))
    append_settlement(entry(reservation.json.at("linked").get<std::int64_t>()), body);
  Account& account = this->account(reservation.dataset);
  body["entry"] = reservation.seq;
  std::optional<PlaceSpend> left;
  if (body.at("kind") == "abandon") {
    const std::string part = reservation.json.at("part").get<std::string>();
    left = PlaceSpend{part, account.refund(compose(released_events(reservation)), part)};
    body["part"] = part;
  }
  body["spends"] = account.digest();
  return append(std::move(body), reservation.dataset, left);
}

Receipt Ledger::settle(std::int64_t seq, nlohmann::json body,
                       const std::optional<Statement>& said) {
  Transaction t = Transaction::writing(*db_);
  const Found f = find(entry(seq));
  if (f.entry.kind != "reserve" || f.committed || f.abandoned) {
    const bool release = f.entry.kind == "reserve" || f.entry.kind == "charge";
    throw InvalidArgument(fmt::format("entry {} is not an open reservation: it {}", seq,
                                      !release      ? "is no release"
                                      : f.abandoned ? "was abandoned"
                                                    : "is committed"));
  }
  if (f.entry.json.contains("for"))
    throw InvalidArgument(fmt::format("entry {} is the shared part of entry {}", seq,
                                      f.entry.json.at("for").get<std::int64_t>()),
                          "settle that one; this one follows");
  const bool refund = body.at("kind") == "abandon";
  if (const Dataset& d = account(f.entry.dataset).dataset();
      said && d.this_data_epsilon > 0 &&
      tally(d).lower(seq, *said, compose(released_events(f.entry))))
    body["this_data"] = to_json(*said);
  const Entry e = append_settlement(f.entry, std::move(body));
  Receipt r = receipt(this->account(f.entry.dataset), seq, e);
  r.committed = !refund;
  finish(t, e);
  return r;
}

Receipt Ledger::commit(std::int64_t seq, const std::string& result,
                       const std::optional<Statement>& said) {
  Json body = {{"kind", "commit"}};
  if (!result.empty()) body["result"] = result;
  return settle(seq, std::move(body), said);
}

Receipt Ledger::abandon(std::int64_t seq, const std::string& reason, const std::string& by) {
  check_text("reason", reason, 2000);
  if (!by.empty()) check_text("name of who asks", by);
  return settle(seq, {{"kind", "abandon"}, {"reason", reason}, {"by", by}});
}

}  // namespace sotto::ledger
