#include "sotto/deep/detail/shift_in_place.hpp"

#include "sotto/deep/recorder.hpp"

namespace sotto::deep {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct ShiftInPlace : torch::autograd::Function<ShiftInPlace> {
  static torch::Tensor forward(AutogradContext* context, torch::Tensor y, torch::Tensor bias,
                               std::int64_t first, std::int64_t count, bool terms_first) {
    context->saved_data["bias"] = bias;
    context->saved_data["first"] = first;
    context->saved_data["count"] = count;
    context->saved_data["terms_first"] = terms_first;
    y.add_(count < 0 ? bias : bias.narrow(0, first, count));
    context->mark_dirty({y});
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    auto& saved = context->saved_data;
    const auto& g = gradients[0];
    const auto by_record = saved["terms_first"].toBool() ? g.transpose(0, 1) : g;
    auto use = bias_term(by_record.reshape({by_record.size(0), -1, by_record.size(-1)}));
    use->rows = {saved["first"].toInt(), saved["count"].toInt()};
    Recorder::current()->add(saved["bias"].toTensor(), std::move(use));
    return {g, {}, {}, {}, {}};
  }
};

}  // namespace

void shift_in_place(torch::Tensor& y, const torch::Tensor& bias, Rows rows, bool terms_first) {
  Recorder::current()->expect(bias, terms_first ? y.transpose(0, 1) : y, "linear");
  ShiftInPlace::apply(y, bias, rows.first, rows.count, terms_first);
}

bool is_shift_in_place(const torch::autograd::Node& node) {
  return typeid(node) == typeid(torch::autograd::CppNode<ShiftInPlace>);
}

}  // namespace sotto::deep
