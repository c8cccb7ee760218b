// The Rényi accountant (the moments accountant, continued): one curve for everything that was done.
//
// What       RenyiCurve bounds the Rényi divergence of a specification at every order α > 1, for
//            both directions of its relation, together with a failure probability δ₀ of the parts
//            that have one ((ε,δ) mechanisms).
// Guarantee  D_α ≤ curve(α) outside an event of probability δ₀; adaptive composition adds curves
//            and failure probabilities.
// Method     Counts come from run_lengths() only. Each mechanism: renyi_mechanisms.hpp,
//            renyi_sampled.hpp, renyi_selection.hpp. replace_one moves a sum of contributions by
//            twice the contribution; parallel parts cost their maximum, under replace_one the two
//            largest, because a replaced record may leave one part and enter another.
// Numerics   Every term is an upper bound; sums round up. Orders are searched over a continuum, see
//            renyi_conversion.hpp.
// Reference  [Mir17], [CKS20], [MTZ19], [ZW19], [WBK19], [PS22]; docs/math/renyi.md.
#pragma once

#include <cstdint>
#include <vector>

#include "sotto/accounting/bound.hpp"
#include "sotto/accounting/renyi/renyi_conversion.hpp"
#include "sotto/core/relation.hpp"
#include "sotto/core/spec.hpp"

namespace sotto {

class RenyiCurve {
 public:
  // Throws Unsupported for an event that has no Rényi curve (naming the accountants that have an
  // answer).
  RenyiCurve(const Event& event, Relation relation);

  double operator()(double order) const;  // +∞ where nothing is bounded
  double delta() const { return delta_; }
  double largest_order() const { return largest_order_; }
  // Whether an order costs a quadrature or a long sum: who asks for hundreds keeps a table
  // (renyi_table.hpp).
  bool costly() const { return costly_; }

 private:
  struct Term {
    RenyiBound divergence;
    double count;
  };
  std::vector<Term> terms_;
  double delta_ = 0, largest_order_ = kLargestOrder;
  bool costly_ = false;
};

Bound rdp_epsilon(const Spec& spec, Delta delta);
Bound rdp_epsilon_mironov(const Spec& spec, Delta delta);
Bound rdp_delta(const Spec& spec, double epsilon);

}  // namespace sotto
