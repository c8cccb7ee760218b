// A module of your own, of ordinary layers, trains like any other.
#include <fmt/core.h>

#include "sotto/deep/losses.hpp"
#include "sotto/deep/tempered_sigmoid.hpp"
#include "sotto/deep/training/trainer.hpp"

using namespace sotto;
using namespace sotto::deep;

// A residual block on vectors. Bounded activations keep gradients short, so that clipping them
// changes less.
struct ResidualImpl : torch::nn::Module {
  explicit ResidualImpl(std::int64_t width)
      : in(register_module("in", torch::nn::Linear(width, width))),
        out(register_module("out", torch::nn::Linear(width, 1))) {}
  torch::Tensor forward(const torch::Tensor& x) {
    return out(x + tempered_sigmoid(in(x))).squeeze(1);
  }
  torch::nn::Linear in, out;
};
TORCH_MODULE(Residual);

int main() {
  torch::manual_seed(2);
  auto x = torch::rand({1000, 3});
  auto y = (x.sum(1) - 1.5).clamp(-1, 1);  // a number to predict
  const Records records(x, y);

  Residual model(3);
  Trainer trainer(
      *model,
      DpSgdPlan(
          {.records = 1000, .batch = 200, .steps = 60, .clip = 0.2, .epsilon = 3, .delta = 1e-5}),
      [&](const torch::Tensor& a, const torch::Tensor& b) {
        return sotto::deep::huber_loss(model->forward(a), b);
      },
      {.optimizer = {.kind = OptimizerKind::adam, .learning_rate = 0.02},
       .iterate = Iterate::average});
  Rng rng;
  trainer.fit(records, rng, [](const Trainer& t) {
    if (t.done() % 20 == 0)
      fmt::print("step {}: epsilon so far {:.3f}\n", t.done(), t.epsilon(1e-5).upper);
    return true;  // false stops early: the release then costs only the steps that ran
  });
  fmt::print("released after {} steps\n", trainer.done());
  return trainer.release().event == trainer.plan()->event() ? 0 : 1;
}
