#include "sotto/local/server/central.hpp"

#include <algorithm>

#include "sotto/accounting/account.hpp"
#include "sotto/accounting/composition/shuffle_response.hpp"
#include "sotto/core/numeric/outward.hpp"
#include "sotto/local/client/numbers.hpp"
#include "sotto/local/client/protocols.hpp"
#include "sotto/local/client/rounded_bit.hpp"
#include "sotto/local/server/aggregator.hpp"

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

namespace {

// What some two answers of the one client cost, all others having a third or the second of them.
double attained(const Declaration& d, std::uint64_t reports, Delta delta) {
  const auto randomizer = make_randomizer(d);
  for (const char* unary : {"sue", "oue", "the", "l_sue", "l_osue"}) {
    if (d.protocol != unary) continue;
    const auto support = make_frequency_aggregator(d)->support();
    const double one = shuffled_binary_lower(support->p, support->q, reports, delta);
    if (d.domain < 3) return one;
    return std::max(one, shuffled_unary_lower(support->p, support->q, reports, delta));
  }
  for (const char* supporting : {"subset", "blh", "olh", "hadamard"}) {
    if (d.protocol != supporting) continue;
    const auto support = make_frequency_aggregator(d)->support();
    return support ? shuffled_binary_lower(support->p, support->q, reports, delta) : 0;
  }
  if (const auto* bit = dynamic_cast<const OneBit*>(randomizer.get()))
    return shuffled_binary_lower(1 - bit->q(), bit->q(), reports, delta);
  if (const auto* bit = dynamic_cast<const RoundedBit*>(randomizer.get()))
    return shuffled_binary_lower(1 - bit->q(), bit->q(), reports, delta);
  return 0;
}

}  // namespace

Bound central_guarantee(const Declaration& declaration, std::uint64_t reports, Delta delta) {
  Bound bound = epsilon(Spec{Relation::replace_one, {shuffled_event(declaration, reports)}}, delta);
  // The lower bound of `pure` is that of the worst protocol of its epsilon: this one's own instead.
  if (declaration.protocol != "grr")
    bound.lower = consistent_lower(
        attained(declaration, std::max<std::uint64_t>(1, reports), delta), bound.upper, "epsilon");
  return bound;
}

}  // namespace sotto::local
