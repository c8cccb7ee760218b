// GradientTerm: what one use of a parameter in one forward pass adds to the gradient of every
// record.
//
// What       Three shapes cover all layers. OuterTerm: g_i = Σ_t b_it a_itᵀ (weights of linear,
//            recurrent and attention layers).
//            DirectTerm: g_i written out (biases, scales, small convolutions). GatherTerm: rows
//            picked by index (embeddings).
//            Convolutions add their own (layers/conv.cpp).
// Guarantee  None by itself (see recorder.hpp).
// Method     A use gives squared norms per record, the weighted sum Σ_i c_i·g_i, and, when asked,
//            the gradients written out.
// Numerics   squared_norms() never returns less than the exact squared norm of what weighted_sum()
//            adds, up to the relative 1e-9 of docs/math/per-sample-clipping.md: ghost norms carry
//            their rounding error as a surcharge.
// Reference  docs/math/per-sample-clipping.md.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "sotto/deep/cost.hpp"

namespace sotto::deep {

// The rows of the parameter that a use speaks of: [first, first + count). Uses of disjoint rows are
// orthogonal.
struct Rows {
  std::int64_t first = 0;
  std::int64_t count = -1;  // −1: all
  bool operator==(const Rows&) const = default;
};

class GradientTerm {
 public:
  virtual ~GradientTerm() = default;

  // Adds the squared norm of every record's gradient. Called once, before weighted_sum; may choose
  // how to store the rest.
  virtual void add_squared_norms(std::vector<double>& squares, NormRoom& room) = 0;
  // out = beta·out + Σ_i factors[i]·g_i, out shaped as the rows of the parameter, floats or
  // doubles; it is added up in the type of out, single terms in chunks of floats.
  // factors: float, one per record.
  virtual void weighted_sum(const torch::Tensor& factors, torch::Tensor& out, double beta) = 0;
  // The gradients written out: (B, elements), float.
  virtual torch::Tensor per_sample() = 0;
  // Makes what is stored of these records zero: 0·NaN is not 0.
  virtual void drop(const torch::Tensor& records) = 0;
  // Takes in another use of the same rows when the two make one of the same shape; false when they
  // do not.
  virtual bool join(GradientTerm& other) = 0;

  Rows rows;
};

// Rows that are added up in floats before doubles take over, where T = 1:
// docs/math/per-sample-clipping.md, Proposition 1.
inline constexpr std::int64_t kFloatChunk = 160;

// g_i = Σ_t b_it a_itᵀ, a: (B, T, inputs), b: (B, T, outputs); both records first or both terms
// first in memory.
class OuterTerm : public GradientTerm {
 public:
  // a_squares: ‖a_i‖² of every record, where T = 1 and somebody has taken them already.
  OuterTerm(torch::Tensor a, torch::Tensor b, std::vector<double> a_squares = {});
  void add_squared_norms(std::vector<double>& squares, NormRoom& room) override;
  void weighted_sum(const torch::Tensor& factors, torch::Tensor& out, double beta) override;
  torch::Tensor per_sample() override;
  void drop(const torch::Tensor& records) override;
  bool join(GradientTerm& other) override;

 private:
  torch::Tensor a_, b_;
  std::vector<double> a_squares_;
  torch::Tensor written_;  // (B, outputs·inputs) when the gradients were written out and kept
  std::vector<std::int64_t> huge_;  // records whose terms are too large for sums in floats
};

// g_i written out: (B, elements).
class DirectTerm : public GradientTerm {
 public:
  explicit DirectTerm(torch::Tensor gradients);
  void add_squared_norms(std::vector<double>& squares, NormRoom& room) override;
  void weighted_sum(const torch::Tensor& factors, torch::Tensor& out, double beta) override;
  torch::Tensor per_sample() override { return gradients_; }
  void drop(const torch::Tensor& records) override;
  bool join(GradientTerm& other) override;

 private:
  torch::Tensor gradients_;
};

// Rows of a table picked by index: g_i has the rows Σ_{t: index_it = v} b_it. indices: (B, T), b:
// (B, T, columns). Never one-hot.
class GatherTerm : public GradientTerm {
 public:
  GatherTerm(torch::Tensor indices, torch::Tensor b, std::int64_t table_rows, std::int64_t padding);
  void add_squared_norms(std::vector<double>& squares, NormRoom& room) override;
  void weighted_sum(const torch::Tensor& factors, torch::Tensor& out, double beta) override;
  torch::Tensor per_sample() override;
  void drop(const torch::Tensor& records) override;
  bool join(GradientTerm& other) override;

 private:
  torch::Tensor indices_, b_;
  std::int64_t table_rows_, padding_;
};

// The gradient of a bias: b (B, T, outputs) summed over t.
std::unique_ptr<GradientTerm> bias_term(const torch::Tensor& b);

}  // namespace sotto::deep
