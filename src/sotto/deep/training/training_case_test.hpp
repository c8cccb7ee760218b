// What the tests of the trainer share: made-up records, a small network and a plan for it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sotto/deep/losses.hpp"
#include "sotto/deep/models/network.hpp"
#include "sotto/deep/refusal_test.hpp"
#include "sotto/deep/training/trainer.hpp"

namespace sotto::deep {

using torch::Tensor;

// Two noisy clouds, one for each class.
inline Records clouds(std::int64_t n, std::uint64_t seed = 1) {
  torch::manual_seed(seed);
  auto y = torch::randint(2, {n}, torch::kLong);
  auto x = torch::randn({n, 4}) + 1.5 * (2 * y.to(torch::kFloat) - 1).unsqueeze(1);
  return {x, y};
}

inline Network small_network(std::uint64_t seed = 1, std::vector<std::int64_t> hidden = {5}) {
  torch::manual_seed(seed);
  return Network(NetworkOptions{
      .kind = NetworkKind::mlp, .input = {4}, .outputs = 2, .hidden = std::move(hidden)});
}

inline Objective objective_of(Network& network) {
  return [&network](const Tensor& x, const Tensor& y) {
    return softmax_cross_entropy(network->forward(x), y);
  };
}

inline PlanOptions small_plan(const Network& network, std::uint64_t records = 200) {
  return {.records = records,
          .batch = 20,
          .steps = 6,
          .clip = 0.5,
          .noise_multiplier = 1.0,
          .delta = 1e-5,
          .dimension = count_parameters(*network)};
}

inline double accuracy(Network& network, const Records& records) {
  const torch::NoGradGuard no_grad;
  const Batch all = records.range(0, records.size());
  return network->forward(all.inputs)
      .argmax(1)
      .eq(all.targets)
      .to(torch::kFloat)
      .mean()
      .item<double>();
}

}  // namespace sotto::deep
