// Reading the whole ledger again: is the chain unbroken, and is the spend what the entries say?
//
// What       verify() recomputes every hash, replays every charge from its events, and compares
//            with the stored spends, data sets and keys. With a pin, the entry with that hash must
//            be part of the chain: a store that was rolled back does not have it.
// Guarantee  Returns only when everything holds; throws VerificationFailed that names the first
//            entry at fault.
// Method     The same Account as when charging, from the first entry on; equal events are priced
//            once.
// Reference  docs/ledger.md, section "What is detected".
#pragma once

#include <string>

#include "sotto/ledger/ledger.hpp"

namespace sotto::ledger {

struct Verified {
  std::int64_t entries = 0, datasets = 0;
  std::string head, store;
};

Verified verify(Ledger& ledger, const std::string& pin = {});

}  // namespace sotto::ledger
