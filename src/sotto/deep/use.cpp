#include "sotto/deep/use.hpp"

#include "sotto/deep/cost.hpp"
#include "sotto/deep/kernels.hpp"

namespace sotto::deep {
namespace {

void add_to(std::vector<double>& sum, const std::vector<double>& terms) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += terms[i];
}

// out = beta·out + Σ_i factors[i]·gradients[i].
void sum_written(const torch::Tensor& gradients, const torch::Tensor& factors, torch::Tensor& out,
                 double beta) {
  auto flat = out.view({-1});
  at::addmv_out(flat, flat, gradients.t(), factors, beta, 1);
}

}  // namespace

OuterUse::OuterUse(torch::Tensor a, torch::Tensor b) : a_(std::move(a)), b_(std::move(b)) {}

void OuterUse::add_squared_norms(std::vector<double>& squares, std::size_t& memory) {
  if (a_.size(1) == 1) {
    const auto a = row_squares(a_), b = row_squares(b_);
    for (std::size_t i = 0; i < squares.size(); ++i) squares[i] += a[i] * b[i];
    return;
  }
  const auto way = cheapest_norm({a_.size(0), a_.size(1), a_.size(2), b_.size(2)}, memory);
  if (way == NormWay::ghost) {
    add_to(squares, ghost_squares(a_, b_));
    return;
  }
  std::vector<double> own;
  written_ = outer_products(a_, b_, way == NormWay::keep, &own);
  add_to(squares, own);
  if (way == NormWay::keep) {
    memory -= written_.nbytes();
    a_ = b_ = torch::Tensor();
  }
}

void OuterUse::weighted_sum(const torch::Tensor& factors, torch::Tensor& out, double beta) {
  if (written_.defined()) return sum_written(written_, factors, out, beta);
  const auto scaled = (b_ * factors.view({-1, 1, 1})).view({-1, b_.size(2)});
  at::addmm_out(out, out, scaled.t(), a_.view({-1, a_.size(2)}), beta, 1);
}

torch::Tensor OuterUse::per_sample() {
  if (!written_.defined()) written_ = outer_products(a_, b_, true, nullptr);
  return written_;
}

void OuterUse::drop(const torch::Tensor& records) {
  for (auto* tensor : {&a_, &b_, &written_})
    if (tensor->defined()) *tensor = tensor->index_fill(0, records, 0);
}

bool OuterUse::join(Use& other) {
  auto* same = dynamic_cast<OuterUse*>(&other);
  if (same == nullptr || !(same->rows == rows)) return false;
  a_ = torch::cat({a_, same->a_}, 1);
  b_ = torch::cat({b_, same->b_}, 1);
  return true;
}

DirectUse::DirectUse(torch::Tensor gradients) : gradients_(std::move(gradients)) {}

void DirectUse::add_squared_norms(std::vector<double>& squares, std::size_t&) {
  add_to(squares, row_squares(gradients_));
}

void DirectUse::weighted_sum(const torch::Tensor& factors, torch::Tensor& out, double beta) {
  sum_written(gradients_, factors, out, beta);
}

void DirectUse::drop(const torch::Tensor& records) {
  gradients_ = gradients_.index_fill(0, records, 0);
}

bool DirectUse::join(Use& other) {
  auto* same = dynamic_cast<DirectUse*>(&other);
  if (same == nullptr || !(same->rows == rows)) return false;
  gradients_ = gradients_ + same->gradients_;
  return true;
}

std::unique_ptr<Use> bias_use(const torch::Tensor& b) {
  return std::make_unique<DirectUse>(b.size(1) == 1 ? b.view({b.size(0), b.size(2)}) : b.sum(1));
}

}  // namespace sotto::deep
