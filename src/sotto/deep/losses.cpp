#include "sotto/deep/losses.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"

namespace sotto::deep {
namespace {

void require_shape(const char* loss, const torch::Tensor& tensor, at::IntArrayRef wanted) {
  if (tensor.sizes() == wanted) return;
  throw InvalidArgument(fmt::format("{}: the targets have shape ({}), the outputs want ({})", loss,
                                    fmt::join(tensor.sizes().vec(), ", "),
                                    fmt::join(wanted.vec(), ", ")));
}

// (B, …) to (B): added up, or averaged over the positions that count.
torch::Tensor within_records(const torch::Tensor& losses, const torch::Tensor& counted,
                             Within within) {
  if (losses.dim() == 1) return losses;
  const auto sums = losses.flatten(1).sum(1);
  if (within == Within::sum) return sums;
  if (!counted.defined())
    return sums / static_cast<double>(std::max<std::int64_t>(
                      losses.numel() / std::max<std::int64_t>(losses.size(0), 1), 1));
  return sums / counted.flatten(1).sum(1).clamp_min(1);
}

}  // namespace

torch::Tensor softmax_cross_entropy(const torch::Tensor& logits, const torch::Tensor& targets,
                                    std::int64_t ignore_index, Within within) {
  if (logits.dim() < 2)
    throw InvalidArgument(
        "softmax_cross_entropy: the outputs need an axis of records and one of classes");
  require_shape("softmax_cross_entropy", targets,
                logits.sizes().slice(0, static_cast<std::size_t>(logits.dim() - 1)));
  // Whether some record has a class that nobody declared is private: it must not stop a run.
  const auto unknown = targets.clamp(0, logits.size(-1) - 1).ne(targets);
  const auto classes = targets.masked_fill(unknown, ignore_index);
  const auto logs = torch::log_softmax(logits, -1);
  const auto none = at::Reduction::None;
  if (targets.dim() == 1) return torch::nll_loss(logs, classes, {}, none, ignore_index);
  const auto losses = torch::nll_loss(logs.reshape({-1, logits.size(-1)}), classes.reshape({-1}),
                                      {}, none, ignore_index)
                          .view(targets.sizes());
  if (within == Within::sum) return within_records(losses, {}, within);
  return within_records(losses, classes.ne(ignore_index), within);
}

torch::Tensor binary_cross_entropy(const torch::Tensor& logits, const torch::Tensor& targets,
                                   std::int64_t ignore_index, Within within) {
  require_shape("binary_cross_entropy", targets, logits.sizes());
  const auto counted = targets.ne(static_cast<double>(ignore_index));
  const auto safe = torch::where(counted, targets, torch::zeros_like(targets));
  const auto losses =
      torch::binary_cross_entropy_with_logits(logits, safe, {}, {}, at::Reduction::None);
  return within_records(losses * counted, counted, within);
}

torch::Tensor squared_loss(const torch::Tensor& predictions, const torch::Tensor& targets,
                           Within within) {
  require_shape("squared_loss", targets, predictions.sizes());
  return within_records(0.5 * (predictions - targets).square(), {}, within);
}

torch::Tensor huber_loss(const torch::Tensor& predictions, const torch::Tensor& targets,
                         double width, Within within) {
  if (!(width > 0))
    throw InvalidArgument(
        fmt::format("the width of the Huber loss must be above 0, not {}", width));
  require_shape("huber_loss", targets, predictions.sizes());
  return within_records(torch::huber_loss(predictions, targets, at::Reduction::None, width), {},
                        within);
}

}  // namespace sotto::deep
