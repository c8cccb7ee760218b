#include "sotto/deep/training/gradient_noise.hpp"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <span>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/noise/bulk_gaussian.hpp"

namespace sotto::deep {
namespace {

constexpr double kStepsPerClip = 0x1p26;
constexpr double kFarthest =
    0x1p50;  // larger sums saturate, which brings no two sums further apart
constexpr std::int64_t kChunk = 1 << 14;  // coordinates with a generator of their own
constexpr std::size_t kPart = 1024;       // that are in the first-level cache together

// Adding 1½·2⁵² rounds a number below 2⁵¹ to an integer, which is then in the low bits: no
// instruction beyond a sum is needed.
constexpr double kMagic = 0x1.8p52;
constexpr auto kMagicBits = std::bit_cast<std::int64_t>(kMagic);

template <class T>
void to_steps(const T* sum, double scale, std::span<std::int64_t> steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double x = static_cast<double>(sum[i]) * scale;
    const double near = x > kFarthest ? kFarthest : x < -kFarthest ? -kFarthest : x;
    steps[i] = std::bit_cast<std::int64_t>(near + kMagic) - kMagicBits;
  }
}

// near: no step is 2⁵¹ or more.
void to_floats(std::span<const std::int64_t> steps, bool near, double unit, float* out) {
  if (!near) {
    for (std::size_t i = 0; i < steps.size(); ++i)
      out[i] = static_cast<float>(static_cast<double>(steps[i]) * unit);
    return;
  }
  for (std::size_t i = 0; i < steps.size(); ++i)
    out[i] = static_cast<float>((std::bit_cast<double>(steps[i] + kMagicBits) - kMagic) * unit);
}

void on_grid(const torch::Tensor& sum, std::int64_t first, double scale,
             std::span<std::int64_t> steps) {
  if (sum.scalar_type() == torch::kDouble)
    to_steps(sum.data_ptr<double>() + first, scale, steps);
  else
    to_steps(sum.data_ptr<float>() + first, scale, steps);
}

void add_part(const DiscreteGaussian& sampler, Rng& stream, std::span<std::int64_t> steps) {
  std::array<std::int64_t, kPart> noise;
  const auto own = std::span(noise).first(steps.size());
  sampler.fill(stream, own);
  for (std::size_t i = 0; i < own.size(); ++i) steps[i] += own[i];
}

// A generator for each chunk: the result does not depend on threads.
std::vector<Rng> streams_for(std::int64_t size, Rng& rng) {
  std::vector<Rng> streams;
  for (std::int64_t first = 0; first < size; first += kChunk) streams.push_back(rng.split());
  return streams;
}

template <class Visit>
void for_chunks(std::int64_t size, const Visit& visit) {
  at::parallel_for(0, (size + kChunk - 1) / kChunk, 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t c = from; c < to; ++c)
      visit(static_cast<std::size_t>(c), c * kChunk,
            static_cast<std::size_t>(std::min(kChunk, size - c * kChunk)));
  });
}

std::span<double> span_of(const torch::Tensor& doubles) {
  return {doubles.data_ptr<double>(), static_cast<std::size_t>(doubles.numel())};
}

}  // namespace

std::string_view name(NoiseKind kind) { return kind == NoiseKind::exact ? "exact" : "bulk"; }

NoiseKind parse_noise_kind(std::string_view text) {
  if (text == "exact") return NoiseKind::exact;
  if (text == "bulk") return NoiseKind::bulk;
  throw InvalidArgument(fmt::format("'{}' is not a kind of noise", text), "choose exact or bulk");
}

GradientNoise::GradientNoise(NoiseKind kind, double multiplier, Relation relation,
                             std::uint64_t dimension)
    : kind_(kind), multiplier_(multiplier), relation_(relation), dimension_(dimension) {
  if (!(multiplier > 0 && std::isfinite(multiplier)))
    throw InvalidArgument(
        fmt::format("the noise multiplier is {}; it must be above 0", multiplier));
  if (kind != NoiseKind::exact) return;
  const double factor = contribution_factor(relation);
  sensitivity_steps_ =
      factor * kStepsPerClip + std::ceil(std::sqrt(static_cast<double>(dimension))) + 2;
  sampler_.emplace(multiplier * sensitivity_steps_ / factor);
}

Event GradientNoise::event(Relation relation) const {
  if (relation != relation_) invariant_broken("noise planned for another relation");
  if (kind_ == NoiseKind::bulk) return GaussianEvent::from_multiplier(multiplier_);
  return DiscreteGaussianEvent{.sigma = sampler_->sigma(),
                               .sensitivity = sensitivity_steps_,
                               .granularity = 1,
                               .dimension = dimension_};
}

torch::Tensor GradientNoise::add(const torch::Tensor& sum, double clip, Rng& rng) const {
  return kind_ == NoiseKind::exact ? add_exact(sum, clip, rng) : add_bulk(sum, clip, rng);
}

float GradientNoise::sigma(double clip) const {
  const double wanted = multiplier_ * clip;
  const auto sigma = static_cast<float>(wanted);
  return static_cast<double>(sigma) < wanted ? std::nextafter(sigma, HUGE_VALF) : sigma;
}

torch::Tensor GradientNoise::add_bulk(const torch::Tensor& sum, double clip, Rng& rng) const {
  torch::Tensor noisy = sum.to(torch::kDouble).contiguous();
  if (noisy.is_same(sum)) noisy = noisy.clone();
  auto scope = rng.query({.mechanism = "gaussian",
                          .values = std::span<const double>(span_of(noisy)),
                          .sensitivity = contribution_factor(relation_) * clip,
                          .norm = Norm::l2,
                          .scale = static_cast<double>(sigma(clip))});
  auto noise = torch::empty({sum.numel()}, torch::kFloat);
  fill_gaussian(rng, {noise.data_ptr<float>(), static_cast<std::size_t>(noise.numel())},
                sigma(clip));
  noisy.add_(noise);
  scope.publish(span_of(noisy));
  return noise.copy_(noisy);
}

void GradientNoise::require_planned(const torch::Tensor& sum) const {
  if (static_cast<std::uint64_t>(sum.numel()) != dimension_)
    invariant_broken(
        fmt::format("a sum of {} coordinates, {} were planned", sum.numel(), dimension_));
}

// 2⁵⁰ of the sum, and 64 standard deviations.
bool GradientNoise::near() const { return sampler_->sigma() < 0x1p44; }

void GradientNoise::visit_exact(const torch::Tensor& sum, double clip, Rng& rng,
                                const NoisyUse& use) const {
  require_planned(sum);
  const auto contiguous = sum.contiguous();
  std::vector<Rng> streams = streams_for(sum.numel(), rng);
  for_chunks(sum.numel(), [&](std::size_t chunk, std::int64_t first, std::size_t count) {
    for (std::size_t at = 0; at < count; at += kPart) {
      std::array<std::int64_t, kPart> steps;
      std::array<float, kPart> noisy;
      const auto own = std::span(steps).first(std::min(kPart, count - at));
      const std::int64_t here = first + static_cast<std::int64_t>(at);
      on_grid(contiguous, here, kStepsPerClip / clip, own);
      add_part(*sampler_, streams[chunk], own);
      to_floats(own, near(), clip / kStepsPerClip, noisy.data());
      use(here, std::span(noisy).first(own.size()));
    }
  });
}

torch::Tensor GradientNoise::add_exact(const torch::Tensor& sum, double clip, Rng& rng) const {
  auto result = torch::empty({sum.numel()}, torch::kFloat);
  float* const out = result.data_ptr<float>();
  if (!rng.watched()) {  // nobody wants to see the whole vector of steps, so there is none
    visit_exact(sum, clip, rng, [&](std::int64_t first, std::span<const float> noisy) {
      std::copy(noisy.begin(), noisy.end(), out + first);
    });
    return result;
  }
  require_planned(sum);
  const auto contiguous = sum.contiguous();
  std::vector<std::int64_t> all(static_cast<std::size_t>(sum.numel()));
  on_grid(contiguous, 0, kStepsPerClip / clip, all);
  auto scope = rng.query({.mechanism = "discrete_gaussian",
                          .values = std::span<const std::int64_t>(all),
                          .sensitivity = sensitivity_steps_,
                          .norm = Norm::l2,
                          .scale = sampler_->sigma()});
  std::vector<Rng> streams = streams_for(sum.numel(), rng);
  for_chunks(sum.numel(), [&](std::size_t chunk, std::int64_t first, std::size_t count) {
    const auto own = std::span(all).subspan(static_cast<std::size_t>(first), count);
    for (std::size_t at = 0; at < count; at += kPart)
      add_part(*sampler_, streams[chunk], own.subspan(at, std::min(kPart, count - at)));
  });
  scope.publish(std::span(all));
  to_floats(all, near(), clip / kStepsPerClip, out);
  return result;
}

}  // namespace sotto::deep
