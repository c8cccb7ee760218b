// The history of one data set as people ask for it: what was released, refused and decided, by
// whom, why, when, and what it cost.
//
// What       story() turns the entries of one data set into lines, oldest first.
// Guarantee  None: an account of what the entries say. `own` is an upper bound on ε of the release
//            alone, at the cap's δ; `added` is by how much it raised what the data set's accountant
//            grants all releases of its period, as it was at that moment.
// Method     The entries are replayed on an account; equal events are accounted for once.
// Numerics   Upper bounds, rounded by whoever prints them.
// Reference  docs/ledger.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sotto/ledger/dataset.hpp"
#include "sotto/ledger/entry.hpp"

namespace sotto::ledger {

struct Line {
  std::int64_t entry = 0, time = 0;  // milliseconds since 1970
  std::string kind = {};             // release, refusal, decision
  // committed, reserved or abandoned; renew, raise or close; for a refusal why the budget did not
  // cover it.
  std::string state = {};
  std::string what = {};  // in words
  std::string by = {}, why = {}, part = {}, key = {};
  std::optional<double> own = {}, added = {};  // ε; nothing where there is no such number
  std::optional<double> this_data = {};        // what it counts in the tally, if there is one
  std::string result = {};                     // which result a commit says it paid for
  std::string signer = {};                     // of a decision: the fingerprint of its key
  std::size_t period = 0;                      // 0 is the first
};

struct Story {
  std::vector<Line> lines;
  std::size_t periods = 1;  // begun so far
};

// newest: only so many of the newest lines get their own ε, which may take a while; 0: none of
// them.
Story story(const std::vector<Entry>& entries, std::size_t newest);

// What an event is called when nobody has said what it is for: "100 × sampled gaussian", "pure,
// laplace".
std::string in_words(const std::vector<Event>& events);

}  // namespace sotto::ledger
