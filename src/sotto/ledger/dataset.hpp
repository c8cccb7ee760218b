// A data set in the ledger: whose data, which guarantee, how it is accounted, and who may spend it
// for what.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/accounting/bound.hpp"
#include "sotto/core/event.hpp"
#include "sotto/core/relation.hpp"

namespace sotto::ledger {

struct Dataset {
  std::string name;
  std::string unit = "record";  // whose data is protected
  Relation relation = Relation::add_remove;
  // rdp, zcdp, gdp: each release may depend on earlier ones. pld: only the releases of `plan`,
  // fixed in advance.
  Accountant accountant = Accountant::rdp;
  double epsilon = 0, delta = 0;  // the cap; delta = 0 with epsilon: pure
  double own_delta = 0;  // of delta, for events that have a failure probability of their own
  double rho = 0;        // instead of epsilon; delta then only states ε
  // A second cap, on what releases cost these very records, added up (tally.hpp); 0: none.
  double this_data_epsilon = 0;
  std::vector<std::string> parts;     // disjoint by declaration: a record is in at most one
  std::vector<std::string> purposes;  // empty: any
  std::string owner;
  std::string owner_key;  // public, as PEM: who may renew, raise or close it; empty: nobody
  std::int64_t from = 0, until = 0;  // milliseconds since 1970; charged in between only; 0: always
  std::string period;                // how long a period is: month, quarter, half-year, year
  bool closed = false;
  std::string people;  // another data set about the same people, whose budget every charge uses too
  std::vector<Event> plan;  // pld only
  // What binds the data set to a file, compared by commands that read one. Optional, both.
  std::vector<std::string> columns;  // the names in its header row, in any order
  std::string fingerprint;           // under the curator's key (data/fingerprint.hpp)
};

nlohmann::json to_json(const Dataset& dataset);
Dataset dataset_from_json(const nlohmann::json& json);  // throws DataError

// Throws InvalidArgument for a definition without meaning (parts under replace_one, a plan without
// pld, bad names, …).
void check(const Dataset& dataset);

// Names, keys, purposes, reasons: text in UTF-8 without control or direction characters, so that a
// listing shows what is stored.
void check_text(std::string_view what, std::string_view text, std::size_t longest = 200);

}  // namespace sotto::ledger
