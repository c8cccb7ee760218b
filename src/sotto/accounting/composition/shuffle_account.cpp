#include "sotto/accounting/composition/detail/shuffle_account.hpp"

#include <algorithm>

#include "sotto/accounting/composition/detail/apart.hpp"
#include "sotto/accounting/composition/detail/simple_mechanism.hpp"
#include "sotto/accounting/composition/run_length.hpp"
#include "sotto/accounting/detail/refusal.hpp"

namespace sotto {

ShuffledGuarantee::ShuffledGuarantee(const ShuffledEvent& e, Relation relation, bool fine) {
  if (relation == Relation::add_remove) {
    refuse_relation(
        "shuffled", relation,
        "replace_one or zero_out (one user changes the answer, the number of users is public)");
  }
  const auto pair = pure_parameters(*e.event, relation);
  if (!pair || pair->delta > 0)
    refuse("basic, advanced and optimal", "shuffled around a local randomizer that is not pure",
           "");
  local_ = pair->epsilon;
  // Two inputs are as close as an input and the null one only where any change is one step.
  const bool any_two = steps_between(*e.event, {1, steps_of_replacing(relation)}) == 1;
  any_.emplace(local_, e.population,
               any_two ? LocalGuarantee::any_two_inputs : LocalGuarantee::input_and_null);
  if (relation != Relation::replace_one) return;
  const auto known = [&](std::uint64_t categories) {
    return ShuffledResponse::worthwhile(local_, categories, e.population);
  };
  if (const auto* r = e.event->get_if<RandomizedResponseEvent>(); r && known(r->categories)) {
    attained_.emplace_back(local_, r->categories, e.population, fine);
    response_ = attained_.front();
  } else if (const double least = ShuffledResponse::kLeastEpsilon;
             r && local_ < least &&
             ShuffledResponse::worthwhile(least, r->categories, e.population)) {
    // A response at a smaller ε₀ is one at a larger ε₀ whose report is randomized once more.
    response_.emplace(least, r->categories, e.population, fine);
  } else if (e.event->get_if<PureEvent>() && known(3)) {
    for (std::uint64_t categories : {2, 3})
      attained_.emplace_back(local_, categories, e.population, fine);
  }
}

double ShuffledGuarantee::epsilon_upper(double delta) const {
  if (delta <= 0) return local_;
  const double any = any_->epsilon_upper(Delta(delta));
  return response_ ? std::min(any, response_->epsilon_upper(Delta(delta))) : any;
}

double ShuffledGuarantee::epsilon_lower(Delta delta) const {
  double best = 0;
  for (const ShuffledResponse& r : attained_) best = std::max(best, r.epsilon_lower(delta));
  return best;
}

double ShuffledGuarantee::delta_upper(double epsilon) const {
  const double any = any_->delta(epsilon).upper;
  return response_ ? std::min(any, response_->delta_upper(epsilon)) : any;
}

double ShuffledGuarantee::delta_lower(double epsilon) const {
  double best = 0;
  for (const ShuffledResponse& r : attained_) best = std::max(best, r.delta_lower(epsilon));
  return best;
}

std::optional<ShuffledEvent> lone_shuffled(const Spec& spec) {
  const auto runs = run_lengths(spec.event());
  if (runs.size() != 1 || runs[0].count != 1) return std::nullopt;
  const auto* e = runs[0].event.get_if<ShuffledEvent>();
  return e ? std::optional(*e) : std::nullopt;
}

}  // namespace sotto
