// Detail: a network trained with canaries that are gradients (learning/gradient_canaries.hpp).
#pragma once

#include <optional>
#include <vector>

#include "sotto/deep/models/network.hpp"
#include "sotto/deep/training/trainer.hpp"

namespace sotto::deep {

struct CanaryTraining {
  const NetworkOptions& network;
  const DpSgdPlan* plan;  // null: without noise, NOT PRIVATE
  PlainPlan plain;
  TrainerOptions options;
  bool classification;

  // Σ_t ⟨noisy sum_t, direction_k⟩/σ_t of each canary.
  std::vector<double> scores(const Records& records, const std::vector<bool>& in, Rng& rng) const;
};

}  // namespace sotto::deep
