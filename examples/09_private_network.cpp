// Plan, trainer, fit, release: a private classifier in a page.
#include <fmt/core.h>

#include "sotto/deep/losses.hpp"
#include "sotto/deep/models/network.hpp"
#include "sotto/deep/training/trainer.hpp"

int main() {
  using namespace sotto;
  using namespace sotto::deep;

  // Made-up records: two clouds of points.
  torch::manual_seed(1);
  auto label = torch::randint(2, {2000}, torch::kLong);
  auto point = torch::randn({2000, 8}) + (2 * label.to(torch::kFloat) - 1).unsqueeze(1);
  const Records records(point, label);

  Network model(
      NetworkOptions{.kind = NetworkKind::mlp, .input = {8}, .outputs = 2, .hidden = {16}});

  // Public facts only. The noise is calibrated to the budget; 2000 is a declared number, not
  // counted.
  const DpSgdPlan plan({.records = 2000,
                        .batch = 256,
                        .epochs = 10,
                        .clip = 0.5,
                        .epsilon = 2,
                        .delta = 1e-5,
                        .noise = NoiseKind::exact,
                        .dimension = count_parameters(*model)});
  fmt::print("{}\n", plan.describe());

  Trainer trainer(*model, plan,
                  [&](const torch::Tensor& x, const torch::Tensor& y) {
                    return softmax_cross_entropy(model->forward(x), y);
                  },
                  {.optimizer = {.learning_rate = 0.5}});
  Rng rng;
  trainer.fit(records, rng);

  const Release<TensorMap> release = trainer.release();  // the weights, and what they cost
  fmt::print("{} tensors released, epsilon = {:.4f}\n", release.value.size(),
             trainer.epsilon(1e-5).upper);
  return trainer.epsilon(1e-5).upper <= 2 ? 0 : 1;
}
