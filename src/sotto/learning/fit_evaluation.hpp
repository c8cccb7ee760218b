// How well a model without a target fits records: inertia of a clustering, variance that a
// transformation keeps.
//
// What       fit_figures(): from the records as they are, NOT PRIVATE. FitEvaluationPlan: the same
//            figures from sums with noise, as a release.
// Guarantee  Costs at most the budget for neighbours under the relation; a unit has at most
//            `contributions` records. The model is public. A null record counts nowhere.
// Method     A record adds (1, m) with m the model's numbers about it, ‖m‖ within
//            measure_bound(): ℓ1 ≤ 1 + b₁, ℓ2 ≤ √(1 + b₂²); replace_one twice that, k contributions
//            k times. The figures are post-processing of the noisy sums.
// Numerics   Numbers are truncated towards 0 to steps of 2^−30; sums are exact integers. The same
//            integers without noise make fit_figures(), so both are one figure.
// Reference  docs/math/unsupervised-evaluation.md.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sotto/core/release.hpp"
#include "sotto/learning/source.hpp"
#include "sotto/learning/unsupervised_model.hpp"

namespace sotto {

// NOT PRIVATE.
nlohmann::ordered_json fit_figures(const UnsupervisedModel& model, Source& source);

class FitEvaluationPlan {
 public:
  FitEvaluationPlan(const UnsupervisedModel& model, Relation relation, std::uint64_t contributions,
                    const Budget& budget);

  Event event() const { return noise_.event(); }
  Relation relation() const { return noise_.relation(); }
  std::string describe() const { return noise_.describe(); }
  Release<nlohmann::ordered_json> run(Source& source, Rng& rng) const;

 private:
  const UnsupervisedModel& model_;
  LatticeNoise noise_;
};

}  // namespace sotto
