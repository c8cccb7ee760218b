#include "sotto/deep/intercept.hpp"

#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include "sotto/core/error.hpp"
#include "sotto/deep/detail/linear_terms_first.hpp"
#include "sotto/deep/detail/shift_in_place.hpp"
#include "sotto/deep/layers/detail/conv.hpp"
#include "sotto/deep/layers/detail/embedding.hpp"
#include "sotto/deep/layers/detail/linear.hpp"
#include "sotto/deep/layers/detail/norm.hpp"
#include "sotto/deep/layers/detail/parameter.hpp"
#include "sotto/deep/layers/detail/pool.hpp"
#include "sotto/deep/layers/detail/recurrent.hpp"
#include "sotto/deep/recorder.hpp"
#include "sotto/deep/rows/detail/records_first.hpp"
#include "sotto/deep/rows/pass.hpp"

namespace sotto::deep {
namespace {

using at::IntArrayRef;
using at::Tensor;
using MaybeTensor = torch::optional<Tensor>;

constexpr auto kKey = rows::kInterceptKey;
using Plain = c10::impl::ExcludeDispatchKeyGuard;  // the ordinary operation, differentiated as ever

thread_local bool dropout_off = false;

template <Tensor (*kPlain)(const Tensor&, double, bool)>
Tensor dropout_kernel(const Tensor& input, double p, bool train) {
  const Plain plain(kKey);
  return kPlain(input, p, train && !dropout_off);
}
template <Tensor& (*kPlain)(Tensor&, double, bool)>
Tensor& dropout_in_place_kernel(Tensor& input, double p, bool train) {
  const Plain plain(kKey);
  return kPlain(input, p, train && !dropout_off);
}

Tensor value_of(const MaybeTensor& tensor) { return tensor.has_value() ? *tensor : Tensor(); }

// Whether a private layer has anything to record here: a trainable weight, and a pass that will be
// differentiated.
bool trains(const Tensor& weight) { return weight.defined() && weight.requires_grad(); }

// Where the records of an input are; nothing when it has none, so that a layer cannot tell whose
// gradient comes back. A public tensor with a row for each record counts: what is made of it is
// followed as rows of records.
torch::optional<rows::Axis> axis_of(const Tensor& input, std::int64_t apart) {
  const rows::Axis first{0, 1, 1}, second{1, 1, 1};
  rows::Pass* const pass = rows::Pass::current();
  if (pass == nullptr) return first;
  const rows::Axis axis = pass->axis(input);
  const bool any = axis.holds_records(), enough = input.dim() > apart;
  if (any && pass->records() > 1) return axis;
  if (enough && input.size(0) == pass->records()) return first;
  if (any && input.dim() > 1 + apart && input.size(1) == 1) return second;
  if (any && enough) return rows::Axis{0, input.size(0), 1};
  return torch::nullopt;
}
bool is_first(const rows::Axis& axis) { return axis == rows::Axis{0, 1, 1}; }
bool is_second(const rows::Axis& axis, const Tensor& input) {
  return axis == rows::Axis{1, 1, 1} && input.dim() == 3;
}
Tensor by_record(const Tensor& input, const rows::Axis& axis) {
  return rows::records_first(input, axis, Recorder::current()->batch());
}

bool any_records(const Tensor& input, at::TensorList states) {
  rows::Pass* const pass = rows::Pass::current();
  if (pass == nullptr || pass->axis(input).holds_records()) return true;
  return std::any_of(states.begin(), states.end(),
                     [&](const Tensor& s) { return pass->axis(s).holds_records(); });
}

// A parameter, or consecutive rows of one (the stacked projections of attention).
struct Source {
  Tensor parameter;
  Rows rows;
};
torch::optional<Source> source_of(const Tensor& tensor) {
  const Recorder& recorder = *Recorder::current();
  if (!tensor.defined()) return Source{};
  if (!tensor.requires_grad() || recorder.knows(tensor)) return Source{tensor, {}};
  if (!tensor.is_view()) return torch::nullopt;
  const Tensor base(tensor._base());
  if (!recorder.knows(base)) return torch::nullopt;
  if (base.dim() != tensor.dim() || base.strides() != tensor.strides() ||
      base.sizes().slice(1) != tensor.sizes().slice(1) || !base.is_contiguous())
    return torch::nullopt;
  const std::int64_t width = base.numel() / base.size(0);
  return Source{base, {(tensor.storage_offset() - base.storage_offset()) / width, tensor.size(0)}};
}

Tensor private_linear(const Tensor& input, const rows::Axis& axis, const Tensor& weight,
                      const Tensor& bias, Rows rows) {
  if (is_first(axis)) return deep::linear(input, weight, bias, "linear", rows);
  if (is_second(axis, input)) return linear_terms_first(input, weight, bias, rows);
  return rows::as_before(deep::linear(by_record(input, axis), weight, bias, "linear", rows), axis);
}

Tensor linear_kernel(const Tensor& input, const Tensor& weight, const MaybeTensor& bias) {
  const Plain plain(kKey);
  if (recording() && (trains(weight) || trains(value_of(bias)))) {
    const auto w = source_of(weight), b = source_of(value_of(bias));
    const auto axis = axis_of(input, 1);
    if (w && b && axis && (!b->parameter.defined() || w->rows == b->rows))
      return private_linear(input, *axis, w->parameter, b->parameter, w->rows);
  }
  return at::linear(input, weight, bias);
}

// The parameter W, or rows of it, behind Wᵀ: this is how torch::nn::Linear writes its product.
torch::optional<Source> transposed_source_of(const Tensor& tensor) {
  if (!tensor.defined() || tensor.dim() != 2 || !tensor.is_view() || !tensor.requires_grad())
    return torch::nullopt;
  const Tensor base(tensor._base());
  if (!Recorder::current()->knows(base) || base.dim() != 2 || !base.is_contiguous() ||
      tensor.stride(0) != 1 || tensor.stride(1) != base.size(1) || tensor.size(0) != base.size(1))
    return torch::nullopt;
  if (tensor.size(1) == base.size(0)) return Source{base, {}};
  return Source{base,
                {(tensor.storage_offset() - base.storage_offset()) / base.size(1), tensor.size(1)}};
}

Tensor addmm_kernel(const Tensor& bias, const Tensor& input, const Tensor& transposed,
                    const at::Scalar& beta, const at::Scalar& alpha) {
  const Plain plain(kKey);
  if (recording() && beta.toDouble() == 1 && alpha.toDouble() == 1 && bias.dim() == 1) {
    const auto w = transposed_source_of(transposed), b = source_of(bias);
    const auto axis = axis_of(input, 1);
    if (w && b && axis && w->rows == b->rows)
      return private_linear(input, *axis, w->parameter, b->parameter, w->rows);
  }
  return at::addmm(bias, input, transposed, beta, alpha);
}

// x·Wᵀ, and W·xᵀ = (x·Wᵀ)ᵀ.
template <Tensor (*kPlain)(const Tensor&, const Tensor&)>
Tensor product_kernel(const Tensor& left, const Tensor& right) {
  const Plain plain(kKey);
  if (recording() && left.dim() >= 2) {
    const auto w = transposed_source_of(right);
    const auto axis = w ? axis_of(left, 1) : torch::nullopt;
    if (axis) return private_linear(left, *axis, w->parameter, {}, w->rows);
  }
  if (recording() && left.dim() == 2 && right.dim() == 2 && trains(left)) {
    const auto w = source_of(left);
    const auto axis = w ? axis_of(right.t(), 1) : torch::nullopt;
    if (axis) return private_linear(right.t(), *axis, w->parameter, {}, w->rows).t();
  }
  return kPlain(left, right);
}

// einsum writes x·Wᵀ as a batch of one product.
Tensor bmm_kernel(const Tensor& left, const Tensor& right) {
  const Plain plain(kKey);
  if (recording() && left.size(0) == 1 && trains(right)) {
    const auto w = transposed_source_of(right.squeeze(0));
    const Tensor input = left.squeeze(0);
    const auto axis = w && input.dim() == 2 ? axis_of(input, 1) : torch::nullopt;
    if (axis) return private_linear(input, *axis, w->parameter, {}, w->rows).unsqueeze(0);
  }
  return at::bmm(left, right);
}

// In the place of a parameter that meets the last axes of records: the parameter as each record
// has it.
torch::optional<Tensor> own_copies(const Tensor& parameter, const Tensor& x) {
  if (!recording() || !trains(parameter) || !Recorder::current()->knows(parameter) ||
      x.dim() <= parameter.dim() || !any_records(x, {}))
    return torch::nullopt;
  const auto axis = axis_of(x, parameter.dim());
  if (!axis || !is_first(*axis)) return torch::nullopt;
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(x.dim() - parameter.dim()), 1);
  sizes.front() = x.size(0);
  sizes.insert(sizes.end(), parameter.sizes().begin(), parameter.sizes().end());
  return deep::per_record(parameter, x.size(0)).view(sizes);
}

Tensor sum_kernel(const Tensor& x, const Tensor& y, const at::Scalar& alpha) {
  const Plain plain(kKey);
  if (const auto own = own_copies(y, x)) return at::add(x, *own, alpha);
  if (const auto own = own_copies(x, y)) return at::add(*own, y, alpha);
  return at::add(x, y, alpha);
}

Tensor times_kernel(const Tensor& x, const Tensor& y) {
  const Plain plain(kKey);
  if (const auto own = own_copies(y, x)) return at::mul(x, *own);
  if (const auto own = own_copies(x, y)) return at::mul(*own, y);
  return at::mul(x, y);
}

Tensor& add_kernel(Tensor& y, const Tensor& other, const at::Scalar& alpha) {
  const Plain plain(kKey);
  if (recording() && trains(other) && other.dim() == 1 && y.dim() >= 2 &&
      y.size(-1) == other.size(0) && alpha.toDouble() == 1) {
    const auto b = source_of(other);
    const auto axis = axis_of(y, 1);
    if (b && axis && (is_first(*axis) || is_second(*axis, y))) {
      shift_in_place(y, b->parameter, b->rows, is_second(*axis, y));
      if (rows::Pass::current() != nullptr) rows::Pass::current()->place(y, *axis);
      return y;
    }
  }
  return y.add_(other, alpha);
}

template <Tensor (*kPlain)(const Tensor&, const Tensor&, const MaybeTensor&, IntArrayRef,
                           IntArrayRef, IntArrayRef, std::int64_t)>
Tensor conv_kernel(const Tensor& input, const Tensor& weight, const MaybeTensor& bias,
                   IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                   std::int64_t groups) {
  const Plain plain(kKey);
  if (recording() && (trains(weight) || trains(value_of(bias))))
    return deep::convolution(input, weight, value_of(bias),
                             {stride.vec(), padding.vec(), dilation.vec(), groups});
  return kPlain(input, weight, bias, stride, padding, dilation, groups);
}

template <Tensor (*kPlain)(const Tensor&, const Tensor&, const MaybeTensor&, IntArrayRef,
                           c10::string_view, IntArrayRef, std::int64_t)>
Tensor conv_padding_kernel(const Tensor& input, const Tensor& weight, const MaybeTensor& bias,
                           IntArrayRef stride, c10::string_view padding, IntArrayRef dilation,
                           std::int64_t groups) {
  const Plain plain(kKey);
  if (recording() && (trains(weight) || trains(value_of(bias))))
    return deep::convolution(input, weight, value_of(bias),
                             {stride.vec(), {}, dilation.vec(), groups}, padding);
  return kPlain(input, weight, bias, stride, padding, dilation, groups);
}

Tensor max_pool2d_kernel(const Tensor& input, IntArrayRef kernel, IntArrayRef stride,
                         IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  const Plain plain(kKey);
  // Public values stay public, also when there happen to be as many of them as records.
  if (recording() && any_records(input, {}) &&
      can_pool(input, kernel, stride, padding, dilation, ceil_mode)) {
    const auto axis = axis_of(input, 3);
    if (axis && is_first(*axis)) return deep::max_pool2d(input, kernel, stride);
  }
  return at::max_pool2d(input, kernel, stride, padding, dilation, ceil_mode);
}

Tensor embedding_kernel(const Tensor& weight, const Tensor& indices, std::int64_t padding,
                        bool by_frequency, bool sparse) {
  const Plain plain(kKey);
  if (!recording()) return at::embedding(weight, indices, padding, by_frequency, sparse);
  if (by_frequency && trains(weight))
    throw Unsupported("embedding: scale_grad_by_freq makes one record's gradient depend on others",
                      "leave the option off");
  const auto axis = axis_of(indices, 0);
  if (!axis) return at::embedding(weight, indices, padding, by_frequency, sparse);
  if (is_first(*axis)) return deep::embedding(weight, indices, padding);
  return rows::as_before(deep::embedding(weight, by_record(indices, *axis), padding), *axis);
}

Tensor& embedding_renorm_kernel(Tensor& weight, const Tensor& indices, double max_norm,
                                double norm_type) {
  if (Recorder::current() != nullptr)
    throw Unsupported(
        "embedding: max_norm changes the table by which tokens a batch holds, without noise",
        "leave max_norm off");
  const Plain plain(kKey);
  return at::embedding_renorm_(weight, indices, max_norm, norm_type);
}

Tensor layer_norm_kernel(const Tensor& input, IntArrayRef shape, const MaybeTensor& weight,
                         const MaybeTensor& bias, double eps, bool cudnn) {
  const Plain plain(kKey);
  if (!recording() || !(trains(value_of(weight)) || trains(value_of(bias))))
    return at::layer_norm(input, shape, weight, bias, eps, cudnn);
  const auto axis = axis_of(input, static_cast<std::int64_t>(shape.size()));
  if (!axis) return at::layer_norm(input, shape, weight, bias, eps, cudnn);
  const auto norm = [&](const Tensor& x, bool terms_first) {
    return deep::layer_norm(x, shape.vec(), value_of(weight), value_of(bias), eps, "layer_norm",
                            terms_first);
  };
  if (is_first(*axis) || is_second(*axis, input)) return norm(input, is_second(*axis, input));
  return rows::as_before(norm(by_record(input, *axis), false), *axis);
}

Tensor group_norm_kernel(const Tensor& input, std::int64_t groups, const MaybeTensor& weight,
                         const MaybeTensor& bias, double eps, bool cudnn) {
  const Plain plain(kKey);
  if (!recording() || !(trains(value_of(weight)) || trains(value_of(bias))))
    return at::group_norm(input, groups, weight, bias, eps, cudnn);
  return deep::group_norm(input, groups, value_of(weight), value_of(bias), eps);
}

Tensor instance_norm_kernel(const Tensor& input, const MaybeTensor& weight, const MaybeTensor& bias,
                            const MaybeTensor& mean, const MaybeTensor& variance, bool use_input,
                            double momentum, double eps, bool cudnn) {
  const Plain plain(kKey);
  if (Recorder::current() != nullptr && use_input && value_of(mean).defined()) {
    throw Unsupported("instance_norm: running statistics average over records, without noise",
                      "make the layer with track_running_stats(false)");
  }
  if (!recording() || !use_input || !(trains(value_of(weight)) || trains(value_of(bias))))
    return at::instance_norm(input, weight, bias, mean, variance, use_input, momentum, eps, cudnn);
  return deep::group_norm(input, input.size(1), value_of(weight), value_of(bias), eps,
                          "instance_norm");
}

Tensor batch_norm_kernel(const Tensor& input, const MaybeTensor& weight, const MaybeTensor& bias,
                         const MaybeTensor& mean, const MaybeTensor& variance, bool training,
                         double momentum, double eps, bool cudnn) {
  if (Recorder::current() != nullptr && training) {
    throw Unsupported(
        "batch_norm: the output for one record depends on the others in its batch, so no "
        "per-sample gradient exists",
        "use GroupNorm or LayerNorm instead, or freeze the layer: eval mode, and "
        "requires_grad_(false) for its weights");
  }
  const Plain plain(kKey);
  return at::batch_norm(input, weight, bias, mean, variance, training, momentum, eps, cudnn);
}

bool any_trains(at::TensorList weights) {
  return std::any_of(weights.begin(), weights.end(), [](const Tensor& w) { return trains(w); });
}

template <Cell kCell, class PlainCall>
auto recurrent_kernel(const Tensor& input, at::TensorList states, at::TensorList weights,
                      bool biases, std::int64_t layers, double dropout, bool train,
                      bool bidirectional, bool batch_first, PlainCall&& plain_call) {
  const Plain plain(kKey);
  if (!recording() || !any_trains(weights) || !any_records(input, states)) return plain_call();
  const auto out =
      deep::recurrent(input, states.vec(), weights.vec(),
                      {kCell, layers, biases, bidirectional, batch_first, dropout, train});
  if constexpr (kCell == Cell::lstm) {
    return std::make_tuple(out[0], out[1], out[2]);
  } else {
    return std::make_tuple(out[0], out[1]);
  }
}

std::tuple<Tensor, Tensor, Tensor> lstm_kernel(const Tensor& x, at::TensorList states,
                                               at::TensorList w, bool biases, std::int64_t layers,
                                               double dropout, bool train, bool both,
                                               bool batch_first) {
  return recurrent_kernel<Cell::lstm>(
      x, states, w, biases, layers, dropout, train, both, batch_first,
      [&] { return at::lstm(x, states, w, biases, layers, dropout, train, both, batch_first); });
}

using OneState = std::tuple<Tensor, Tensor>;
template <Cell kCell, OneState (*kPlain)(const Tensor&, const Tensor&, at::TensorList, bool,
                                         std::int64_t, double, bool, bool, bool)>
OneState one_state_kernel(const Tensor& x, const Tensor& h0, at::TensorList w, bool biases,
                          std::int64_t layers, double dropout, bool train, bool both,
                          bool batch_first) {
  return recurrent_kernel<kCell>(
      x, {h0}, w, biases, layers, dropout, train, both, batch_first,
      [&] { return kPlain(x, h0, w, biases, layers, dropout, train, both, batch_first); });
}

// Sines go another way for a whole vector of numbers when one of them is huge, and a vector may
// span two records.
void sine_kernel(const c10::OperatorHandle& operation, c10::Stack* stack) {
  if (Recorder::current() != nullptr) Recorder::current()->note_joint_rounding();
  const Plain plain(kKey);
  operation.callBoxed(stack);
}

TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericWrapper, library) {
  library.fallback(torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(aten, TESTING_ONLY_GenericWrapper, library) {
  for (const char* sine : {"sin", "sin_", "cos", "cos_", "tan", "tan_"})
    library.impl(sine, torch::CppFunction::makeFromBoxedFunction<&sine_kernel>());
  library.impl("dropout", dropout_kernel<at::dropout>);
  library.impl("feature_dropout", dropout_kernel<at::feature_dropout>);
  library.impl("alpha_dropout", dropout_kernel<at::alpha_dropout>);
  library.impl("feature_alpha_dropout", dropout_kernel<at::feature_alpha_dropout>);
  library.impl("dropout_", dropout_in_place_kernel<at::dropout_>);
  library.impl("feature_dropout_", dropout_in_place_kernel<at::feature_dropout_>);
  library.impl("alpha_dropout_", dropout_in_place_kernel<at::alpha_dropout_>);
  library.impl("feature_alpha_dropout_", dropout_in_place_kernel<at::feature_alpha_dropout_>);
  library.impl("linear", linear_kernel);
  library.impl("addmm", addmm_kernel);
  library.impl("matmul", product_kernel<at::matmul>);
  library.impl("mm", product_kernel<at::mm>);
  library.impl("bmm", bmm_kernel);
  library.impl("add.Tensor", sum_kernel);
  library.impl("mul.Tensor", times_kernel);
  library.impl("add_.Tensor", add_kernel);
  library.impl("conv1d", conv_kernel<at::conv1d>);
  library.impl("conv2d", conv_kernel<at::conv2d>);
  library.impl("conv3d", conv_kernel<at::conv3d>);
  library.impl("conv1d.padding", conv_padding_kernel<at::conv1d>);
  library.impl("conv2d.padding", conv_padding_kernel<at::conv2d>);
  library.impl("conv3d.padding", conv_padding_kernel<at::conv3d>);
  library.impl("max_pool2d", max_pool2d_kernel);
  library.impl("embedding", embedding_kernel);
  library.impl("embedding_renorm_", embedding_renorm_kernel);
  library.impl("layer_norm", layer_norm_kernel);
  library.impl("group_norm", group_norm_kernel);
  library.impl("instance_norm", instance_norm_kernel);
  library.impl("batch_norm", batch_norm_kernel);
  library.impl("lstm.input", lstm_kernel);
  library.impl("gru.input", one_state_kernel<Cell::gru, at::gru>);
  library.impl("rnn_tanh.input", one_state_kernel<Cell::rnn_tanh, at::rnn_tanh>);
  library.impl("rnn_relu.input", one_state_kernel<Cell::rnn_relu, at::rnn_relu>);
}

}  // namespace

struct Interception::Guard {
  c10::impl::IncludeDispatchKeyGuard include{kKey};
};

Interception::Interception() : guard_(std::make_unique<Guard>()) {}
Interception::~Interception() = default;

WithoutDropout::WithoutDropout() : outer_(dropout_off) { dropout_off = true; }
WithoutDropout::~WithoutDropout() { dropout_off = outer_; }

}  // namespace sotto::deep
