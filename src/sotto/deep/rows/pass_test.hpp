// What becomes of a model in one watched pass.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <string>

#include "sotto/deep/clipped_sum.hpp"
#include "sotto/deep/rows/pass.hpp"

namespace sotto::deep::rows {

namespace nn = torch::nn;
namespace F = torch::nn::functional;
using torch::Tensor;
using LossesOn = std::function<Tensor(const Tensor& x, const Tensor& y)>;

inline Tensor entropy(const Tensor& scores, const Tensor& classes) {
  return F::cross_entropy(scores, classes, F::CrossEntropyFuncOptions().reduction(torch::kNone));
}

// The refusal, or nothing; an error of another kind is marked.
template <class Work>
std::string said(Work&& work) {
  try {
    work();
  } catch (const NotRowWise& e) {
    return e.what();
  } catch (const std::exception& e) {
    return std::string("ANOTHER ERROR: ") + e.what();
  }
  return "";
}

// The pass alone: forward, checks, ordinary backward.
inline std::string watched(const nn::Module& model, const Tensor& x, const Tensor& y,
                           const LossesOn& losses, std::int64_t axis = 0) {
  return said([&] {
    const PublicTensors known(model);
    Pass pass(known, {{x, axis}, y});
    Tensor result;
    try {
      const Pass::Watch watch(pass);
      result = losses(x, y);
    } catch (const NotRowWise&) {
      throw;
    } catch (const std::exception& e) {
      pass.finish(torch::zeros({1}));  // a refusal that the model swallowed comes first
      throw;
    }
    pass.finish(result);
    result.sum().backward();
  });
}

// Through the whole engine.
inline std::string trained(const nn::Module& model, const Tensor& x, const Tensor& y,
                           const LossesOn& losses, std::int64_t axis = 0) {
  return said([&] {
    ClippedSum sum(model, {.norm = 0.5});
    sum.add({{x, axis}, y}, [&] { return losses(x, y); });
    if (!(sum.flat().norm().item<double>() > 0)) throw std::runtime_error("nothing was learnt");
  });
}

}  // namespace sotto::deep::rows
