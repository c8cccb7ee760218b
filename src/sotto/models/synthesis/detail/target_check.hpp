// Detail: what a generator says of the target given the other columns, and how far that holds.
//
// What       TargetPrediction: P(t | x) of a Markov model, from its potentials. TargetCheck: two
//            sums over records that show whether the records depend on what is predicted as much as
//            the model says: columns that say the same are counted once for each of them, and what
//            noise made of them is no dependence at all.
// Guarantee  sums() is private and is noised by who asks. With f(x, t) the predicted excess, cut to
//            [−1, 1], a record adds f(x, t) to the first and Σ_k P(k | x)·f(x, k) to the second,
//            both in [−1, 1] and in whole steps of 1/kScoreSteps: each moves by at most 1, replaced
//            by at most 2. slope() is post-processing.
// Method     f of a class is P(t | x) − P(t), of a number (E[s | x] − E[s])·v with ranks s of
//            levels and v = ±1 for the upper and lower half of them; in units of twice its root
//            mean square among records of the model. If the model held, both sums would be the
//            same on average.
// Reference  docs/math/synthesis.md.
#pragma once

#include <span>
#include <vector>

#include "sotto/learning/source.hpp"
#include "sotto/models/synthesis/detail/cell_columns.hpp"
#include "sotto/models/synthesis/detail/synthesis_model.hpp"

namespace sotto {

class TargetPrediction {
 public:
  // The model must outlive it and has potentials.
  TargetPrediction(const SynthesisModel& model, std::size_t target);

  // levels: one of each column; that of the target does not matter. Probabilities of its levels.
  void operator()(std::span<const std::uint32_t> levels, std::vector<double>& probability) const;

 private:
  struct Term {
    std::size_t index = 0;
    std::vector<std::size_t> stride = {};   // of each of its columns
    std::size_t own = 0;                    // of the target
    std::vector<std::uint32_t> group = {};  // of each combination
  };
  const SynthesisModel& model_;
  std::size_t target_;
  std::vector<double> alone_;  // potential of each level of the target
  std::vector<Term> terms_;
};

class TargetCheck {
 public:
  // records: drawn from the model, level by level. Both columns and model must outlive it.
  TargetCheck(const CellColumns& columns, const SynthesisModel& model,
              const std::vector<std::uint32_t>& records);

  static constexpr std::size_t kSums = 2;
  std::vector<int128> sums(Source& source) const;
  // What the second sum would be if the records were the model's.
  double expected() const { return expected_; }

 private:
  double excess(std::span<const double> probability, std::size_t level) const;

  const CellColumns& columns_;
  const SynthesisModel& model_;
  std::size_t target_;
  TargetPrediction predict_;
  std::vector<double> share_, score_, sign_;  // of each level of the target
  double scale_ = 1, expected_ = 0;
};

// By how much what the model says of the target holds, 0 … 1: the ratio of the noisy sums, of this
// deviation each, weighed against what is usual.
double checked_slope(std::span<const double> sums, double deviation, double expected);

}  // namespace sotto
