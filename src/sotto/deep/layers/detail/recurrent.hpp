// Recurrent layers with per-sample gradients: RNN (tanh, relu), LSTM and GRU, stacked and in both
// directions.
//
// What       recurrent() runs the whole stack; weights are laid out as in torch::nn: for each layer
//            and direction w_ih, w_hh and, with biases, b_ih, b_hh. torch::nn::RNN, LSTM and GRU
//            reach it through interception (intercept.hpp).
// Guarantee  None by itself (see recorder.hpp).
// Method     One node of the graph for a whole sequence: back-propagation through time leaves the
//            gate gradients of all steps, and the weights are sums of T outer products with the
//            inputs and with the previous states (OuterTerm).
// Numerics   As in gradient_term.hpp.
// Reference  docs/math/per-sample-clipping.md.
#pragma once

#include <torch/torch.h>

#include <string>
#include <vector>

namespace sotto::deep {

enum class Cell { rnn_tanh, rnn_relu, lstm, gru };

struct RecurrentShape {
  Cell cell = Cell::lstm;
  std::int64_t layers = 1;
  bool biases = true, bidirectional = false, batch_first = true;
  double dropout = 0;
  bool training = true;
};

// input (B, T, n) when batch_first, else (T, B, n); states: h0, and c0 for an LSTM,
// (layers·directions, B, hidden).
// Returns the outputs, the last h and, for an LSTM, the last c.
std::vector<torch::Tensor> recurrent(const torch::Tensor& input,
                                     const std::vector<torch::Tensor>& states,
                                     const std::vector<torch::Tensor>& weights,
                                     const RecurrentShape& shape,
                                     const std::string& layer = "recurrent");

}  // namespace sotto::deep
