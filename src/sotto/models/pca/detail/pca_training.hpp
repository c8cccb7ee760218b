// Plans of the family `pca`: how components are released.
//
// What       A mean, a radius, and the scatter matrix of records about the mean, of which the
//            leading eigenvectors are the components.
// Guarantee  Composition of what is listed, each under the relation asked for; the event lists it.
//              location  Σ(15/16·x/N, c), ℓ2 ≤ 1 (ball_sums.hpp), N the encoder's norm bound; not
//                        with declared centring;
//              radius    a histogram of distances from the mean, one count a record;
//              scatter   Σ y yᵀ, y = (x − mean)/R clipped to norm 1: upper triangle, entries off
//                        the diagonal times 181/128 < √2, ‖y yᵀ‖_F ≤ 1; replaced: ‖y yᵀ − z zᵀ‖_F
//                        ≤ √2, because ⟨y yᵀ, z zᵀ⟩ = (yᵀz)² ≥ 0.
//            gauss      location 10 %, radius 2 %, scatter the rest of ρ.
//            laplace    pure: location 20 %, radius 5 %, second moments the rest, about the mean in
//                       dense coordinates and about 0 in those of categories: with at most F
//                       coordinates other than 0, Σ_{i≤j}|yᵢyⱼ| = (‖y‖₁² + ‖y‖₂²)/2 ≤ (F+1)/2;
//                       replaced: twice. Entries that no record can have are set to 0; what is left
//                       of n·mean·meanᵀ is taken off afterwards.
//            bingham    pure: location 15 %, radius 5 %, the rest in equal parts for one direction
//                       after the other (bingham.hpp), each orthogonal to those before.
//            sulq       a baseline: noise on all entries of the second moments about the origin,
//                       unclipped, ‖y yᵀ‖_F ≤ 1.
//            A unit with k records moves all of them k times as far.
// Method     auto: gauss for (ε, δ) and ρ. For a pure ε what the noise of laplace costs is of
//            second order, but its scale grows with F; bingham loses (dimension)/(2ε) whatever n
//            is: laplace when n > 20(F + 1)²/(ε·k). The radius is the median distance: half of the
//            records are shortened, which changes directions little and noise much.
// Numerics   Sums are exact integers; noise is exact; eigenvectors are post-processing (of bingham:
//            see there).
// Reference  [DTTZ14], [CSS13], [BDMN05]; docs/math/pca.md.
#pragma once

#include <memory>

#include "sotto/learning/family.hpp"

namespace sotto {

// Throws InvalidArgument, Unsupported or DataError.
std::unique_ptr<TrainingPlan> pca_training(const Facts& facts, const TrainingRequest& request);

}  // namespace sotto
