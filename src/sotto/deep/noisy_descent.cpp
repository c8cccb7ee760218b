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

template <class F>
void NoisyDescent::for_targets(std::int64_t first, std::int64_t last, const F& f) const {
  auto target = std::upper_bound(targets_.begin(), targets_.end(), first,
                                 [](std::int64_t at, const Target& t) { return at < t.first; }) -
                1;
  for (std::int64_t at = first; at < last; ++target) {
    const std::int64_t end =
        std::min(last, target + 1 == targets_.end() ? total_ : (target + 1)->first);
    f(target->parameter.template data_ptr<float>() + (at - target->first), at, end - at);
    at = end;
  }
}

float* NoisyDescent::velocity(const DescentStep& step) const {
  if (step.momentum == 0) return nullptr;
  if (!velocity_.defined() || velocity_.numel() != total_)
    invariant_broken("a descent with momentum has no place for the velocity");
  return velocity_.data_ptr<float>();
}

void NoisyDescent::step(Rng& rng, const torch::Tensor& sum, const DescentStep& step) {
  if (sum.numel() != total_ || sum.scalar_type() != torch::kFloat || !sum.is_contiguous())
    invariant_broken(fmt::format("a descent of {} floats is given a sum of {} {}", total_,
                                 sum.numel(), c10::toString(sum.scalar_type())));
  const float* const gradient = sum.data_ptr<float>();
  float* const v = velocity(step);
  for_noise_pieces(rng, total_, step.sigma, [&](std::int64_t first, std::span<const float> noise) {
    GaussianChunks::Soon soon = {gradient, gradient};
    for_targets(first, first + static_cast<std::int64_t>(noise.size()),
                [&](float* x, std::int64_t at, std::int64_t n) {
                  const float *const g = gradient + at, *const own = noise.data() + (at - first);
                  if (v == nullptr)
                    descend(x, g, own, step.rate * step.scale, n);
                  else
                    descend(x, v + at, g, own, step.scale, step.momentum, step.rate, n);
                  soon = {x + n, g + n};
                });
    return soon;
  });
}

void NoisyDescent::step(std::int64_t first, std::span<const float> noisy, const DescentStep& step) {
  float* const v = velocity(step);
  for_targets(first, first + static_cast<std::int64_t>(noisy.size()),
              [&](float* x, std::int64_t at, std::int64_t n) {
                const float* const g = noisy.data() + (at - first);
                if (v == nullptr)
                  descend(x, g, step.rate * step.scale, n);
                else
                  descend(x, v + at, g, step.scale, step.momentum, step.rate, n);
              });
}

}  // namespace sotto::deep
