#include "sotto/local/server/central.hpp"

#include <algorithm>

#include "sotto/accounting/account.hpp"
#include "sotto/local/client/protocols.hpp"

namespace sotto::local {

Event local_event(const Declaration& declaration) {
  const double epsilon = make_randomizer(declaration)->epsilon();
  if (declaration.protocol == "grr") return RandomizedResponseEvent{epsilon, declaration.domain};
  return PureEvent{epsilon};
}

Bound central_guarantee(const Declaration& declaration, std::uint64_t reports, Delta delta) {
  const ShuffledEvent shuffled{std::max<std::uint64_t>(1, reports),
                               share(local_event(declaration))};
  return epsilon(Spec{Relation::replace_one, {shuffled}}, delta);
}

}  // namespace sotto::local
