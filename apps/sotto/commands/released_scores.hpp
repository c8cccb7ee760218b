// White-box scores of canaries for any way to train: how much likelier all that was released is
// with the canary than without it.
//
// What       The audited run is recorded: every noised query and what was released of it. Then the
//            same training is led through the same releases on the data without canaries and on the
//            data with one of them; what its queries would have been says how likely the releases
//            are either way. The score is the sum of the logarithms of these ratios.
// Guarantee  None: an attack. It sees what was released, the data and the canaries; neither the
//            coins nor the randomness of the audited run, so a bound from the scores holds.
// Method     Gaussian noise: (‖r − q₀‖² − ‖r − q₁‖²)/(2σ²); noise by a norm, Laplace noise among
//            it: (‖r − q₀‖ − ‖r − q₁‖)/scale; a selection: the logarithm of how likely its choice
//            is from either scores (audit/selection_law.hpp). Other mechanisms, and queries of
//            another shape, say nothing.
#pragma once

#include <functional>
#include <vector>

#include "sotto/core/record_replay.hpp"

namespace sotto::cli {

// Trains on some data with the given generator; what comes out is thrown away.
using Training = std::function<void(Rng&)>;

replay::Recording recorded(const Training& training, Rng& rng,
                           const replay::Recording* follow = nullptr);

// Of one canary: what was released, beside the queries without and with it.
double log_likelihood_ratio(const replay::Recording& released, const replay::Recording& without,
                            const replay::Recording& with);

}  // namespace sotto::cli
