#include "sotto/deep/layers/detail/norm.hpp"

#include <numeric>

#include "sotto/core/vector_clones.hpp"
#include "sotto/deep/detail/kernels.hpp"
#include "sotto/deep/detail/layer_call.hpp"
#include "sotto/deep/layers/detail/parameter.hpp"

namespace sotto::deep {
namespace {

torch::optional<at::Tensor> optional(const torch::Tensor& tensor) {
  return tensor.defined() ? torch::optional<at::Tensor>(tensor) : torch::nullopt;
}

// scale += x̂∘g, shift += g.
SOTTO_CLONES void add_row(const float* __restrict x, const float* __restrict g, float mean,
                          float inverse, std::int64_t n, float* __restrict scale,
                          float* __restrict shift) {
  for (std::int64_t k = 0; k < n; ++k) {
    scale[k] += (x[k] - mean) * inverse * g[k];
    shift[k] += g[k];
  }
}

// What both calls share: parameters, and handing over their gradients.
class NormCall : public LayerCall {
 public:
  NormCall(const torch::Tensor& input, torch::Tensor weight, torch::Tensor bias,
           const std::string& layer, bool terms_first = false)
      : LayerCall(layer),
        input_(input),
        weight_(std::move(weight)),
        bias_(std::move(bias)),
        needs_input_(input.requires_grad()) {
    const auto by_record = terms_first ? input.transpose(0, 1) : input;
    train_weight_ = recorder().expect(weight_, by_record, layer);
    train_bias_ = recorder().expect(bias_, by_record, layer);
  }

 protected:
  bool trained() const { return train_weight_ || train_bias_; }
  void hand_over(torch::Tensor scales, torch::Tensor shifts) {
    if (train_weight_) recorder().add(weight_, std::make_unique<DirectTerm>(std::move(scales)));
    if (train_bias_) recorder().add(bias_, std::make_unique<DirectTerm>(std::move(shifts)));
  }

  Saved input_;
  torch::Tensor weight_, bias_, mean_, rstd_;
  bool needs_input_, train_weight_ = false, train_bias_ = false;
};

class LayerNormCall : public NormCall {
 public:
  LayerNormCall(const torch::Tensor& input, std::vector<std::int64_t> shape,
                const torch::Tensor& weight, const torch::Tensor& bias, double eps,
                const std::string& layer, bool terms_first)
      : NormCall(input, weight, bias, layer, terms_first),
        shape_(std::move(shape)),
        eps_(eps),
        terms_first_(terms_first) {}

  int input_axis(std::size_t) const override { return terms_first_ ? 1 : 0; }
  int output_axis(std::size_t) const override { return terms_first_ ? 1 : 0; }

  Tensors run() override {
    auto [out, mean, rstd] = at::native_layer_norm(input_.get(layer()), shape_, optional(weight_),
                                                   optional(bias_), eps_);
    mean_ = mean;
    rstd_ = rstd;
    return {out};
  }

  Tensors back(const Tensors& gradients) override {
    const auto input = input_.release(layer()).contiguous(), b = gradients[0].contiguous();
    torch::Tensor result;
    if (needs_input_)
      result = std::get<0>(at::native_layer_norm_backward(
          b, input, shape_, mean_, rstd_, optional(weight_.defined() ? weight_.detach() : weight_),
          optional(bias_), {true, false, false}));
    if (trained()) {
      const std::int64_t records = recorder().batch(), terms = mean_.numel() / records,
                         n = input.numel() / mean_.numel();
      auto scales = torch::zeros({records, n}), shifts = torch::zeros({records, n});
      const float *x = input.data_ptr<float>(), *g = b.data_ptr<float>();
      const auto mean = mean_.contiguous(), rstd = rstd_.contiguous();
      const float *m = mean.data_ptr<float>(), *r = rstd.data_ptr<float>();
      float *ps = scales.data_ptr<float>(), *pb = shifts.data_ptr<float>();
      for_records(records, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i)
          for (std::int64_t t = 0; t < terms; ++t) {
            const std::int64_t row = terms_first_ ? t * records + i : i * terms + t;
            add_row(x + row * n, g + row * n, m[row], r[row], n, ps + i * n, pb + i * n);
          }
      });
      hand_over(std::move(scales), std::move(shifts));
    }
    return {result};
  }

 private:
  std::vector<std::int64_t> shape_;
  double eps_;
  bool terms_first_;
};

class GroupNormCall : public NormCall {
 public:
  GroupNormCall(const torch::Tensor& input, std::int64_t groups, const torch::Tensor& weight,
                const torch::Tensor& bias, double eps, const std::string& layer)
      : NormCall(input, weight, bias, layer), groups_(groups), eps_(eps) {}

  Tensors run() override {
    const auto x = input_.get(layer()).contiguous();
    auto [out, mean, rstd] = at::native_group_norm(x, optional(weight_), optional(bias_), x.size(0),
                                                   x.size(1), pixels(x), groups_, eps_);
    mean_ = mean;
    rstd_ = rstd;
    return {out};
  }

  Tensors back(const Tensors& gradients) override {
    const auto input = input_.release(layer()).contiguous(), b = gradients[0].contiguous();
    const std::int64_t records = input.size(0), channels = input.size(1), size = pixels(input);
    torch::Tensor result;
    if (needs_input_)
      result = std::get<0>(at::native_group_norm_backward(
          b, input, mean_, rstd_, optional(weight_.defined() ? weight_.detach() : weight_), records,
          channels, size, groups_, {true, false, false}));
    if (trained()) {
      const auto normal = (input.view({records, groups_, -1}) - mean_.view({records, groups_, 1})) *
                          rstd_.view({records, groups_, 1});
      hand_over((normal.view({records, channels, -1}) * b.view({records, channels, -1})).sum(2),
                b.view({records, channels, -1}).sum(2));
    }
    return {result};
  }

 private:
  static std::int64_t pixels(const torch::Tensor& x) { return x.numel() / (x.size(0) * x.size(1)); }
  std::int64_t groups_;
  double eps_;
};

}  // namespace

torch::Tensor layer_norm(const torch::Tensor& input, const std::vector<std::int64_t>& shape,
                         const torch::Tensor& weight, const torch::Tensor& bias, double eps,
                         const std::string& layer, bool terms_first) {
  if (!recording())
    return at::layer_norm(input, shape, optional(weight), optional(bias), eps, false);
  return apply_call(
      c10::make_intrusive<LayerNormCall>(input, shape, weight, bias, eps, layer, terms_first),
      {input}, {weight, bias})[0];
}

torch::Tensor group_norm(const torch::Tensor& input, std::int64_t groups,
                         const torch::Tensor& weight, const torch::Tensor& bias, double eps,
                         const std::string& layer) {
  if (!recording())
    return at::group_norm(input, groups, optional(weight), optional(bias), eps, false);
  return apply_call(c10::make_intrusive<GroupNormCall>(input, groups, weight, bias, eps, layer),
                    {input}, {weight, bias})[0];
}

RMSNormImpl::RMSNormImpl(std::int64_t size, double eps) : eps_(eps) {
  weight = register_parameter("weight", torch::ones({size}));
}

torch::Tensor RMSNormImpl::forward(const torch::Tensor& input) {
  return scale(input * torch::rsqrt(input.square().mean(-1, true) + eps_), weight, "rms_norm");
}

}  // namespace sotto::deep
