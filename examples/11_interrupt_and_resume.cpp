// A run that stops in the middle and goes on later, in another process or not, costs what an
// uninterrupted one costs.
#include <fmt/core.h>

#include <filesystem>

#include "sotto/core/error.hpp"
#include "sotto/deep/losses.hpp"
#include "sotto/deep/models/network.hpp"
#include "sotto/deep/training/checkpoint.hpp"

int main() {
  using namespace sotto;
  using namespace sotto::deep;

  torch::manual_seed(3);
  auto label = torch::randint(3, {600}, torch::kLong);
  const Records records(torch::randn({600, 5}) + label.to(torch::kFloat).unsqueeze(1), label);
  const std::string file =
      (std::filesystem::temp_directory_path() / "sotto-example.checkpoint").string();
  const auto options = [](double epsilon) {
    return PlanOptions{
        .records = 600, .batch = 100, .steps = 20, .clip = 1, .epsilon = epsilon, .delta = 1e-5};
  };
  const auto start = [&](Network& model, double epsilon) {
    return Trainer(*model, DpSgdPlan(options(epsilon)),
                   [&](const torch::Tensor& x, const torch::Tensor& y) {
                     return softmax_cross_entropy(model->forward(x), y);
                   });
  };
  const NetworkOptions network{.kind = NetworkKind::softmax, .input = {5}, .outputs = 3};
  Rng rng;

  Network first(network);
  Trainer before = start(first, 1);
  before.fit(records, rng, [](const Trainer& t) { return t.done() < 8; });
  save_checkpoint(file, before);

  Network second(network);
  Trainer after = start(second, 1);
  load_checkpoint(file, after);
  fmt::print("resumed after step {}, epsilon so far {:.3f}\n", after.done(),
             after.epsilon(1e-5).upper);
  after.fit(records, rng);
  fmt::print("done: {} steps, epsilon {:.3f}\n", after.done(), after.epsilon(1e-5).upper);

  // Another budget is another run.
  Network third(network);
  Trainer other = start(third, 5);
  bool refused = false;
  try {
    load_checkpoint(file, other);
  } catch (const VerificationFailed& e) {
    refused = true;
    fmt::print("refused: {}\n", e.what());
  }
  std::filesystem::remove(file);
  return refused && after.epsilon(1e-5).upper <= 1 ? 0 : 1;
}
