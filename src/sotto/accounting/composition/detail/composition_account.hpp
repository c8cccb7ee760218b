// The accountants that know mechanisms only by (ε, δ): basic, advanced, optimal; and the Gaussian
// one.
//
// What       ε of a specification at δ. Mechanisms without a natural pair get an equal share of δ,
//            the share optimised.
// Guarantee  Upper bounds; lower is given where every event is the worst case of its class (pure,
//            approximate, binary response), and by basic for shuffled reports.
// Method     Natural pairs as they are, event_epsilon.hpp for the rest, a line search over how much
//            of δ the mechanisms use.
// Numerics   Inherited from the closed forms, all rounded up.
// Reference  basic.hpp, advanced.hpp, optimal.hpp, gaussian_dp.hpp.
#pragma once

#include <memory>
#include <optional>

#include "sotto/accounting/bound.hpp"
#include "sotto/core/spec.hpp"
#include "sotto/core/values.hpp"

namespace sotto {

// For many questions about one specification: what is known of a mechanism at a δ is computed once
// and serves all three. For one thread.
class CompositionAccount {
 public:
  explicit CompositionAccount(const Spec& spec);
  Bound basic_epsilon(Delta delta) const;
  Bound advanced_epsilon(Delta delta) const;
  Bound optimal_epsilon(Delta delta) const;
  // δ at ε when every event has a natural (ε, δ) pair; nothing otherwise.
  std::optional<Bound> optimal_delta(double epsilon) const;

 private:
  class Parts;
  const Parts& parts() const;  // made when first asked for: an event may be refused

  Spec spec_;
  mutable std::shared_ptr<const Parts> parts_;
};

// δ at ε of one shuffled event (by the basic accountant); nothing otherwise.
std::optional<Bound> shuffled_delta(const Spec& spec, double epsilon);

// Gaussian and gdp events exactly; pure ones by the smallest Gaussian curve below theirs. Throws
// Unsupported for the others.
Bound gdp_epsilon(const Spec& spec, Delta delta);
Bound gdp_delta(const Spec& spec, double epsilon);

// Whether the closed forms are the last word: all events Gaussian (gdp), or all the same worst case
// (optimal).
bool gdp_is_exact(const Spec& spec);
bool optimal_is_exact(const Spec& spec);

}  // namespace sotto
