// Decisions about a budget after it was created: renewed for another period, raised, closed.
//
// What       decided() gives the definition that follows from a decision; signed_text() what its
//            owner signs.
// Guarantee  Only who has the secret half of the data set's owner key decides, and a signature is
//            good for one place in one chain.
//            Raising: everything that was released is within the new cap, as the events are counted
//            anew under it; nothing but caps changes. Renewing: what was spent before stays lost; a
//            promise about people counts the periods they are in.
// Method     A decision is an entry with the new definition, a reason, who decided, and an Ed25519
//            signature of all that together with the hash of the entry before.
// Reference  docs/ledger.md, section "Periods and decisions".
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sotto/ledger/dataset.hpp"
#include "sotto/ledger/entry.hpp"

namespace sotto::ledger {

struct Decision {
  std::string what;                        // renew, raise, close
  double epsilon = 0, delta = 0, rho = 0;  // the new cap; 0: as it was
  std::int64_t until = 0;                  // renew: where the next period ends; 0: by its period
  std::string reason = {}, by = {};
};

// Throws InvalidArgument for what cannot be decided: a lower cap by raise, a closed data set, a
// renewal of what never ends.
Dataset decided(const Dataset& before, const Decision& decision);

// Nothing but what the decision is about may differ. For a definition that somebody else wrote.
bool may_follow(const Dataset& before, const std::string& what, const Dataset& after);

std::string signed_text(const nlohmann::json& body);  // of the entry, without its signature

}  // namespace sotto::ledger
