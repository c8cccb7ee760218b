// Selection: the name of a good candidate, not its score.
//
// What       SelectionPlan picks one of k candidates by score; TopKPlan picks several, one after
//            the other.
// Guarantee  Every score moves by at most `sensitivity` between neighbours. Then
//              exponential       ε-DP and of ε-bounded range (event: exponential);
//              permute_and_flip  ε-DP (event: pure). Not of ε-bounded range: with two equal scores
//                                its log-odds move twice as fast as those of the exponential
//                                mechanism, so the event must not be `exponential`;
//              noisy_max_*       ε-DP (event: pure). Geometric noise has, up to ties, the law of
//                                permute_and_flip; for Laplace noise bounded range is not proven
//                                and not claimed.
//            monotonic: when between neighbours all scores move in the same direction (counts under
//            add_remove), the factor 2 in the exponent drops. Refused under replace_one, where one
//            candidate may gain what another loses.
// Method     Scores are put on a grid; T = ⌈2Δ/ε⌉ whole steps (⌈Δ/ε⌉ when monotonic) divide the gap
//            to the best score.
//              exponential: propose uniformly, keep with probability exp(−gap/T).
//              permute_and_flip: the same, without proposing a candidate twice [MS20, Alg. 1].
//              noisy_max: add geometric (P(Z ≥ z) = exp(−z/T)) or discrete Laplace noise; the
//              largest wins, the first of equals.
//            Peeling k times with the exponential mechanism has the law of one-shot Gumbel noise
//            [DR19].
// Numerics   Only coins exp(−a/b) with whole a, b: no exp, no overflow, no underflow however far
//            scores are apart. The grid is 2^-40 of T; scores beyond 2^100 steps saturate. ε in the
//            event is 2Δ/T rounded up, at most what was asked for.
// Reference  [MT07], [MS20], [DR14, Sec. 3.3], [DR19], [CR21]; docs/math/selection.md.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/release.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/mechanisms/budget.hpp"
#include "sotto/noise/discrete_laplace.hpp"

namespace sotto {

enum class Selector { exponential, permute_and_flip, noisy_max_geometric, noisy_max_laplace };
std::string_view name(Selector selector);

struct SelectionOptions {
  Relation relation;
  double sensitivity = 1;  // of every score
  Budget budget;
  Selector selector = Selector::exponential;
  bool monotonic = false;
};

class SelectionPlan {
 public:
  explicit SelectionPlan(const SelectionOptions& options);

  Event event() const;
  Relation relation() const { return relation_; }
  std::string describe() const;
  double epsilon() const { return epsilon_; }  // at most the budget's

  // The index of the chosen candidate. Throws InvalidArgument when there is none or a score is NaN;
  // −∞ means "as bad as can be".
  Release<std::size_t> run(std::span<const double> scores, Rng& rng) const;

 private:
  friend class TopKPlan;
  std::vector<int128> on_grid(std::span<const double> scores) const;
  std::size_t choose(std::span<const int128> scores, Rng& rng) const;

  Relation relation_;
  Selector selector_;
  bool monotonic_;
  double granularity_;
  double sensitivity_;   // steps
  std::uint64_t scale_;  // T, steps
  double epsilon_;
  std::optional<DiscreteLaplace> laplace_;  // noisy_max_laplace only
};

// The k best by peeling: each round spends 1/k of the budget on the candidates that are left.
class TopKPlan {
 public:
  TopKPlan(std::size_t k, const SelectionOptions& options);

  Event event() const { return repeat(round_.event(), k_); }
  Relation relation() const { return round_.relation(); }
  std::string describe() const;

  // k indices, in the order in which they were chosen. Throws InvalidArgument with fewer than k
  // candidates.
  Release<std::vector<std::size_t>> run(std::span<const double> scores, Rng& rng) const;

 private:
  std::size_t k_;
  SelectionPlan round_;
};

}  // namespace sotto
