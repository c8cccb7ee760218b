// The privacy loss distribution accountant: the tightest ε(δ) and δ(ε) of a specification, with
// certified bounds on both sides.
//
// What       pld_epsilon and pld_delta for a specification; PldAccount for many questions about the
//            same one.
// Guarantee  Bound::upper is an upper bound for every pair of neighbours under the relation of the
//            specification, for mechanisms whose parameters were fixed beforehand (their inputs may
//            depend on earlier outputs). Bound::lower is attained by a mechanism the specification
//            describes.
// Method     Dominating pairs (catalogue.hpp), connect-the-dots and merging on a grid chosen from
//            the tolerance (grid.hpp), tilted
//            Fourier composition (compose.hpp). One single use, and Gaussians only, are answered in
//            closed form.
// Numerics   Every error (tails, window, wrap-around, quadrature, round-off) is bounded and
//            charged; δ down to 1e-60 is as good as 1e-5.
// Reference  [DGKKM22], [ZDW22], [KJH20]; docs/math/pld.md.
#pragma once

#include <vector>

#include "sotto/accounting/bound.hpp"
#include "sotto/accounting/pld/catalogue.hpp"
#include "sotto/accounting/pld/profile.hpp"
#include "sotto/core/spec.hpp"
#include "sotto/core/values.hpp"

namespace sotto {

// tolerance: wanted (upper − lower) / upper. A coarse one (1e-2) costs about a millisecond and is
// good for searching.
// Both throw Unsupported, naming the event, and AccountingError when nothing can be bounded.
Bound pld_epsilon(const Spec& spec, Delta delta, double tolerance, Wanted wanted = Wanted::both);
Bound pld_delta(const Spec& spec, double epsilon, double tolerance);

// The same for many questions about one specification: its laws are made once. One thread at a
// time: an account notes what its last answer took.
class PldAccount {
 public:
  explicit PldAccount(const Spec& spec);
  Bound epsilon(Delta delta, double tolerance, Wanted wanted = Wanted::both) const;
  Bound delta(double epsilon, double tolerance) const;

 private:
  std::vector<std::vector<PrivacyProfile>> views_;  // each gives a bound of its own
};

// The profiles whose worst case is the specification's: one, or several when a record may be in one
// of several parts (parallel).
std::vector<PrivacyProfile> profiles_of(const Spec& spec, SampleView view = SampleView::amplified);

}  // namespace sotto
