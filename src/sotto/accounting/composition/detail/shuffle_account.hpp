// Detail: what is known of one shuffled event, whatever its local randomizer is.
//
// What       ε and δ of `shuffled` from above; from below where the event names its randomizer
//            (randomized_response) or stands for every one of its class (pure).
// Guarantee  replace_one and zero_out. Under zero_out nothing is said from below, and the null
//            answer of a randomized response may be a law of its own: then only its ε₀ is used.
// Method     shuffle.hpp for any ε₀-DP randomizer, shuffle_response.hpp for a response.
// Numerics   Inherited.
// Reference  docs/math/amplification.md.
#pragma once

#include <optional>
#include <vector>

#include "sotto/accounting/composition/shuffle.hpp"
#include "sotto/accounting/composition/shuffle_response.hpp"
#include "sotto/core/event.hpp"
#include "sotto/core/relation.hpp"
#include "sotto/core/spec.hpp"

namespace sotto {

class ShuffledGuarantee {
 public:
  // Throws Unsupported for add_remove and for a randomizer that is not pure.
  ShuffledGuarantee(const ShuffledEvent& event, Relation relation, bool fine);

  double epsilon_upper(double delta) const;  // δ in [0, 1)
  double epsilon_lower(Delta delta) const;
  double delta_upper(double epsilon) const;
  double delta_lower(double epsilon) const;

 private:
  double local_ = 0;
  std::optional<ShuffledReports> any_;
  std::optional<ShuffledResponse> response_;  // from above
  std::vector<ShuffledResponse> attained_;    // from below
};

// The one event of a specification, if it is a shuffled one that runs once.
std::optional<ShuffledEvent> lone_shuffled(const Spec& spec);

}  // namespace sotto
