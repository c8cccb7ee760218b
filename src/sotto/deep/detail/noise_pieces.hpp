// Gaussian noise in pieces that stay in the cache, handed to whoever applies them.
//
// What       for_noise_pieces(rng, n, sigma, f) calls f(first, noise) for consecutive pieces of a
//            vector of n draws of N(0, sigma²), in parallel. An optimiser adds noise, divides and
//            updates in the same pass, and the noise never goes to memory. f returns what it will
//            want from memory next (GaussianChunks::visit).
// Guarantee  The noise of fill_gaussian (noise/bulk_gaussian.hpp): cryptographic randomness,
//            floating point. The caller announces the query.
// Method     Chunks of fill_gaussian, with a counter range each, cut into pieces: the draws are
//            those of fill_gaussian on the whole vector, whatever the threads. Threads are
//            LibTorch's own: a second pool would fight with it for the processor.
// Numerics   As fill_gaussian.
// Reference  docs/math/bulk-gaussian.md.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "sotto/core/rng.hpp"
#include "sotto/noise/bulk_gaussian.hpp"

namespace sotto::deep {

using NoiseUse =
    std::function<GaussianChunks::Soon(std::int64_t first, std::span<const float> noise)>;
void for_noise_pieces(Rng& rng, std::int64_t n, float sigma, const NoiseUse& f);

}  // namespace sotto::deep
