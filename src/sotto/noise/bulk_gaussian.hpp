// Bulk Gaussian noise in floating point, for deep learning.
//
// What       fill_gaussian(rng, out, sigma) overwrites `out` with independent draws that are N(0,
//            sigma²) up to the error below.
// Guarantee  NOT exact, and NOT for releases whose guarantee must hold for the program: floats
//            leave traces in their low bits
//            [Mir12]. Exact training uses DiscreteGaussian. The randomness is cryptographic: the
//            key of this fill comes from `rng`.
// Method     Box–Muller [BM58] on 64 bits a pair, vectorised (AVX2 and FMA where the processor has
//            them). Chunks of 16 384 draws have a counter range each, so the result depends on
//            `rng` alone, not on `threads`. Callers with threads of their own, or that use the
//            noise while it is in the cache, take the same chunks from GaussianChunks.
// Numerics   In units of sigma: each draw can be coupled with an exact normal one at distance ≤
//            2e-5 always and ≤ 4e-6 except with probability 2^-28. Radii from the outermost 2^-16
//            of the law are computed again with 96 random bits in double, so the tail reaches 11.5
//            (a normal draw goes beyond with probability 1e-30); docs/math/bulk-gaussian.md.
//            Bits may differ between machines with different instruction sets; on one machine a
//            seed gives the same floats.
// Reference  [BM58]; docs/math/bulk-gaussian.md.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <span>

#include "sotto/core/aes_ctr.hpp"
#include "sotto/core/rng.hpp"

namespace sotto {

// sigma ≥ 0 and finite. threads: 0 means as many as the machine has; small fills use one.
void fill_gaussian(Rng& rng, std::span<float> out, float sigma, int threads = 0);

// What fill_gaussian(rng, out, sigma) writes, chunk by chunk: draws [chunk·kSize, …) in any order
// and from any thread.
class GaussianChunks {
 public:
  static constexpr std::size_t kSize = std::size_t{1} << 14;

  GaussianChunks(Rng& rng, float sigma);
  ~GaussianChunks();
  GaussianChunks(const GaussianChunks&) = delete;
  GaussianChunks& operator=(const GaussianChunks&) = delete;

  void fill(std::size_t chunk, std::span<float> out) const;  // out: at most kSize draws
  // The same draws, the first `count` of the chunk, handed on in order, at most kPart at a time:
  // while use(first, noise) runs they are in the first-level cache, and afterwards they are gone.
  // use returns two places in memory that it will want for the kPart draws that follow; they are
  // fetched while those are made. (Behind the end of an array does no harm.)
  static constexpr std::size_t kPart = 1024;
  using Soon = std::array<const float*, 2>;
  using Use = std::function<Soon(std::size_t first, std::span<const float> noise)>;
  void visit(std::size_t chunk, std::size_t count, const Use& use) const;

 private:
  AesCtr stream_of(std::size_t chunk) const;

  AesCtr::Seed seed_;
  float sigma_;
};

// "avx512", "avx2" or "portable": which inner loop this machine uses.
const char* bulk_gaussian_kernel();

}  // namespace sotto
