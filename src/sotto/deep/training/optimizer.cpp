#include "sotto/deep/training/optimizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "sotto/core/error.hpp"

namespace sotto::deep {
namespace {

constexpr std::array<std::string_view, 3> kOptimizers = {"sgd", "adam", "adamw"};
constexpr std::array<std::string_view, 3> kSchedules = {"constant", "linear", "cosine"};

template <class Kind, std::size_t N>
Kind parsed(const std::array<std::string_view, N>& names, std::string_view text, const char* what,
            const char* hint) {
  for (std::size_t i = 0; i < N; ++i)
    if (names[i] == text) return static_cast<Kind>(i);
  throw InvalidArgument(fmt::format("'{}' is not {}", text, what), hint);
}

void require(bool good, const char* what, double value, const char* allowed) {
  if (!good) throw InvalidArgument(fmt::format("{} is {}; it must be {}", what, value, allowed));
}

OptimizerOptions checked(OptimizerOptions o) {
  require(o.learning_rate > 0, "the learning rate", o.learning_rate, "above 0");
  require(o.momentum >= 0 && o.momentum < 1, "momentum", o.momentum, "at least 0 and below 1");
  require(o.beta1 >= 0 && o.beta1 < 1, "beta1", o.beta1, "at least 0 and below 1");
  require(o.beta2 >= 0 && o.beta2 < 1, "beta2", o.beta2, "at least 0 and below 1");
  require(o.weight_decay >= 0, "the weight decay", o.weight_decay, "at least 0");
  require(o.warmup >= 0 && o.warmup < 1, "warm-up", o.warmup, "at least 0 and below 1");
  require(o.radius >= 0, "the radius", o.radius, "at least 0");
  return o;
}

}  // namespace

std::string_view name(OptimizerKind kind) { return kOptimizers[static_cast<std::size_t>(kind)]; }
OptimizerKind parse_optimizer(std::string_view text) {
  return parsed<OptimizerKind>(kOptimizers, text, "an optimizer", "choose sgd, adam or adamw");
}
std::string_view name(Schedule schedule) { return kSchedules[static_cast<std::size_t>(schedule)]; }
Schedule parse_schedule(std::string_view text) {
  return parsed<Schedule>(kSchedules, text, "a schedule", "choose constant, linear or cosine");
}

nlohmann::ordered_json to_json(const OptimizerOptions& o) {
  nlohmann::ordered_json json = {{"kind", name(o.kind)}, {"learning_rate", o.learning_rate}};
  if (o.kind == OptimizerKind::sgd) {
    json["momentum"] = o.momentum;
  } else {
    json["beta1"] = o.beta1, json["beta2"] = o.beta2, json["small"] = o.small;
  }
  json["weight_decay"] = o.weight_decay;
  json["schedule"] = name(o.schedule);
  json["warmup"] = o.warmup;
  json["radius"] = o.radius;
  return json;
}

torch::Tensor flatten(const std::vector<NamedParameter>& parameters) {
  std::vector<torch::Tensor> parts;
  for (const auto& p : parameters) parts.push_back(p.tensor.detach().reshape({-1}));
  return torch::cat(parts);
}

void unflatten(const torch::Tensor& flat, const std::vector<NamedParameter>& parameters) {
  const torch::NoGradGuard no_grad;
  std::int64_t at = 0;
  for (const auto& p : parameters) {
    const torch::Tensor part = flat.narrow(0, at, p.tensor.numel()).view(p.tensor.sizes());
    torch::Tensor(p.tensor).copy_(part);
    at += p.tensor.numel();
  }
}

Optimizer::Optimizer(std::vector<NamedParameter> parameters, OptimizerOptions options,
                     std::uint64_t total)
    : parameters_(std::move(parameters)), options_(checked(options)), total_(total) {
  std::int64_t size = 0;
  for (const auto& p : parameters_) size += p.tensor.numel();
  first_ = torch::zeros({size}, torch::kFloat);
  if (options_.kind != OptimizerKind::sgd) second_ = torch::zeros({size}, torch::kFloat);
  const bool whole = std::all_of(parameters_.begin(), parameters_.end(),
                                 [](const auto& p) { return p.tensor.is_contiguous(); });
  if (options_.kind == OptimizerKind::sgd && options_.weight_decay == 0 && whole)
    descent_.emplace(parameters_, first_);
}

void Optimizer::step_with_noise(const GradientNoise& noise, const torch::Tensor& sum, double clip,
                                double scale, Rng& rng, std::uint64_t step) {
  if (!descent_ || rng.watched()) return this->step(noise.add(sum, clip, rng).mul_(scale), step);
  const torch::NoGradGuard no_grad;
  const bool bulk = noise.kind() == NoiseKind::bulk;
  const DescentStep descent{.sigma = bulk ? noise.sigma(clip) : 0,
                            .scale = static_cast<float>(scale),
                            .rate = static_cast<float>(rate(step)),
                            .momentum = static_cast<float>(options_.momentum)};
  if (bulk)
    descent_->step(rng, sum.to(torch::kFloat), descent);
  else
    noise.visit_exact(sum, clip, rng, [&](std::int64_t first, std::span<const float> noisy) {
      descent_->step(first, noisy, descent);
    });
  if (options_.radius > 0) project();
}

double Optimizer::rate(std::uint64_t step) const {
  const double done =
      static_cast<double>(step) / static_cast<double>(std::max<std::uint64_t>(total_, 1));
  double factor = 1;
  if (options_.schedule == Schedule::linear) factor = 1 - done;
  if (options_.schedule == Schedule::cosine) factor = 0.5 * (1 + std::cos(std::numbers::pi * done));
  const double warm = options_.warmup * static_cast<double>(total_);
  if (static_cast<double>(step) + 1 < warm) factor *= (static_cast<double>(step) + 1) / warm;
  return options_.learning_rate * factor;
}

void Optimizer::step(const torch::Tensor& released, std::uint64_t step) {
  const torch::NoGradGuard no_grad;
  const double eta = rate(step);
  torch::Tensor gradient = released;
  if (options_.weight_decay > 0 && options_.kind != OptimizerKind::adamw)
    gradient = gradient + options_.weight_decay * flatten(parameters_);
  if (options_.kind == OptimizerKind::sgd) {
    first_.mul_(options_.momentum).add_(gradient);
    subtract(first_, eta);
  } else {
    const double t = static_cast<double>(step) + 1;
    first_.mul_(options_.beta1).add_(gradient, 1 - options_.beta1);
    second_.mul_(options_.beta2).addcmul_(gradient, gradient, 1 - options_.beta2);
    const double c1 = 1 - std::pow(options_.beta1, t), c2 = 1 - std::pow(options_.beta2, t);
    const torch::Tensor update = (first_ / c1).div_((second_ / c2).sqrt_().add_(options_.small));
    if (options_.kind == OptimizerKind::adamw && options_.weight_decay > 0)
      for (const auto& p : parameters_)
        torch::Tensor(p.tensor).mul_(1 - eta * options_.weight_decay);
    subtract(update, eta);
  }
  if (options_.radius > 0) project();
}

void Optimizer::subtract(const torch::Tensor& update, double rate) {
  std::int64_t at = 0;
  for (const auto& p : parameters_) {
    torch::Tensor(p.tensor).add_(update.narrow(0, at, p.tensor.numel()).view(p.tensor.sizes()),
                                 -rate);
    at += p.tensor.numel();
  }
}

void Optimizer::project() {
  double square = 0;
  for (const auto& p : parameters_)
    square += p.tensor.to(torch::kDouble).square().sum().item<double>();
  const double norm = std::sqrt(square);
  if (norm <= options_.radius) return;
  for (const auto& p : parameters_) torch::Tensor(p.tensor).mul_(options_.radius / norm);
}

std::map<std::string, torch::Tensor> Optimizer::state() const {
  std::map<std::string, torch::Tensor> state = {{"optimizer.first", first_}};
  if (second_.defined()) state.emplace("optimizer.second", second_);
  return state;
}

}  // namespace sotto::deep
