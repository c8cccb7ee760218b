// Sparse vector: many questions "is this above its threshold?", paid only for the ones answered
// yes.
//
// What       A stream that compares queries with thresholds until c of them came out above; on
//            request with a noisy value for those.
// Guarantee  (ε₁+ε₂+ε₃)-DP for the whole stream however many queries are asked, adaptively or not,
//            for neighbours under the relation.
//            The cost is that of the plan, charged when the stream starts. After c positive answers
//            it refuses (BudgetExceeded).
// Method     Threshold noise ρ ~ Lap(Δ/ε₁), drawn once; query noise ν ~ Lap(2cΔ/ε₂), fresh for each
//            query (cΔ/ε₂ when monotonic); above when q + ν ≥ threshold + ρ. Numeric answers come
//            from fresh noise Lap(cΔ/ε₃), never from ν [LSL17, Alg. 7]. ε₁ : ε₂ = 1 : (2c)^(2/3),
//            the split that minimises the noise of the comparison [LSL17, Sec. 4.2].
// Numerics   Each query states its own sensitivity Δ_i; (q − threshold)/Δ_i is computed in whole
//            numbers (a grid of Δ_i·2^-40, then ⌊·M/D⌋), so one record moves it by at most M steps
//            in the program. Noise is exact discrete Laplace; differences saturate at 2^62 steps.
// Differs    from [DR14, Alg. 2], whose threshold noise is redrawn after each positive answer at
//            the price of a factor c in ρ's scale.
// Reference  [LSL17], [DR14]; docs/math/sparse-vector.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sotto/core/release.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/mechanisms/budget.hpp"
#include "sotto/noise/discrete_laplace.hpp"

namespace sotto {

struct SparseVectorOptions {
  Relation relation;
  Budget budget;
  std::uint64_t answers = 1;   // c: positive answers allowed
  bool monotonic = false;      // all queries move in the same direction between neighbours
  bool numeric = false;        // release a noisy value with each positive answer
  double numeric_share = 0.5;  // the part of ε for those values
};

struct SparseQuery {
  double value = 0;
  double threshold = 0;
  double sensitivity = 1;
};

struct SparseAnswer {
  bool above = false;
  std::optional<double> value = {};  // numeric streams, when above
};

class SparseVectorStream;

class SparseVectorPlan {
 public:
  explicit SparseVectorPlan(const SparseVectorOptions& options);

  Event event() const;
  Relation relation() const { return options_.relation; }
  std::string describe() const;

  SparseVectorStream start(Rng& rng) const;
  // All queries until the c-th positive answer; shorter than the input when it came before the end.
  Release<std::vector<SparseAnswer>> run(std::span<const SparseQuery> queries, Rng& rng) const;

 private:
  friend class SparseVectorStream;
  SparseVectorOptions options_;
  std::int64_t unit_ = 1;                                         // M: one sensitivity, in steps
  double comparison_epsilon_ = 0;                                 // ε₁ + ε₂, rounded up
  double numeric_epsilon_ = 0;                                    // ε₃/c
  std::optional<DiscreteLaplace> threshold_noise_, query_noise_;  // set by the constructor
};

class SparseVectorStream {
 public:
  // Throws BudgetExceeded when the positive answers are used up, InvalidArgument for a value that
  // is not finite.
  SparseAnswer ask(const SparseQuery& query, Rng& rng);
  bool exhausted() const { return left_ == 0; }

 private:
  friend class SparseVectorPlan;
  SparseVectorStream(const SparseVectorPlan& plan, Rng& rng);
  SparseVectorPlan plan_;
  std::int64_t threshold_;  // ρ, PRIVATE
  std::uint64_t left_;
};

}  // namespace sotto
