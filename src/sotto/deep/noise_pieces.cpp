#include "sotto/deep/detail/noise_pieces.hpp"

#include <ATen/Parallel.h>

#include <algorithm>

namespace sotto::deep {

void for_noise_pieces(Rng& rng, std::int64_t n, float sigma, const NoiseUse& f) {
  constexpr auto kChunk = static_cast<std::int64_t>(GaussianChunks::kSize);
  const GaussianChunks chunks(rng, sigma);
  at::parallel_for(0, (n + kChunk - 1) / kChunk, 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t k = from; k < to; ++k)
      chunks.visit(static_cast<std::size_t>(k),
                   static_cast<std::size_t>(std::min(kChunk, n - k * kChunk)),
                   [&](std::size_t first, std::span<const float> noise) {
                     return f(k * kChunk + static_cast<std::int64_t>(first), noise);
                   });
  });
}

}  // namespace sotto::deep
