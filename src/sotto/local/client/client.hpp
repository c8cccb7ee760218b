// A client as a device has it: values in, records out, for as long as its lifetime budget lasts.
//
// What       report() makes one record. With a store or a secret, permanent answers are kept; with
//            a lifetime budget, a client counts what it has said, durably and before it says it.
// Guarantee  The reports of a client cost at most `lifetime_epsilon` together: each report its ε
//            for protocols without permanent answers, each permanent answer its ε for ever for
//            those with. A crash between counting and reporting costs budget, never privacy.
//            Refusals of protocols without permanent answers do not depend on the value. With
//            them, a client that has no permanent answer left for a new value refuses, which says
//            that the value is new; when a value changes is not hidden by such protocols anyway.
// Method     Counters lie in the store beside the answers.
// Numerics   Products of whole numbers and ε, rounded up.
// Reference  docs/math/local-privacy.md.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "sotto/local/client/declaration.hpp"
#include "sotto/local/client/memory.hpp"
#include "sotto/local/client/randomizer.hpp"

namespace sotto::local {

struct ClientSettings {
  std::string id = {};      // written into records; empty: none
  std::string secret = {};  // for permanent answers without a store
  Store* store = nullptr;   // must outlive the client
  double lifetime_epsilon = std::numeric_limits<double>::infinity();  // needs a store
};

class Client {
 public:
  // Both must outlive the client. Throws InvalidArgument when the settings cannot keep the promise.
  Client(const Declaration& declaration, const Randomizer& randomizer, ClientSettings settings);

  // Appends one record to `out`; throws BudgetExceeded, and then nothing was appended.
  void report(const Value& value, std::optional<std::uint64_t> epoch, Rng& rng, std::string& out);
  // The same without the record around it.
  void answer(const Value& value, Rng& rng, std::span<std::uint8_t> report);

 private:
  const Declaration& declaration_;
  const Randomizer& randomizer_;
  ClientSettings settings_;
  std::uint32_t tag_;
  std::unique_ptr<Memory> memory_;
};

}  // namespace sotto::local
