#include "sotto/deep/noisy_descent.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sotto/core/error.hpp"
#include "sotto/deep/detail/float_loops.hpp"
#include "sotto/deep/detail/noise_pieces.hpp"

namespace sotto::deep {
NoisyDescent::NoisyDescent(const std::vector<NamedParameter>& parameters, torch::Tensor velocity)
    : velocity_(std::move(velocity)) {
  for (const auto& p : parameters) {
    if (p.tensor.numel() == 0) continue;
    if (!p.tensor.is_contiguous())
      throw Unsupported(fmt::format("parameter {} does not lie in one piece", p.name),
                        "make it contiguous before training");
    targets_.push_back({total_, p.tensor});
    total_ += p.tensor.numel();
  }
}

void NoisyDescent::step(Rng& rng, const torch::Tensor& sum, const DescentStep& step) {
  if (sum.numel() != total_ || sum.scalar_type() != torch::kFloat || !sum.is_contiguous())
    invariant_broken(fmt::format("a descent of {} floats is given a sum of {} {}", total_,
                                 sum.numel(), c10::toString(sum.scalar_type())));
  if (step.momentum != 0 && (!velocity_.defined() || velocity_.numel() != total_))
    invariant_broken("a descent with momentum has no place for the velocity");
  const float* gradient = sum.data_ptr<float>();
  float* const velocity = step.momentum != 0 ? velocity_.data_ptr<float>() : nullptr;
  for_noise_pieces(rng, total_, step.sigma, [&](std::int64_t first, std::span<const float> noise) {
    const std::int64_t last = first + static_cast<std::int64_t>(noise.size());
    auto target = std::upper_bound(targets_.begin(), targets_.end(), first,
                                   [](std::int64_t at, const Target& t) { return at < t.first; }) -
                  1;
    GaussianChunks::Soon soon = {gradient, gradient};
    for (std::int64_t at = first; at < last; ++target) {
      const std::int64_t end =
          std::min(last, target + 1 == targets_.end() ? total_ : (target + 1)->first);
      float* const x = target->parameter.data_ptr<float>() + (at - target->first);
      const float* const own = noise.data() + (at - first);
      soon = {x + (end - at), gradient + end};
      if (velocity == nullptr)
        descend(x, gradient + at, own, step.rate * step.scale, end - at);
      else
        descend(x, velocity + at, gradient + at, own, step.scale, step.momentum, step.rate,
                end - at);
      at = end;
    }
    return soon;
  });
}

}  // namespace sotto::deep
