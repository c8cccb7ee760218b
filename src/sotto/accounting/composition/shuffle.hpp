// Amplification by shuffling: n local reports, each ε₀-DP, seen only in random order.
//
// What       The central (ε, δ) guarantee of the shuffled reports when one user changes the answer.
// Guarantee  shuffle_epsilon(...).upper is a valid ε whatever ε₀-DP randomizer the users have in
//            common. ε₀ holds for any two inputs of a user, or (zero_out) for an
//            input and the null one: then two inputs are only 2ε₀ close. lower bounds the same
//            expression from below (how exactly it was computed), not the privacy of a particular
//            randomizer (see shuffle_response.hpp).
// Method     Blanket of clones: C ~ Bin(n−1, c), c = 2/(e^ε₀ + 1) (a user's report is never less
//            likely than e^(−ε₀) of the likelier of the two) or 2/(e^(2ε₀) + e^ε₀), A ~ Bin(C, ½),
//            and the pair (A + B, C − A + 1 − B), B ~ Bern(e^ε₀/(1+e^ε₀)), against its mirror
//            image; given C the likelihood ratio is monotone in A, so δ is a difference of binomial
//            tails.
//            The closed form of [FMT21], for randomizers chosen one after the other as well, is
//            kept by name; it is several times larger.
// Numerics   Positive sums of the parts where P exceeds e^ε Q; C outside a window of probability
//            1e-40 is charged to δ. Tiny ε₀, ε next to ε₀ and more than 1e10 users are bounded by
//            neighbours that cost more, and all by one report that is seen alone.
// Reference  [FMT21], [BBGN19]; docs/math/amplification.md.
#pragma once

#include <cstdint>
#include <vector>

#include "sotto/accounting/composition/optimal.hpp"
#include "sotto/core/values.hpp"

namespace sotto {

enum class LocalGuarantee { any_two_inputs, input_and_null };

// The shuffled reports of a population: the law of the number of clones is computed once.
class ShuffledReports {
 public:
  ShuffledReports(double local_epsilon, std::uint64_t population,
                  LocalGuarantee guarantee = LocalGuarantee::any_two_inputs);

  Enclosure delta(double epsilon) const;
  double epsilon_upper(Delta delta) const;
  double epsilon_lower(Delta delta) const;

 private:
  struct Block {
    std::uint64_t begin, end;  // values of C
    double weight;
  };
  double solve(Delta delta, bool upper) const;  // from that side

  double local_;
  double model_;           // ε₀ of the law below: not less
  bool alone_ = false;     // one user
  bool as_asked_ = false;  // the law is that of ε₀ and the population, and not of less privacy
  std::vector<Block> blocks_;
};

Enclosure shuffle_delta(double local_epsilon, std::uint64_t population, double epsilon,
                        LocalGuarantee guarantee = LocalGuarantee::any_two_inputs);
Enclosure shuffle_epsilon(double local_epsilon, std::uint64_t population, Delta delta,
                          LocalGuarantee guarantee = LocalGuarantee::any_two_inputs);

// [FMT21, Thm. 3.1]; throws AccountingError unless ε₀ ≤ ln(n / (16 ln(2/δ))).
double shuffle_epsilon_closed_form(double local_epsilon, std::uint64_t population, Delta delta);

}  // namespace sotto
