#include "sotto/deep/clipped_sum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/deep/detail/kernels.hpp"
#include "sotto/deep/rows/detail/transcript.hpp"

namespace sotto::deep {
namespace {

std::vector<std::string> names_of(const std::vector<NamedParameter>& parameters) {
  std::vector<std::string> names;
  for (const auto& p : parameters) names.push_back(p.name);
  return names;
}

void require_losses(const torch::Tensor& losses, std::int64_t records) {
  if (losses.dim() == 1 && losses.size(0) == records) return;
  throw InvalidArgument(
      fmt::format("the losses have shape ({}); one loss for each of the {} records is needed",
                  fmt::join(losses.sizes().vec(), ", "), records),
      "use the losses of sotto/deep/losses.hpp, which never average over records");
}

}  // namespace

ClippedSum::ClippedSum(const torch::nn::Module& model, ClipOptions options)
    : parameters_(trainable_parameters(model)),
      public_(model),
      clipper_(std::move(options), names_of(parameters_)) {
  if (parameters_.empty()) throw InvalidArgument("the model has no trainable parameter");
  std::int64_t total = 0;
  for (const auto& p : parameters_) total += p.tensor.numel();
  flat_ = torch::zeros({total}, clipper_.options().double_sums ? torch::kDouble : torch::kFloat);
  std::int64_t at = 0;
  for (const auto& p : parameters_) {
    sums_.push_back(flat_.narrow(0, at, p.tensor.numel()).view(p.tensor.sizes()));
    at += p.tensor.numel();
  }
}

torch::Tensor ClippedSum::add(const rows::RecordTensors& batch, const Losses& losses,
                              const std::vector<bool>& empty,
                              const std::vector<double>& row_norms) {
  if (batch.empty()) throw InvalidArgument("a batch has at least one tensor of records");
  const std::int64_t records = batch.front().records();
  if (records == 0) return torch::zeros({0});
  for (const auto& p : parameters_) p.tensor.mutable_grad() = torch::Tensor();
  Recorder recorder(parameters_, records, room());
  torch::Tensor result;
  {
    const Recorder::Scope scope(recorder);
    rows::Pass pass(public_, batch);
    {
      const rows::Pass::Watch watch(pass);
      result = losses();
    }
    require_losses(result, records);
    pass.finish(result);
    result.backward(torch::ones_like(result));
  }
  recorder.finish();
  terms_ = std::max(terms_, recorder.terms());
  joint_rounding_ |= recorder.has_joint_rounding();

  std::vector<const std::vector<double>*> squares;
  for (std::size_t k = 0; k < parameters_.size(); ++k)
    squares.push_back(&recorder.squared_norms(k));
  ClipFactors clip = take_factors(squares, static_cast<std::size_t>(records), empty, row_norms);
  std::vector<torch::Tensor> factors;
  for (auto& group : clip.factors) factors.push_back(torch::from_blob(group.data(), {records}));
  for (std::size_t k = 0; k < parameters_.size(); ++k)
    recorder.weighted_sum(k, factors[clipper_.group_of(k)], clip.dropped, sums_[k], empty_);
  empty_ = false;
  return result.detach();
}

void ClippedSum::add_by_micro_batches(std::int64_t records,
                                      const std::function<torch::Tensor(std::int64_t)>& loss,
                                      const std::vector<bool>& empty) {
  if (records > 0 && empty_) {
    flat_.zero_();
    empty_ = false;
  }
  std::vector<double> norms;
  for (std::int64_t i = 0; i < records; ++i) {
    if (!empty.empty() && empty[static_cast<std::size_t>(i)]) {
      norms.push_back(0);
      continue;
    }
    for (const auto& p : parameters_) p.tensor.mutable_grad() = torch::Tensor();
    loss(i).sum().backward();
    std::vector<std::vector<double>> own;
    for (const auto& p : parameters_) {
      if (!p.tensor.grad().defined())
        throw Unsupported(fmt::format("parameter {} received no gradient", p.name),
                          "use it on the way to the loss, or freeze it with requires_grad_(false)");
      if (p.tensor.grad().is_sparse()) p.tensor.mutable_grad() = p.tensor.grad().to_dense();
      own.push_back(row_squares(p.tensor.grad().contiguous().view({1, -1})));
    }
    std::vector<const std::vector<double>*> squares;
    for (const auto& s : own) squares.push_back(&s);
    const ClipFactors clip = take_factors(squares, 1);
    norms.push_back(norms_.front());
    if (!clip.dropped.empty()) continue;
    for (std::size_t k = 0; k < parameters_.size(); ++k)
      sums_[k].add_(parameters_[k].tensor.grad(), clip.factors[clipper_.group_of(k)].front());
  }
  for (const auto& p : parameters_) p.tensor.mutable_grad() = torch::Tensor();
  norms_ = std::move(norms);
}

void ClippedSum::rehearse(const rows::RecordTensors& made_up, const rows::LossesOf& losses) const {
  rows::rehearse(public_, made_up, [&](const std::vector<torch::Tensor>& batch) {
    Recorder recorder(parameters_, made_up.front().records(), room());
    const Recorder::Scope scope(recorder);
    return losses(batch);
  });
}

bool ClippedSum::same_for_any_size(const std::vector<rows::RecordTensors>& made_up,
                                   const rows::LossesOf& losses) const {
  return rows::same_for_any_size(public_, made_up, [&](const rows::RecordTensors& batch) {
    Recorder recorder(parameters_, batch.front().records(), room());
    const Recorder::Scope scope(recorder);
    std::vector<torch::Tensor> tensors;
    for (const auto& [tensor, axis] : batch) tensors.push_back(tensor);
    return losses(tensors);
  });
}

NormRoom ClippedSum::room() const {
  const ClipOptions& options = clipper_.options();
  return {.memory = options.memory, .double_sums = options.double_sums, .rows = options.rows};
}

ClipFactors ClippedSum::take_factors(const std::vector<const std::vector<double>*>& squares,
                                     std::size_t records, const std::vector<bool>& empty,
                                     const std::vector<double>& row_norms) {
  norms_.assign(records, 0);
  for (const auto* s : squares)
    for (std::size_t i = 0; i < records; ++i) norms_[i] += (*s)[i];
  for (double& n : norms_) n = std::sqrt(n);
  ClipFactors clip = clipper_.factors(squares, records, empty, row_norms);
  records_ += static_cast<std::int64_t>(records) - std::count(empty.begin(), empty.end(), true);
  unclipped_ += clip.unclipped;
  return clip;
}

void ClippedSum::clear() {
  empty_ = true;
  records_ = unclipped_ = 0;
}

std::vector<torch::Tensor>& ClippedSum::sums() {
  flat();
  return sums_;
}

torch::Tensor& ClippedSum::flat() {
  if (empty_) flat_.zero_();
  return flat_;
}

// docs/math/per-sample-clipping.md, Proposition 1: two sums, each off by depth·2⁻⁵³·512·records·C',
// within a quarter of a hundredth; beside them stand two chunks in floats, each in two versions.
static_assert(4 * (kFloatChunk + 2) * kFloatChunk * 0x1p-24 < 0.7 * kRoundingAllowance);
bool ClippedSum::rounding_is_bounded(double records) const {
  const auto t = static_cast<double>(terms_);
  const double depth = 512 + 16 * t + records * t + records;
  return clipper_.options().double_sums && !joint_rounding_ &&
         2 * depth * 0x1p-53 * 512 * records < kRoundingAllowance / 4;
}

double ClippedSum::sensitivity(Relation relation) const {
  return (relation == Relation::replace_one ? 2 : 1) * clipper_.options().norm;
}

}  // namespace sotto::deep
