// Randomized response: each person's answer is noised before anyone sees it.
//
// What       k-ary (k = 2: the classic coin): the true category with probability p = e^ε/(e^ε + k −
//            1), each other with p·e^{−ε}.
// Guarantee  ε-DP for any change of one person's category (relation replace_one), also in the local
//            model: nobody else is trusted. Event: randomized_response(ε, k). Exact: the odds are
//            e^ε with ε the double that was given.
// Method     Propose a category uniformly; keep the truth always, any other with probability
//            exp(−ε); else propose again.
//            Estimator: (reports/n − q)/(p − q) with q = p·e^{−ε}, unbiased (post-processing).
// Numerics   Coins exp(−ε) are exact; min(k, e^ε) proposals in expectation. p and q in the
//            estimator are ordinary doubles.
// Reference  [War65], [KOV16]; docs/math/selection.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sotto/core/release.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/core/values.hpp"

namespace sotto {

class RandomizedResponse {
 public:
  explicit RandomizedResponse(Epsilon epsilon, std::uint64_t categories = 2);

  Event event() const { return RandomizedResponseEvent{epsilon_, categories_}; }
  Relation relation() const { return Relation::replace_one; }
  std::string describe() const;

  // category < k. One person's report.
  Release<std::uint64_t> run(std::uint64_t category, Rng& rng) const;

  double probability_of_truth() const;
  double probability_of_other() const;  // of each other category
  // Unbiased estimate of how many persons have each category, from how often each was reported.
  // Entries may be negative.
  std::vector<double> estimate(std::span<const std::uint64_t> reports) const;
  // Standard deviation of an estimated count for n persons, at most.
  double estimate_deviation(std::uint64_t persons) const;

 private:
  double epsilon_;
  std::uint64_t categories_;
};

}  // namespace sotto
