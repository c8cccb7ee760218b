// Detail: the noisy descents of kernel and additive models on binned records, and where they lead.
//
// What is released on the way, and what it costs, stands in kernel_training.hpp; the figures are
// those of KernelMechanisms. Other models may go on from what was reached.
#pragma once

#include <vector>

#include "sotto/core/progress.hpp"
#include "sotto/models/kernel/detail/binned_rows.hpp"
#include "sotto/models/kernel/detail/kernel_mechanisms.hpp"
#include "sotto/models/kernel/detail/kernel_model.hpp"

namespace sotto {

class FeatureRows;
class KernelRows;

class KernelDescent {
 public:
  // Both must outlive it. private_run: with noise; without it the result is NOT PRIVATE.
  KernelDescent(const KernelSetting& setting, const KernelMechanisms& mechanisms, bool private_run)
      : setting_(setting), mechanisms_(mechanisms), private_(private_run) {}

  struct Reached {
    KernelModel model = {};
    std::vector<ColumnScale> scales = {};
    // Only when asked for: how much each column matters, and the margins of the records, which are
    // private, one for each output of each record.
    std::vector<double> uses = {};
    std::vector<float> margins = {};
    std::vector<PairCredit> found = {};  // pairs of columns that say something together
    double clip = 1;                     // of the last residuals
    double believed = 1;                 // of a number: what its model was multiplied by
    // Rounds of the third stage that are left to whoever goes on: most, where the trial found
    // little.
    std::uint64_t left = 0;
  };
  // Whether somebody goes on from what is reached; instead: and takes most of the rounds of the
  // third stage where the trial finds little.
  enum class GoesOn { no, after, instead };
  Reached run(const BinnedRows& records, Rng& rng, Progress& progress,
              GoesOn goes_on = GoesOn::no) const;
  // Main effects once more, from reached.margins on, for so many of the rounds that were left.
  void go_on(const BinnedRows& records, std::uint64_t rounds, Reached& reached, Rng& rng,
             Progress& progress) const;

 private:
  struct State {
    double clip = 1;
    std::uint64_t round = 0;  // over all stages
  };
  std::vector<double> noised(const LatticeNoise& noise, const std::vector<int128>& sums,
                             Rng& rng) const;
  void centre(const KernelStage& stage, FeatureDesign& design, const FeatureRows& rows,
              Rng& rng) const;
  // Shrinks what was fitted, and the margins, towards the mean as far as it is noise; by what.
  double believe(const BinnedRows& records, double clip, KernelModel& model,
                 std::span<const float> straight, std::span<float> margins, Rng& rng) const;
  // least: what the loss of a record has to fall by, on average.
  bool improves(const BinnedRows& records, std::span<const float> before,
                std::span<const float> after, double clip, double least, Rng& rng) const;
  std::vector<bool> numeric_columns() const;
  std::vector<PairCredit> found_pairs(const BinnedRows& records,
                                      const std::vector<ColumnScale>& scales,
                                      const std::vector<double>& uses,
                                      std::span<const float> margins, double clip, Rng& rng) const;
  // Returns the standard deviation of what noise has added to each parameter, without what
  // momentum has not carried there yet.
  double descend(const KernelStage& stage, const KernelRows& rows, State& state,
                 KernelModel::Part& part, Rng& rng, Progress& progress) const;

  const KernelSetting& setting_;
  const KernelMechanisms& mechanisms_;
  bool private_;
};

}  // namespace sotto
