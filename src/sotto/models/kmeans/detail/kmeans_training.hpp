// Plans of the family `kmeans`: how centres are released.
//
// What       A noisy mean and radius, then noisy Lloyd rounds on records about the mean, clipped to
//            the radius and divided by it.
// Guarantee  Composition of what is listed, each under the relation asked for; the event lists it.
//              location  Σ(15/16·x/N, c), ℓ2 ≤ 1 (ball_sums.hpp), N the encoder's norm bound;
//              radius    a histogram of distances from the mean, one count a record;
//              round     for each centre Σ(15/16·y, c) over the records nearest to it: a record is
//                        in one of them, so all together move by ℓ2 ≤ 1 (replaced: 2), ℓ1 ≤
//                        15/16·√d + c;
//              aggregate the sum over m parts of how far each would move k released centres, in
//                        units of the most that it may (an eighth of the way to the next): k
//                        vectors in the unit ball. A record is in one part, chosen by a keyed hash
//                        of its content with a key of this run, so one part's vectors change (two
//                        parts' when it is replaced), by at most 2√k in ℓ2 and 2k√d in ℓ1, whatever
//                        was computed on the part.
//            A unit with u records moves all of them u times as far.
//            Centres of small noisy counts move beside the largest cluster: a rule on noisy
//            figures.
// Method     coreset: half of the rounds with 3k packed centres; their noisy centres, weighted by
//            noisy counts, are clustered by k-means++ with restarts, which costs nothing and finds
//            better optima than one start; then rounds with k. The last rounds average the noisy
//            sums of up to four.
//            lloyd: all rounds with k packed centres. aggregate: as coreset with fewer rounds; then
//            ten rounds without noise in each part, from the released centres, which keeps the
//            centres of all parts in one order, and their noisy mean.
//            The packing lies at half the radius and knows nothing of the data.
// Numerics   Sums are exact integers, noise is exact; the rest is post-processing.
// Reference  [SCLBJ16], [NRS07]; docs/math/kmeans.md.
#pragma once

#include <memory>

#include "sotto/learning/family.hpp"

namespace sotto {

// Throws InvalidArgument, Unsupported or DataError.
std::unique_ptr<TrainingPlan> kmeans_training(const Facts& facts, const TrainingRequest& request);

}  // namespace sotto
