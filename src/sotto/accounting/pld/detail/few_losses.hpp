// Detail: compositions whose total takes few losses, but for one Gaussian: a sum instead of a grid.
//
// What       FewLosses lists the total loss of runs of two- and three-valued laws (pure and (ε, δ)
//            guarantees, randomized response, both also sampled), with at most one Gaussian beside
//            them, and adds up its hockey stick.
// Guarantee  upper() is at least that of the composition, lower() at most.
// Method     T uses of a law with m losses have C(T + m − 1, m − 1) totals with multinomial masses.
//            With the Gaussian beside them H(ε) = Σ p_a H_G(ε − l_a). No grid: losses of 2000 and
//            of .01 need none that holds both.
// Numerics   Masses in logarithms, P and Q each by the larger of the two and the loss, so that none
//            underflows; errors are slack and shift as in law.hpp.
// Reference  docs/math/pld.md §7.
#pragma once

#include <optional>
#include <vector>

#include "sotto/accounting/pld/profile.hpp"

namespace sotto {

class FewLosses {
 public:
  // Nothing where a law is of another kind, or where losses would be many or very large.
  static std::optional<FewLosses> of(const std::vector<LawRun>& runs);

  // δ(ε) of the swapped pair where `reverse`.
  double upper(double epsilon, bool reverse) const;
  double lower(double epsilon, bool reverse) const;

 private:
  struct Total {
    double loss, log_p, log_q;
  };
  struct Lost {
    double p = 0, q = 0;
  };
  bool add(const LawRun& run);
  double stick(double epsilon, bool reverse) const;

  std::vector<Total> totals_ = {{0, 0, 0}};
  std::optional<GaussianPiece> gaussian_;
  Lost kept_log_, finite_log_;  // ln of the masses without those at ∞, and without charged ones too
  double shift_ = 0, slack_ = 1e-9;  // of logarithms of masses
};

}  // namespace sotto
