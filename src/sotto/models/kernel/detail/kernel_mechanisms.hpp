// Detail: what a budget buys a descent on feature rows: sizes of features, noise, rounds, steps.
//
// The guarantee and its derivation stand in kernel_training.hpp; here are the figures.
#pragma once

#include <optional>
#include <vector>

#include "sotto/models/kernel/detail/feature_map.hpp"
#include "sotto/models/kernel/detail/kernel_training.hpp"
#include "sotto/models/kernel/detail/margin_loss.hpp"

namespace sotto {

// What is fixed before the budget is known.
struct KernelSetting {
  Relation relation;
  double rows, contributions;
  MarginLoss loss;
  std::size_t outputs;
  const BinnedColumns& columns;
  KernelOptions options;
  double share = 1;  // of a budget whose rest goes elsewhere: features are chosen by the whole
};

// One descent: the releases that centre its features, and its rounds.
struct KernelStage {
  FeatureSizes sizes;
  std::optional<LatticeNoise> waves = {}, leaves = {};
  std::uint64_t rounds = 0;
  double time = 0;  // τ
  double rho = 0;   // of a round
  std::optional<LatticeNoise> gradient = {};
};

struct KernelMechanisms {
  static constexpr double kWaveUnit = 0x1p-15, kCountUnit = 0x1p-20;

  FeatureSizes sizes;  // of the last stage
  MarginalsPlan marginals;
  std::optional<LatticeNoise> residuals;
  // One; or three, after slopes: main effects, a trial of all features, and what the trial speaks
  // for.
  std::vector<KernelStage> stages;
  std::optional<KernelStage> slopes;  // before them where they are three, of a number
  // In the place of the third: the same noise on fewer coordinates, which the event covers.
  std::optional<KernelStage> otherwise;
  std::optional<LatticeNoise> pairs;  // after main effects, where trees are used
  std::optional<LatticeNoise> trial;  // how much the trial made the loss smaller
  std::optional<LatticeNoise> worth;  // of a number: how far the model is to be believed
  // What a trial has to lower the loss of a record by, on average: at least, and where others would
  // go on instead.
  double least_fall = 0.01, little_fall = 0.01;

  KernelMechanisms(const KernelSetting& setting, double rho);
  Event event() const;
  std::uint64_t rounds() const;  // of all stages
  // Of a number: before which rounds residuals are measured. Slopes but for their first round are
  // left out, so that the last measure falls into the third stage, whose noise it settles.
  bool measures_residuals_at(std::uint64_t round) const;
  std::uint64_t past_residuals() const;  // a round from which on they are not
};

}  // namespace sotto
