// Linear regression from noisy sufficient statistics, with the ridge chosen privately (AdaSSP).
//
// What       Releases λ_min(XᵀX), XᵀX and Xᵀy, each with Gaussian noise, and solves (XᵀX + λI)θ =
//            Xᵀy with λ just large enough to outweigh the noise.
// Guarantee  Composition of three discrete Gaussian mechanisms under the relation asked for; the
//            event lists them.
// Method     Rows in the unit ball, targets in [−1, 1]. Sensitivities (ℓ2), add_remove and zero_out
//            | replace_one:
//              upper triangle of XᵀX, entries off the diagonal times 181/128 < √2
//                                     ‖x xᵀ‖_F ≤ 1                    | ‖x xᵀ − x′x′ᵀ‖_F ≤ √2
//              Xᵀy                    ‖x y‖ ≤ 1                       | 2
//              λ_min(XᵀX)             ‖x xᵀ‖₂ ≤ 1                     | 1, as neither x xᵀ nor
//                                     −x′x′ᵀ moves it further
//            A unit of privacy with k records moves each of them k times as far.
//            λ = max(0, σ√d − λ̃_min), σ the noise of an entry off the diagonal, λ̃_min = max(0,
//            noisy λ_min − 2 of its standard deviations); what noise leaves below 0 of the spectrum
//            of XᵀX is trimmed first. All post-processing. [Wang18] has σ√(d·ln(2d²/β)) for σ√d,
//            which guards against the worst case and costs accuracy in all others.
// Numerics   Moments are exact integers. λ_min is computed in floating point; its error, at most
//            d·2^−16 for up to 2^32 rows, is added to its sensitivity.
// Reference  [Wang18]; docs/math/linear-models.md, section "Sufficient statistics".
#pragma once

#include <cstdint>

#include "sotto/core/relation.hpp"
#include "sotto/core/release.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/mechanisms/lattice_noise.hpp"
#include "sotto/models/linear/exact_rows.hpp"
#include "sotto/models/linear/linear_model.hpp"
#include "sotto/models/linear/record_sums.hpp"

namespace sotto {

class SufficientStatisticsPlan {
 public:
  static constexpr std::size_t kMaximalDimension = 3000;

  // rho: the zCDP budget, of which λ_min takes a tenth, XᵀX half, Xᵀy the rest.
  SufficientStatisticsPlan(Relation relation, std::size_t dimension, double rho,
                           std::uint64_t contributions = 1, unsigned threads = 0);

  Event event() const;
  Relation relation() const { return relation_; }
  std::string describe() const;
  Release<LinearModel> run(const ExactRows& rows, Rng& rng) const {
    return release(rows, sums(rows, threads_), rng);
  }
  // The same in two steps, for records that are not kept: the sums of some of them, and the release
  // from the sums of all. encoding: any rows, or none, encoded like those summed.
  RecordSums sums(const ExactRows& part, unsigned threads) const;
  Release<LinearModel> release(const ExactRows& encoding, const RecordSums& sums, Rng& rng) const;

 private:
  Relation relation_;
  std::size_t dimension_;
  unsigned threads_;
  LatticeNoise smallest_, second_, cross_;
};

}  // namespace sotto
