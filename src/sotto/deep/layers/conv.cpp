#include "sotto/deep/layers/detail/conv.hpp"

#include <algorithm>

#include "sotto/core/error.hpp"
#include "sotto/deep/cost.hpp"
#include "sotto/deep/detail/kernels.hpp"
#include "sotto/deep/detail/layer_call.hpp"
#include "sotto/deep/detail/patches.hpp"

namespace sotto::deep {
namespace {

torch::Tensor plain(const torch::Tensor& input, const torch::Tensor& weight,
                    const torch::Tensor& bias, const ConvShape& s) {
  return at::convolution(
      input, weight, bias.defined() ? torch::optional<at::Tensor>(bias) : torch::nullopt, s.stride,
      s.padding, s.dilation, false, std::vector<std::int64_t>(s.stride.size(), 0), s.groups);
}

// The parts of the ordinary backward pass that are wanted: the input's, or the weight's.
torch::Tensor plain_backward(const torch::Tensor& gradient, const torch::Tensor& input,
                             const torch::Tensor& weight, const ConvShape& s, bool of_input) {
  const auto all = at::convolution_backward(
      gradient, input, weight, torch::nullopt, s.stride, s.padding, s.dilation, false,
      std::vector<std::int64_t>(s.stride.size(), 0), s.groups, {of_input, !of_input, false});
  return of_input ? std::get<0>(all) : std::get<1>(all);
}

class ConvTerm : public GradientTerm {
  static constexpr std::int64_t kDoublesAtOnce = 16;

 public:
  ConvTerm(torch::Tensor input, torch::Tensor gradient, torch::Tensor weight, ConvShape shape)
      : input_(input.contiguous()),
        b_(gradient.contiguous()),
        weight_(std::move(weight)),
        shape_(std::move(shape)),
        patches_(input_, weight_, b_, shape_.stride, shape_.padding, shape_.dilation,
                 shape_.groups) {}

  void add_squared_norms(std::vector<double>& squares, NormRoom& room) override {
    // A group is a product of its own: the counts below are those of one group, records·groups
    // times.
    const auto way = cheapest_norm({room.rows_for(patches_.records) * patches_.groups,
                                    patches_.positions, patches_.patch, patches_.outputs},
                                   room);
    if (way != NormWay::keep) room.terms = std::max(room.terms, patches_.positions);
    if (way == NormWay::ghost) return add_ghost(squares);
    std::vector<double> own(squares.size());
    auto all = write_out(way == NormWay::keep, &own);
    for (std::size_t i = 0; i < squares.size(); ++i) squares[i] += own[i];
    if (way == NormWay::keep) {
      room.take(all.size(0), static_cast<std::size_t>(all.size(1)) * sizeof(float));
      written_ = std::make_unique<DirectTerm>(std::move(all));
      input_ = b_ = torch::Tensor();
    }
  }

  void weighted_sum(const torch::Tensor& factors, torch::Tensor& out, double beta) override {
    if (written_ != nullptr) return written_->weighted_sum(factors, out, beta);
    std::vector<std::int64_t> column(static_cast<std::size_t>(b_.dim()), 1);
    column[0] = -1;
    if (beta == 0) out.zero_();
    // All at once in floats; in double, a few records at a time.
    const bool doubles = out.scalar_type() == torch::kDouble;
    const std::int64_t records = b_.size(0), step = doubles ? kDoublesAtOnce : records;
    const auto part = [&](const torch::Tensor& x, std::int64_t first) {
      return x.narrow(0, first, std::min(step, records - first)).to(out.scalar_type());
    };
    const auto weight = weight_.to(out.scalar_type());
    for (std::int64_t first = 0; first < records; first += step)
      out.add_(plain_backward(part(b_, first) * part(factors, first).view(column),
                              part(input_, first), weight, shape_, false));
  }

  torch::Tensor per_sample() override {
    return written_ != nullptr ? written_->per_sample() : write_out(true, nullptr);
  }

  void drop(const torch::Tensor& records) override {
    if (written_ != nullptr) return written_->drop(records);
    input_ = input_.index_fill(0, records, 0);
    b_ = b_.index_fill(0, records, 0);
  }

  bool join(GradientTerm&) override { return false; }

 private:
  torch::Tensor write_out(bool keep, std::vector<double>* squares) {
    const auto& s = patches_;
    const std::int64_t size = s.groups * s.outputs * s.patch;
    torch::Tensor all;
    if (keep) all = torch::empty({s.records, size}, b_.options());
    const float* b = b_.data_ptr<float>();
    float* kept = keep ? all.data_ptr<float>() : nullptr;
    for_records(s.records, [&](std::int64_t first, std::int64_t last) {
      std::vector<float> columns(s.buffer()), scratch(keep ? 0 : static_cast<std::size_t>(size));
      for (std::int64_t i = first; i < last; ++i) {
        float* g = keep ? kept + i * size : scratch.data();
        s.lay_out(i, columns.data());
        for (std::int64_t k = 0; k < s.groups; ++k)
          small_product(s.outputs, s.patch, s.positions,
                        {b + (i * s.groups + k) * s.outputs * s.positions, s.positions},
                        {columns.data() + k * s.patch * s.positions, s.positions, true},
                        g + k * s.outputs * s.patch);
        if (squares == nullptr) continue;
        (*squares)[i] = squares_of(g, size);
        if (keep) continue;  // what is measured is what will be added
        for (std::int64_t k = 0; k < s.groups; ++k)
          (*squares)[i] += term_norms(columns.data() + k * s.patch * s.positions,
                                      b + (i * s.groups + k) * s.outputs * s.positions)
                               .surcharge(2 * s.positions, s.patch, s.outputs);
      }
    });
    return all;
  }

  // columns: (patch, positions), b: (outputs, positions).
  TermNorms term_norms(const float* columns, const float* b) const {
    const std::int64_t t = patches_.positions;
    std::vector<double> squares(static_cast<std::size_t>(2 * t));
    add_squares_of_columns(columns, patches_.patch, t, squares.data());
    add_squares_of_columns(b, patches_.outputs, t, squares.data() + t);
    TermNorms norms;
    for (std::int64_t s = 0; s < t; ++s)
      norms.add(squares[static_cast<std::size_t>(s)], squares[static_cast<std::size_t>(t + s)]);
    return norms;
  }

  void add_ghost(std::vector<double>& squares) {
    const auto& s = patches_;
    const float* b = b_.data_ptr<float>();
    const std::int64_t t = s.positions;
    for_records(s.records, [&](std::int64_t first, std::int64_t last) {
      std::vector<float> columns(s.buffer());
      Grams grams(t);
      for (std::int64_t i = first; i < last; ++i) {
        s.lay_out(i, columns.data());
        for (std::int64_t k = 0; k < s.groups; ++k)
          squares[i] +=
              grams.squared_norm(s.patch, {columns.data() + k * s.patch * t, t, true}, s.outputs,
                                 {b + (i * s.groups + k) * s.outputs * t, t, true});
      }
    });
  }

  torch::Tensor input_, b_, weight_;
  ConvShape shape_;
  Patches patches_;
  std::unique_ptr<DirectTerm> written_;
};

class ConvCall : public LayerCall {
 public:
  ConvCall(const torch::Tensor& input, torch::Tensor weight, torch::Tensor bias, ConvShape shape,
           const std::string& layer)
      : LayerCall(layer),
        input_(input),
        weight_(std::move(weight)),
        bias_(std::move(bias)),
        shape_(std::move(shape)),
        needs_input_(input.requires_grad()) {
    train_weight_ = recorder().expect(weight_, input, layer);
    train_bias_ = recorder().expect(bias_, input, layer);
  }

  Tensors run() override { return {plain(input_.get(layer()), weight_, bias_, shape_)}; }

  Tensors back(const Tensors& gradients) override {
    const torch::Tensor input = input_.release(layer());
    const auto b = gradients[0].contiguous();
    Tensors result(1);
    if (needs_input_) result[0] = plain_backward(b, input, weight_.detach(), shape_, true);
    if (train_bias_) recorder().add(bias_, std::make_unique<DirectTerm>(b.flatten(2).sum(2)));
    if (train_weight_)
      recorder().add(weight_, std::make_unique<ConvTerm>(input, b, weight_.detach(), shape_));
    return result;
  }

 private:
  Saved input_;
  torch::Tensor weight_, bias_;
  ConvShape shape_;
  bool needs_input_, train_weight_ = false, train_bias_ = false;
};

}  // namespace

torch::Tensor convolution(const torch::Tensor& input, const torch::Tensor& weight,
                          const torch::Tensor& bias, const ConvShape& shape,
                          const std::string& layer) {
  ConvShape full = shape;
  const auto dimensions = static_cast<std::size_t>(weight.dim() - 2);
  for (auto* list : {&full.stride, &full.padding, &full.dilation})
    if (list->size() == 1) list->resize(dimensions, list->front());
  if (Recorder::current() == nullptr || !torch::GradMode::is_enabled())
    return plain(input, weight, bias, full);
  if (input.dim() != weight.dim()) {
    throw Unsupported(layer + ": the input has no axis of records",
                      "give the batch as (records, channels, …), also for one record");
  }
  auto call = c10::make_intrusive<ConvCall>(input, weight, bias, full, layer);
  return apply_call(call, {input}, {weight, bias})[0];
}

torch::Tensor convolution(const torch::Tensor& input, const torch::Tensor& weight,
                          const torch::Tensor& bias, ConvShape shape, c10::string_view padding,
                          const std::string& layer) {
  const auto dimensions = static_cast<std::size_t>(weight.dim() - 2);
  if (shape.dilation.size() == 1) shape.dilation.resize(dimensions, shape.dilation.front());
  shape.padding.assign(dimensions, 0);
  if (padding == "valid") return convolution(input, weight, bias, shape, layer);
  // "same": the total may be odd; what does not fit both sides goes to the end.
  std::vector<std::int64_t> extra(2 * dimensions, 0);
  for (std::size_t k = 0; k < dimensions; ++k) {
    const std::int64_t total =
        shape.dilation[k] * (weight.size(static_cast<std::int64_t>(k) + 2) - 1);
    shape.padding[k] = total / 2;
    extra[2 * (dimensions - 1 - k) + 1] = total % 2;
  }
  const bool even = std::all_of(extra.begin(), extra.end(), [](std::int64_t e) { return e == 0; });
  return convolution(even ? input : torch::constant_pad_nd(input, extra), weight, bias, shape,
                     layer);
}

}  // namespace sotto::deep
