#include "sotto/deep/noisy_descent.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sotto/core/error.hpp"
#include "sotto/deep/detail/float_loops.hpp"
#include "sotto/deep/noise_pieces.hpp"

namespace sotto::deep {

NoisyDescent::NoisyDescent(const std::vector<NamedParameter>& parameters) {
  for (const auto& p : parameters) {
    if (p.tensor.numel() == 0) continue;
    if (!p.tensor.is_contiguous())
      throw Unsupported(fmt::format("parameter {} does not lie in one piece", p.name),
                        "make it contiguous before training");
    targets_.push_back({total_, p.tensor.detach()});
    total_ += p.tensor.numel();
  }
}

void NoisyDescent::step(Rng& rng, const torch::Tensor& sum, float sigma, float rate) {
  if (sum.numel() != total_ || sum.scalar_type() != torch::kFloat || !sum.is_contiguous())
    invariant_broken(fmt::format("a descent of {} floats is given a sum of {} {}", total_,
                                 sum.numel(), c10::toString(sum.scalar_type())));
  const float* gradient = sum.data_ptr<float>();
  for_noise_pieces(rng, total_, sigma, [&](std::int64_t first, std::span<const float> noise) {
    const std::int64_t last = first + static_cast<std::int64_t>(noise.size());
    auto target = std::upper_bound(targets_.begin(), targets_.end(), first,
                                   [](std::int64_t at, const Target& t) { return at < t.first; }) -
                  1;
    for (std::int64_t at = first; at < last; ++target) {
      const std::int64_t end =
          std::min(last, target + 1 == targets_.end() ? total_ : (target + 1)->first);
      descend(target->parameter.data_ptr<float>() + (at - target->first), gradient + at,
              noise.data() + (at - first), rate, end - at);
      at = end;
    }
  });
}

}  // namespace sotto::deep
