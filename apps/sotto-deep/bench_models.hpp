// The models of `sotto bench dpsgd`: ordinary LibTorch modules, and made-up batches of their
// shapes.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <memory>
#include <string>

namespace sotto::deep {

struct BenchModel {
  std::shared_ptr<torch::nn::Module> module;
  std::function<torch::Tensor(const torch::Tensor&)> forward;  // (B, …) to logits (B, classes)
  torch::Tensor x, y;
  std::int64_t batch = 0;
};

std::int64_t usual_batch(const std::string& model);
BenchModel make_bench_model(const std::string& model, std::int64_t batch);

}  // namespace sotto::deep
