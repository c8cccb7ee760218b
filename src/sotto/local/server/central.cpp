#include "sotto/local/server/central.hpp"

#include <algorithm>

#include "sotto/accounting/account.hpp"
#include "sotto/core/numeric/outward.hpp"
#include "sotto/local/client/protocols.hpp"

namespace sotto::local {

Event local_event(const Declaration& declaration) {
  const double epsilon = make_randomizer(declaration)->epsilon();
  if (declaration.protocol == "grr") return RandomizedResponseEvent{epsilon, declaration.domain};
  return PureEvent{epsilon};
}

Event lifetime_event(const Declaration& declaration) {
  const std::uint64_t epochs = declaration.whole("epochs");
  if (epochs == 1) return local_event(declaration);
  const auto randomizer = make_randomizer(declaration);
  if (randomizer->epsilon_permanent() < kInfinity)
    return PureEvent{epsilon_lifetime(*randomizer, declaration)};
  return repeat(local_event(declaration), epochs);
}

Event shuffled_event(const Declaration& declaration, std::uint64_t reports) {
  return ShuffledEvent{std::max<std::uint64_t>(1, reports), share(local_event(declaration))};
}

Bound central_guarantee(const Declaration& declaration, std::uint64_t reports, Delta delta) {
  return epsilon(Spec{Relation::replace_one, {shuffled_event(declaration, reports)}}, delta);
}

}  // namespace sotto::local
