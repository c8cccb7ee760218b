// Decisions about budgets as entries (decision.hpp).
#include <fmt/format.h>

#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/core/signature.hpp"
#include "sotto/core/version.hpp"
#include "sotto/ledger/history.hpp"
#include "sotto/ledger/ledger.hpp"
#include "sotto/ledger/period.hpp"

namespace sotto::ledger {

// The account under another cap: gauges differ from cap to cap, so the releases of this period are
// counted anew.
Account Ledger::counted_anew(const Dataset& dataset) {
  std::vector<Entry> all = entries(dataset.name);
  Account account(dataset);
  for (const Release& release : releases_of_period(all)) {
    if (release.state == "abandoned") continue;
    std::vector<Event> events;
    for (const nlohmann::json& e : nlohmann::json::parse(release.events))
      events.push_back(event_from_json(nlohmann::ordered_json(e)));
    account.charge(compose(std::move(events)), release.part);
  }
  return account;
}

Receipt Ledger::decide(const std::string& name, const Decision& decision,
                       const std::string& private_pem) {
  check_text("reason", decision.reason, 2000);
  check_text("name of who decides", decision.by);
  Transaction t = Transaction::writing(*db_);
  // Who may charge can leave a release that nobody reads: it stops neither renewing nor closing.
  const Dataset before = defined(name).dataset();
  std::map<std::string, std::string> left = spends(name);
  if (before.owner_key.empty())
    throw InvalidArgument(
        fmt::format("the budget of '{}' is fixed: it was created without an owner key", name),
        "sotto ledger create --owner-key PUB says whose signature changes it");
  const std::string signer = key_fingerprint(public_key_of(private_pem));
  if (signer != key_fingerprint(before.owner_key))
    throw InvalidArgument(fmt::format("the key is not the one of the owner of '{}'", name),
                          fmt::format("its fingerprint is {}", key_fingerprint(before.owner_key)));
  const Dataset after = decided(before, decision);
  const std::int64_t now = this->now();
  if (decision.what == "renew") {
    // By the clock of who decides: one that ran ahead elsewhere, or was made to, begins no period.
    if (clock_() < before.until)
      throw InvalidArgument(
          fmt::format("the period of '{}' lasts until {}", name, iso_day(before.until)),
          "it is renewed when it is over; sotto ledger raise gives it more until then");
    for (const Release& r : releases_of_period(entries(name))) {
      if (r.state == "reserved")
        throw InvalidArgument(
            fmt::format("entry {} of '{}' is reserved and not settled", r.entry, name),
            "commit or abandon it first: it belongs to the period that ends");
    }
  }
  // Closing changes no cap, so what was spent stays as it is.
  if (decision.what != "close") {
    const Account account = decision.what == "renew" ? Account(after) : counted_anew(after);
    for (auto& [part, spend] : left) spend = account.stored(part);
  }
  nlohmann::json body = {{"kind", "decision"},
                         {"dataset", name},
                         {"decision", decision.what},
                         {"definition", to_json(after)},
                         {"reason", decision.reason},
                         {"by", decision.by},
                         {"signer", signer},
                         {"previous", head().hash},
                         {"time", now},
                         {"spends", digest_of_spends(left)},
                         {"version", kVersion}};
  body["signature"] = sign(private_pem, signed_text(body));
  const Entry e = append(std::move(body), name);
  db_->change_one("UPDATE sotto_datasets SET seq = $1 WHERE name = $2", {e.seq, name});
  for (const auto& [part, spend] : left)
    db_->change_one("UPDATE sotto_spends SET seq = $1, spend = $2 WHERE dataset = $3 AND part = $4",
                    {e.seq, spend, name, part});
  Receipt r;
  try {
    r = receipt(account(name), e.seq, e);
  } catch (const Error& error) {
    if (decision.what != "close" || error.code() == ErrorCode::internal ||
        error.code() == ErrorCode::storage)
      throw;
    // Closed all the same: nothing is said to be left of what cannot be read.
    r.entry = e.seq, r.head = e.hash, r.store = store(), r.dataset = name;
    r.has_epsilon = false, r.delta = after.delta;
    r.epsilon_cap = r.epsilon_spent = after.epsilon, r.rho_cap = r.rho_spent = after.rho;
  }
  finish(t, e);
  return r;
}

std::optional<double> Ledger::largest_like(const Charge& charge) {
  Transaction t = Transaction::reading(*db_);
  const Account& own = account(charge.dataset);
  const Event event = charge.spec.event();
  std::optional<double> largest = own.largest_like(event, charge.part);
  if (const std::string& people = own.dataset().people; !people.empty() && largest) {
    const std::optional<double> shared = account(people).largest_like(event, "");
    largest = shared ? std::optional(std::min(*largest, *shared)) : std::nullopt;
  }
  return largest;
}

}  // namespace sotto::ledger
