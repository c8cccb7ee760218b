// Losses, one figure per record.
//
// What       Each function returns the losses of the records as a vector of length B, never their
//            mean or sum: record i's loss depends on record i's output alone, so gradients separate
//            by construction, and ClippedSum checks the shape.
// Guarantee  None by itself. Losses of training records are private values.
// Method     Outputs (B, K), or (B, T, K) with targets (B, T): losses of the positions of a record
//            are added up, or averaged over the record's own counted positions. Positions whose
//            target is ignore_index, or no class at all, count for nothing.
// Numerics   Binary cross-entropy and softmax take logits and are stable for large ones.
// Reference  [Hub64] for the Huber loss.
#pragma once

#include <torch/torch.h>

#include <cstdint>

namespace sotto::deep {

enum class Within { sum, mean };  // over the positions of one record

inline constexpr std::int64_t kNoIgnoredIndex = -100;

// logits (B, K) or (B, T, K) or (B, T1, T2, K); targets (B), (B, T), (B, T1, T2): class numbers, or
// ignore_index.
torch::Tensor softmax_cross_entropy(const torch::Tensor& logits, const torch::Tensor& targets,
                                    std::int64_t ignore_index = kNoIgnoredIndex,
                                    Within within = Within::mean);
// logits and targets of one shape (B, …), targets in [0, 1]; a target equal to ignore_index is not
// counted.
torch::Tensor binary_cross_entropy(const torch::Tensor& logits, const torch::Tensor& targets,
                                   std::int64_t ignore_index = kNoIgnoredIndex,
                                   Within within = Within::mean);
// (1/2)(prediction − target)².
torch::Tensor squared_loss(const torch::Tensor& predictions, const torch::Tensor& targets,
                           Within within = Within::mean);
// (1/2)e² for |e| ≤ width, width·(|e| − width/2) beyond.
torch::Tensor huber_loss(const torch::Tensor& predictions, const torch::Tensor& targets,
                         double width = 1, Within within = Within::mean);

}  // namespace sotto::deep
