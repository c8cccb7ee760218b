// The yardstick of all layer tests: norms and clipped sums of one backward pass against one record
// at a time.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "sotto/deep/clipped_sum.hpp"
#include "sotto/deep/detail/probe.hpp"

namespace sotto::deep {

struct Comparison {
  double worst_norm = 0, worst_sum = 0;  // relative differences
};

inline Comparison compare_with_micro_batches(const torch::nn::Module& model,
                                             const BatchLosses& losses, const torch::Tensor& x,
                                             const torch::Tensor& y, const ClipOptions& options) {
  const std::int64_t records = x.size(0);
  ClippedSum fast(model, options), slow(model, options);
  fast.add({x, y}, [&] { return losses(x, y); });
  slow.add_by_micro_batches(
      records, [&](std::int64_t i) { return losses(x.narrow(0, i, 1), y.narrow(0, i, 1)); });
  Comparison result;
  for (std::size_t i = 0; i < fast.private_norms().size(); ++i) {
    const double a = fast.private_norms()[i], b = slow.private_norms()[i];
    result.worst_norm = std::max(result.worst_norm, std::abs(a - b) / std::max(b, 1e-30));
  }
  for (std::size_t k = 0; k < fast.sums().size(); ++k) {
    const double difference = (fast.sums()[k] - slow.sums()[k]).norm().item<double>();
    result.worst_sum =
        std::max(result.worst_sum, difference / std::max(slow.flat().norm().item<double>(), 1e-30));
  }
  EXPECT_EQ(fast.private_unclipped(), slow.private_unclipped());
  return result;
}

// Thresholds below, among and above the norms; every way of keeping gradients (no memory, plenty);
// sums in floats and in doubles.
inline void expect_like_micro_batches(const torch::nn::Module& model, const BatchLosses& losses,
                                      const torch::Tensor& x, const torch::Tensor& y,
                                      double tolerance = 2e-4) {
  for (const double norm : {0.01, 0.7, 1e6})
    for (const std::size_t memory : {std::size_t{0}, std::size_t{1} << 30}) {
      for (const ClipRule rule : {ClipRule::flat, ClipRule::per_layer, ClipRule::normalised}) {
        for (const bool doubles : {false, true}) {
          const auto c = compare_with_micro_batches(
              model, losses, x, y,
              {.rule = rule, .norm = norm, .memory = memory, .double_sums = doubles});
          EXPECT_LT(c.worst_norm, tolerance) << "C = " << norm << ", memory " << memory << ", rule "
                                             << static_cast<int>(rule) << ", doubles " << doubles;
          EXPECT_LT(c.worst_sum, tolerance) << "C = " << norm << ", memory " << memory << ", rule "
                                            << static_cast<int>(rule) << ", doubles " << doubles;
        }
      }
    }
}

}  // namespace sotto::deep
