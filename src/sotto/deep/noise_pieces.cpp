#include "sotto/deep/detail/noise_pieces.hpp"

#include <ATen/Parallel.h>

#include <algorithm>
#include <vector>

namespace sotto::deep {

void for_noise_pieces(Rng& rng, std::int64_t n, float sigma,
                      const std::function<void(std::int64_t, std::span<const float>)>& f) {
  const std::int64_t pieces = (n + kNoisePiece - 1) / kNoisePiece;
  const GaussianChunks chunks(rng, sigma);
  at::parallel_for(0, pieces, 1, [&](std::int64_t first, std::int64_t last) {
    std::vector<float> buffer(static_cast<std::size_t>(kNoisePiece));
    for (std::int64_t k = first; k < last; ++k) {
      const std::span<float> noise(
          buffer.data(), static_cast<std::size_t>(std::min(kNoisePiece, n - k * kNoisePiece)));
      chunks.fill(static_cast<std::size_t>(k), noise);
      f(k * kNoisePiece, noise);
    }
  });
}

}  // namespace sotto::deep
