// What a data set's releases cost together if all of them had been fixed in advance: the tight
// number beside the filter's.
//
// What       fixed_in_advance() composes every release that was not abandoned, equal events counted
//            instead of repeated.
// Guarantee  An upper bound on ε for releases that were fixed before the first was seen. Releases
//            that depend on earlier ones have the cap only.
// Method     accounting/account.hpp, automatic; for each part the releases about the whole and
//            about the part; the largest.
// Numerics   Rounded up there. With more than kDistinct different events a bound that adds up Rényi
//            curves is taken instead.
// Reference  docs/math/pld.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sotto/accounting/bound.hpp"
#include "sotto/ledger/dataset.hpp"
#include "sotto/ledger/entry.hpp"

namespace sotto::ledger {

struct Release {
  std::int64_t entry = 0, time = 0;           // milliseconds since 1970
  std::string key, part, purpose, by, state;  // state: reserved, committed, abandoned
  std::string events;                         // JSON
  std::string result = {};                    // which result the commit says it paid for, if any
};

// The releases among the entries of one data set, oldest first.
std::vector<Release> releases(const std::vector<Entry>& entries);
// Those since the budget was last renewed.
std::vector<Release> releases_of_period(const std::vector<Entry>& entries);

// Nothing for a cap without δ, or when no accountant can bound the releases.
std::optional<Bound> fixed_in_advance(const Dataset& dataset, const std::vector<Release>& releases);

}  // namespace sotto::ledger
