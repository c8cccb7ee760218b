// Shuffled randomized response: n reports of k categories, seen only as how often each was said.
//
// What       The central (ε, δ) when one user changes the answer, enclosed: no analysis gives less
//            than lower, and upper holds.
// Guarantee  replace_one. upper holds whatever the others answer; lower is attained by the answers
//            named below. It may be compared with the claim of a concrete protocol, too:
//            shuffled_binary_lower, for anything that tells two answers apart with probabilities
//            p and q.
// Method     A report is, with probability kq = k/(e^ε₀ + k − 1), a uniform one, else the truth.
//            Who learns which of the others told the truth still has to find the one user among
//            the uniform reports: δ(ε) = E[(ΣZ_i)₊]/n over n independent draws Z, which are
//            e^ε₀ − e^ε and 1 − e^(ε₀+ε) with probability q each, 1 − e^ε with (k−2)q, else 0.
//            Below: all others give a third answer (then 0 and one of 1 − e^ε become their mean),
//            or the same one. The two meet as n grows. With two categories the view is one count;
//            the worst number of others who answer "one" is searched for (shuffle_binary.hpp).
// Numerics   Positive sums; blocks of values bounded on the side asked for; `part` sets how fine.
// Reference  [BBGN19]; docs/math/amplification.md.
#pragma once

#include <cstdint>
#include <vector>

#include "sotto/core/values.hpp"

namespace sotto {

class ShuffledResponse {
 public:
  // fine: for an answer on its own; otherwise for the many questions of a composition.
  ShuffledResponse(double local_epsilon, std::uint64_t categories, std::uint64_t population,
                   bool fine);

  double delta_upper(double epsilon) const;
  double delta_lower(double epsilon) const;
  double epsilon_upper(Delta delta) const;
  double epsilon_lower(Delta delta) const;

  // Below, differences of probabilities would carry rounding errors that matter.
  static constexpr double kLeastEpsilon = 1e-3;
  // Beyond them nothing is computed that shuffled reports of any ε₀-DP kind do not have.
  static bool worthwhile(double local_epsilon, std::uint64_t categories, std::uint64_t population);

 private:
  struct Block {
    std::uint64_t begin;  // uniform reports of others
    double weight;
  };
  double local_, part_;
  std::uint64_t categories_, population_;
  std::vector<Block> blocks_;
};

// A lower bound for n reports that say "yes" with probability p for one answer and q for another,
// which all others have as well; 0 < p, q < 1.
double shuffled_binary_lower(double p, double q, std::uint64_t population, Delta delta);
// The same for two such questions at once, one for each answer of the one user, both of which the
// others deny; answers to the two are independent.
double shuffled_unary_lower(double p, double q, std::uint64_t population, Delta delta);

}  // namespace sotto
