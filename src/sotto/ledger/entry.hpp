// Entries: what the ledger never forgets. Each is a line of canonical JSON that names the hash of
// the line before.
//
//   {"dataset":"census","events":[…],"key":"r1","kind":"charge",…,"previous":"<hash of entry
//   6>","seq":7,"spends":"<digest>","time":"…"}
// Canonical: members sorted, no spaces, numbers in their shortest form that reads back the same.
// hash = SHA-256 of the line.
// Changing, inserting or removing an entry breaks the chain from there on; only removing the newest
// ones does not, which is why the head can be pinned elsewhere.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sotto/core/event.hpp"
#include "sotto/ledger/database.hpp"

namespace sotto::ledger {

// kind: "store" (the first), "dataset", "reserve", "charge" (reserved and committed at once),
// "commit", "abandon", "resume" (a reservation is taken up again), "refuse" (what the budget did
// not cover: changes nothing), "decision" (about a budget: decision.hpp).
struct Entry {
  std::int64_t seq = 0;
  std::string kind, dataset;
  std::string body, hash;
  nlohmann::json json;  // the body, parsed
};

// What every entry of a store is written with and read by.
std::string canonical(const nlohmann::json& json);

// Whether each run that takes this reservation up again is an entry: where work goes on, and where
// a statement about the data is drawn anew (tally.hpp).
bool resumes_are_noted(const Entry& reservation);

// From a row (seq, kind, dataset, release_key, refers, body, hash); throws VerificationFailed when
// the row disagrees with its hash or body.
Entry entry_from_row(const Values& row);
inline constexpr const char* kEntryColumns = "seq, kind, dataset, release_key, refers, body, hash";

// The statement that reads rows of entries; rest: which ones and in what order.
std::string select_entries(const std::string& rest);

// What a reservation or charge pays for.
std::vector<Event> released_events(const Entry& release);

}  // namespace sotto::ledger
