// Discrete Laplace and discrete Gaussian in their plainest exact form: what the fast samplers are
// tested against.
//
// What       reference_discrete_laplace(rng, b): P(z) ∝ exp(−|z|/b).
//            reference_discrete_gaussian(rng, σ): P(z) ∝ exp(−z²/(2σ²)).
// Guarantee  Exact for uniform input words, conditioned on |z| ≤ 64σ (Gaussian) or the range of
//            geometric_exp (Laplace).
// Method     Laplace: a geometric magnitude and a sign, (−, 0) redrawn [CKS20, Alg. 2].
//            Gaussian: a Laplace proposal kept with probability exp(−(|z| − σ²/t)²/(2σ²)) [CKS20,
//            Alg. 3].
//            Differs: t = σ, not ⌊σ⌋ + 1. Any t > 0 gives the law; t = σ keeps the exponent
//            (|z|·2^k − m)²/(2m²).
// Numerics   σ = m/2^k with m < 2^53 and |z|·2^k ≤ 64m < 2^59: numerators below 2^118, denominators
//            below 2^107.
// Reference  [CKS20]; docs/math/exact-noise.md.
#pragma once

#include <cstdint>

#include "sotto/core/rng.hpp"

namespace sotto {

std::int64_t reference_discrete_laplace(Rng& rng, double scale);
std::int64_t reference_discrete_gaussian(Rng& rng, double sigma);

// The range of scales that every exact sampler accepts; outside: InvalidArgument naming `what`.
inline constexpr double kMinNoiseScale = 0x1p-10;
inline constexpr double kMaxNoiseScale = 0x1p50;
void check_noise_scale(const char* what, double scale);

}  // namespace sotto
