#include "sotto/deep/layers/detail/linear.hpp"

#include "sotto/deep/detail/kernels.hpp"
#include "sotto/deep/detail/layer_call.hpp"
#include "sotto/deep/detail/linear_terms_first.hpp"

namespace sotto::deep {
namespace {

torch::Tensor rows_of(const torch::Tensor& parameter, Rows rows) {
  return rows.count < 0 || !parameter.defined() ? parameter
                                                : parameter.narrow(0, rows.first, rows.count);
}

// (B, …, n) as (B, T, n).
torch::Tensor as_sequence(const torch::Tensor& tensor) {
  return tensor.contiguous().view({tensor.size(0), -1, tensor.size(-1)});
}

// A product with few outputs spends its time on reading the input, so reading it once more for
// norms would show.
bool few_outputs(const torch::Tensor& input, const torch::Tensor& weight) {
  constexpr std::int64_t kFew = 32, kLong = 256;
  return input.dim() == 2 && input.is_contiguous() && weight.is_contiguous() &&
         input.scalar_type() == torch::kFloat && weight.size(0) <= kFew && input.size(1) >= kLong;
}

class LinearCall : public LayerCall {
 public:
  LinearCall(const torch::Tensor& input, torch::Tensor weight, torch::Tensor bias,
             const std::string& layer, Rows rows, bool terms_first)
      : LayerCall(layer),
        input_(input),
        weight_(std::move(weight)),
        bias_(std::move(bias)),
        rows_(rows),
        terms_first_(terms_first),
        needs_input_(input.requires_grad()) {
    const auto by_record = terms_first ? input.transpose(0, 1) : input;
    train_weight_ = recorder().expect(weight_, by_record, layer);
    train_bias_ = recorder().expect(bias_, by_record, layer);
  }

  int input_axis(std::size_t) const override { return terms_first_ ? 1 : 0; }
  int output_axis(std::size_t) const override { return terms_first_ ? 1 : 0; }

  Tensors run() override {
    const auto& input = input_.get(layer());
    const auto weight = rows_of(weight_, rows_), bias = rows_of(bias_, rows_);
    if (train_weight_ && few_outputs(input, weight))
      return {linear_with_squares(input, weight, bias, squares_)};
    return {linear_product(input, weight, bias)};
  }

  Tensors back(const Tensors& gradients) override {
    const torch::Tensor input = input_.release(layer());
    const auto g = gradients[0].contiguous();
    Tensors result(1);
    if (needs_input_) result[0] = product_with_weight(g, rows_of(weight_, rows_).detach());
    // (B, T, n); terms first stays so in memory.
    const auto a = terms_first_ ? input.contiguous().transpose(0, 1) : as_sequence(input);
    const auto b = terms_first_ ? g.transpose(0, 1) : as_sequence(g);
    if (train_weight_) {
      auto use = std::make_unique<OuterTerm>(a, b, std::move(squares_));
      use->rows = rows_;
      recorder().add(weight_, std::move(use));
    }
    if (train_bias_) {
      auto use = bias_term(b);
      use->rows = rows_;
      recorder().add(bias_, std::move(use));
    }
    return result;
  }

 private:
  Saved input_;
  torch::Tensor weight_, bias_;
  Rows rows_;
  std::vector<double> squares_;  // ‖a_i‖², when run() has taken them
  bool terms_first_, needs_input_, train_weight_ = false, train_bias_ = false;
};

}  // namespace

torch::Tensor linear(const torch::Tensor& input, const torch::Tensor& weight,
                     const torch::Tensor& bias, const std::string& layer, Rows rows) {
  if (Recorder::current() == nullptr || !torch::GradMode::is_enabled())
    return torch::linear(input, rows_of(weight, rows), rows_of(bias, rows));
  auto call = c10::make_intrusive<LinearCall>(input, weight, bias, layer, rows, false);
  return apply_call(call, {input}, {weight, bias})[0];
}

torch::Tensor linear_terms_first(const torch::Tensor& input, const torch::Tensor& weight,
                                 const torch::Tensor& bias, Rows rows) {
  auto call = c10::make_intrusive<LinearCall>(input, weight, bias, "linear", rows, true);
  return apply_call(call, {input}, {weight, bias})[0];
}

}  // namespace sotto::deep
