// Optimizer: what is done with the private gradient. Post-processing: it adds no event, whatever it
// does.
//
// What       SGD with momentum, Adam, AdamW; learning-rate schedules with warm-up; projection onto
//            a ball around the origin.
// Guarantee  None of its own; it sees released gradients only.
// Method     v ← m·v + g, θ ← θ − η·v (SGD); the usual bias-corrected moments (Adam [KB15]); AdamW
//            shrinks the weights apart from the gradient [LH19]. State is one flat vector for all
//            parameters, in their order.
// Numerics   32-bit floats.
// Reference  [KB15], [LH19].
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/deep/noisy_descent.hpp"
#include "sotto/deep/training/gradient_noise.hpp"

namespace sotto::deep {

enum class OptimizerKind { sgd, adam, adamw };
enum class Schedule { constant, linear, cosine };  // the last two fall to 0 at the last step

std::string_view name(OptimizerKind kind);
OptimizerKind parse_optimizer(std::string_view text);  // throws InvalidArgument
std::string_view name(Schedule schedule);
Schedule parse_schedule(std::string_view text);  // throws InvalidArgument

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::sgd;
  double learning_rate = 0.1;
  double momentum = 0.9;                            // sgd
  double beta1 = 0.9, beta2 = 0.999, small = 1e-8;  // adam, adamw
  double weight_decay = 0;  // sgd and adam: added to the gradient; adamw: apart
  Schedule schedule = Schedule::constant;
  double warmup = 0;  // fraction of the steps in which the rate rises from 0
  double radius = 0;  // of the ball that parameters are projected onto; 0: none
};

nlohmann::ordered_json to_json(const OptimizerOptions& options);

class Optimizer {
 public:
  // total: planned steps, for the schedule. Throws InvalidArgument.
  Optimizer(std::vector<NamedParameter> parameters, OptimizerOptions options, std::uint64_t total);

  // gradient: flat, in the order of the parameters. step counts from 0.
  void step(const torch::Tensor& gradient, std::uint64_t step);
  // The step with the gradient scale·(sum + noise), sum being clipped to `clip` and not yet noised.
  // SGD without weight decay takes the noise on the way, in one pass over the parameters, where
  // nobody listens to the queries of rng.
  void step_with_noise(const GradientNoise& noise, const torch::Tensor& sum, double clip,
                       double scale, Rng& rng, std::uint64_t step);
  double rate(std::uint64_t step) const;
  const OptimizerOptions& options() const { return options_; }

  // For checkpoints: tensors by name, to be filled in again in place.
  std::map<std::string, torch::Tensor> state() const;

 private:
  void subtract(const torch::Tensor& update, double rate);
  void project();

  std::vector<NamedParameter> parameters_;
  OptimizerOptions options_;
  std::uint64_t total_;
  torch::Tensor first_, second_;  // moments; first_ is the velocity of SGD
  std::optional<NoisyDescent> descent_;
};

// All parameters as one vector, and back.
torch::Tensor flatten(const std::vector<NamedParameter>& parameters);
void unflatten(const torch::Tensor& flat, const std::vector<NamedParameter>& parameters);

}  // namespace sotto::deep
