#include "sotto/deep/layers/detail/recurrent.hpp"

#include "sotto/core/error.hpp"
#include "sotto/deep/detail/layer_call.hpp"
#include "sotto/deep/detail/lstm_step.hpp"

namespace sotto::deep {
namespace {

struct Weights {
  torch::Tensor w_ih, w_hh, b_ih, b_hh;
};

// One layer in one direction. Inputs of the node: x (T, B, n), h0 and, for an LSTM, c0 (B, hidden).
// Time runs backwards when asked.
class DirectionCall : public LayerCall {
 public:
  DirectionCall(Cell cell, const torch::Tensor& x, torch::Tensor h0, torch::Tensor c0, Weights w,
                bool reverse, const std::string& layer)
      : LayerCall(layer),
        cell_(cell),
        x_(x),
        w_(std::move(w)),
        h0_(h0.detach().contiguous()),
        c0_(c0.defined() ? c0.detach().contiguous() : c0),
        reverse_(reverse),
        needs_x_(x.requires_grad()),
        needs_state_(h0.requires_grad() || (c0.defined() && c0.requires_grad())) {
    const auto by_record = x.transpose(0, 1);
    for (const auto* p : {&w_.w_ih, &w_.w_hh, &w_.b_ih, &w_.b_hh})
      recorder().expect(*p, by_record, layer);
  }

  int input_axis(std::size_t k) const override { return k == 0 ? 1 : 0; }
  int output_axis(std::size_t k) const override { return k == 0 ? 1 : 0; }

  Tensors run() override {
    const auto x = x_.get(layer());
    const std::int64_t steps = x.size(0), records = x.size(1), hidden = w_.w_hh.size(1);
    const bool gru = cell_ == Cell::gru;
    // In an LSTM and a plain cell the two biases stand side by side; in a GRU the second is inside
    // a product.
    torch::Tensor bias = w_.b_ih;
    if (bias.defined() && !gru) bias = bias + w_.b_hh;
    gates_ = torch::linear(x.contiguous(), w_.w_ih, bias);  // (T, B, gates·hidden)
    h_ = torch::empty({steps + 1, records, hidden});
    h_[0].copy_(h0_);
    if (cell_ == Cell::lstm) {
      c_ = torch::empty({steps + 1, records, hidden});
      c_[0].copy_(c0_);
      tanh_c_ = torch::empty({steps, records, hidden});
    }
    if (gru) inner_ = torch::empty({steps, records, hidden});
    const auto transposed = w_.w_hh.t();
    for (std::int64_t s = 0; s < steps; ++s) {
      auto gate = gates_[at(s)];
      auto next = h_[s + 1];
      if (gru) {
        auto from_h = torch::mm(h_[s], transposed);
        if (w_.b_hh.defined()) from_h += w_.b_hh;
        auto rz = gate.narrow(1, 0, 2 * hidden), n = gate.narrow(1, 2 * hidden, hidden);
        rz.add_(from_h.narrow(1, 0, 2 * hidden)).sigmoid_();
        const auto r = rz.narrow(1, 0, hidden), z = rz.narrow(1, hidden, hidden);
        inner_[at(s)].copy_(from_h.narrow(1, 2 * hidden, hidden));
        n.addcmul_(r, inner_[at(s)]).tanh_();
        at::lerp_out(next, n, h_[s], z);
      } else {
        at::addmm_out(gate, gate, h_[s], transposed);
        if (cell_ == Cell::lstm) {
          gate.narrow(1, 0, 2 * hidden).sigmoid_();
          gate.narrow(1, 2 * hidden, hidden).tanh_();
          gate.narrow(1, 3 * hidden, hidden).sigmoid_();
          auto c = c_[s + 1], tanh_c = tanh_c_[at(s)];
          lstm_cell(gate, c_[s], c);
          at::tanh_out(tanh_c, c);
          at::mul_out(next, gate.narrow(1, 3 * hidden, hidden), tanh_c);
        } else {
          next.copy_(cell_ == Cell::rnn_tanh ? gate.tanh_() : gate.relu_());
        }
      }
    }
    auto out = h_.narrow(0, 1, steps);
    if (reverse_) out = out.flip(0);
    Tensors result{out.clone(), h_[steps].clone()};
    if (cell_ == Cell::lstm) result.push_back(c_[steps].clone());
    return result;
  }

  Tensors back(const Tensors& gradients) override {
    const auto x = x_.release(layer());
    const std::int64_t steps = x.size(0), hidden = w_.w_hh.size(1);
    const bool gru = cell_ == Cell::gru;
    const auto w_hh = w_.w_hh.detach(), w_ih = w_.w_ih.detach();
    auto d_hidden = gru ? torch::empty_like(gates_)
                        : torch::Tensor();  // gradients inside the recurrent product
    const auto outer = gradients[0].contiguous();
    auto dh = gradients[1].clone();
    auto dc = cell_ == Cell::lstm ? gradients[2].clone() : torch::Tensor();
    for (std::int64_t s = steps - 1; s >= 0; --s) {
      auto gate = gates_[at(s)];  // becomes its own gradient
      dh.add_(outer[at(s)]);
      if (cell_ == Cell::lstm) {
        lstm_cell_backward(gate, c_[s], tanh_c_[at(s)], dh, dc);
        at::mm_out(dh, gate, w_hh);
      } else if (gru) {
        auto r = gate.narrow(1, 0, hidden), z = gate.narrow(1, hidden, hidden),
             n = gate.narrow(1, 2 * hidden, hidden);
        const auto dn = dh * (1 - z) * (1 - n.square());
        const auto dz = dh * (h_[s] - n) * z * (1 - z);
        const auto dr = dn * inner_[at(s)] * r * (1 - r);
        auto inside = d_hidden[at(s)];
        inside.narrow(1, 0, hidden).copy_(dr);
        inside.narrow(1, hidden, hidden).copy_(dz);
        inside.narrow(1, 2 * hidden, hidden).copy_(dn * r);
        dh = torch::addmm(dh * z, inside, w_hh);
        r.copy_(dr);
        z.copy_(dz);
        n.copy_(dn);
      } else {
        if (cell_ == Cell::rnn_tanh) {
          gate.copy_(dh * (1 - gate.square()));
        } else {
          gate.copy_(dh * gate.gt(0));
        }
        at::mm_out(dh, gate, w_hh);
      }
    }
    Tensors result(3);
    if (needs_x_) result[0] = gates_.view({-1, gates_.size(2)}).mm(w_ih).view(x.sizes());
    if (needs_state_) {
      result[1] = dh;
      result[2] = dc;
    }
    record(x, gru ? d_hidden : gates_, steps);
    return result;
  }

 private:
  std::int64_t at(std::int64_t step) const { return reverse_ ? gates_.size(0) - 1 - step : step; }

  void record(const torch::Tensor& x, const torch::Tensor& inside, std::int64_t steps) {
    auto before = h_.narrow(0, 0, steps);  // h_[s] goes with the gates of step s
    if (reverse_) before = before.flip(0);
    const auto by_record = [](const torch::Tensor& y) { return y.transpose(0, 1); };
    const auto outside = by_record(gates_);
    if (w_.w_ih.requires_grad())
      recorder().add(w_.w_ih, std::make_unique<OuterTerm>(by_record(x.contiguous()), outside));
    if (w_.w_hh.requires_grad())
      recorder().add(w_.w_hh, std::make_unique<OuterTerm>(by_record(before), by_record(inside)));
    if (w_.b_ih.defined() && w_.b_ih.requires_grad()) recorder().add(w_.b_ih, bias_term(outside));
    if (w_.b_hh.defined() && w_.b_hh.requires_grad())
      recorder().add(w_.b_hh, bias_term(by_record(inside)));
  }

  Cell cell_;
  Saved x_;
  Weights w_;
  torch::Tensor h0_, c0_, gates_, h_, c_, tanh_c_, inner_;
  bool reverse_, needs_x_, needs_state_;
};

}  // namespace

std::vector<torch::Tensor> recurrent(const torch::Tensor& input,
                                     const std::vector<torch::Tensor>& states,
                                     const std::vector<torch::Tensor>& weights,
                                     const RecurrentShape& shape, const std::string& layer) {
  const bool lstm = shape.cell == Cell::lstm;
  const std::size_t directions = shape.bidirectional ? 2 : 1, each = shape.biases ? 4 : 2;
  if (weights.size() != static_cast<std::size_t>(shape.layers) * directions * each)
    throw Unsupported(layer + ": projected recurrent layers have no per-sample gradient here",
                      "use a layer without proj_size, or train with micro-batches (slow)");
  auto x = (shape.batch_first ? input.transpose(0, 1) : input).contiguous();
  Tensors last_h, last_c;
  for (std::size_t l = 0; l < static_cast<std::size_t>(shape.layers); ++l) {
    Tensors outputs;
    for (std::size_t d = 0; d < directions; ++d) {
      const std::size_t k = l * directions + d, at = k * each;
      Weights w{weights[at], weights[at + 1], {}, {}};
      if (shape.biases) {
        w.b_ih = weights[at + 2];
        w.b_hh = weights[at + 3];
      }
      const auto index = static_cast<std::int64_t>(k);
      const auto h0 = states[0][index], c0 = lstm ? states[1][index] : torch::Tensor();
      auto call = c10::make_intrusive<DirectionCall>(shape.cell, x, h0, c0, w, d == 1, layer);
      Tensors inputs{x, h0};
      if (lstm) inputs.push_back(c0);
      auto result = apply_call(call, inputs, {w.w_ih, w.w_hh, w.b_ih, w.b_hh});
      outputs.push_back(result[0]);
      last_h.push_back(result[1]);
      if (lstm) last_c.push_back(result[2]);
    }
    x = directions == 1 ? outputs[0] : torch::cat(outputs, 2);
    if (shape.dropout > 0 && l + 1 < static_cast<std::size_t>(shape.layers))
      x = torch::dropout(x, shape.dropout, shape.training);
  }
  Tensors result{shape.batch_first ? x.transpose(0, 1) : x, torch::stack(last_h)};
  if (lstm) result.push_back(torch::stack(last_c));
  return result;
}

}  // namespace sotto::deep
