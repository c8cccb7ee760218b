// Composition of different randomized responses on a grid of privacy losses, from above and from
// below.
//
// What       The law of the total loss of parts (ε_j, k_j), bounded both ways; see optimal.hpp,
//            which is the way to use it.
// Method     Pessimistic: a loss between two grid points is split so that its mass under both
//            hypotheses is kept.
//            Optimistic: losses that share a cell are merged; the cell keeps its mass under both
//            hypotheses.
// Reference  [DGKKM22] connect-the-dots; docs/math/composition.md.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "sotto/accounting/composition/basic.hpp"

namespace sotto {

class GridComposition {
 public:
  double delta_upper(double epsilon) const;
  double delta_lower(double epsilon) const;

  // The laws themselves, f(loss, P-mass) for each outcome; masses err by the fraction error(), and
  // lost() of them was cut above.
  double error() const { return error_; }
  double lost() const { return lost_; }
  template <class F>
  void for_each_upper(F&& f) const {
    for (std::size_t i = 0; i < upper_.size(); ++i)
      if (upper_[i] > 0)
        f(static_cast<double>(first_upper_ + static_cast<long>(i)) * step_, upper_[i]);
  }
  template <class F>
  void for_each_lower(F&& f) const {
    for (std::size_t i = 0; i < lower_.size(); ++i) {
      const double loss = static_cast<double>(first_lower_ + static_cast<long>(i)) * step_;
      if (lower_[i] > 0 && lower_other_[i] > 1e-290)  // less may be rounded to it
        f(loss - std::log(lower_other_[i] / lower_[i]), lower_[i]);
    }
  }

 private:
  friend GridComposition compose_on_grid(std::span<const ApproximateDp>, double, double);
  double step_ = 1, lost_ = 0, error_ = 0;
  long first_upper_ = 0, first_lower_ = 0;  // grid index of element 0
  std::vector<double> upper_;               // pessimistic masses on the grid points
  std::vector<double> lower_,
      lower_other_;  // optimistic: mass under P, and under Q times e^(grid loss)
};

// Tails of probability up to 1e-7·delta_scale are cut and charged. The step is chosen for the
// wanted relative precision of ε, and enlarged when the work would exceed about a second.
GridComposition compose_on_grid(std::span<const ApproximateDp> parts, double delta_scale,
                                double precision);

}  // namespace sotto
