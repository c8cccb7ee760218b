// Trainer: runs a plan on records.
//
// What       DpSgdPlan plan({.records = 60000, .batch = 2048, .epochs = 20, .clip = 0.5, .epsilon =
//            3, .delta = 1e-5});
//            Trainer trainer(*model, plan, [&](auto& x, auto& y) { return
//            softmax_cross_entropy(model->forward(x), y); }); trainer.fit(records, rng);
//            Release<TensorMap> release = trainer.release();        // value and event
// Guarantee  What leaves (the model, checkpoints, ε) is a function of released figures and public
//            facts. The event of a release is that of the steps that ran. Nothing runs beyond the
//            planned steps: one more throws BudgetExceeded.
// Method     A step: the plan's sampler draws a batch; physical batches small enough for memory are
//            clipped and added up (ClippedSum); noise is added once; the sum is divided by the
//            public expected batch size; the optimiser takes it from there. An empty batch is a
//            step like any other. Buffers and frozen parameters stay as they were given. A record
//            that is not finite contributes zero.
//            With micro_batches each record is run alone.
//            With a PlainPlan the same loop trains without clipping and noise: NOT PRIVATE, no
//            event.
//            Every forward pass is followed operation by operation: model and objective are proved
//            to treat records one by one, or refused
//            (rows/pass.hpp). Memory read past the operations is looked for once, on made-up
//            records (rows/rehearsal.hpp).
//            Where a record may be absent, physical batches have the size of the sample, for models
//            that make nothing of the number of rows (rows/transcript.hpp; with exact noise: one of
//            some sizes in which rows are computed alike); for others every one has the same public
//            size and records sit on random rows (seats.hpp).
//            Individual accounting: before some steps the norms of all records are taken, and each
//            gets the threshold that covers its norm and that its budget pays for until the next
//            time. What was spent stays in memory, so such a run cannot be interrupted.
// Numerics   Several physical batches are added up in double; with exact noise, single records too.
// Reference  [ACGMMTZ16]; docs/math/private-training.md.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <type_traits>

#include "sotto/core/release.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/deep/clipped_sum.hpp"
#include "sotto/deep/training/iterate.hpp"
#include "sotto/deep/training/optimizer.hpp"
#include "sotto/deep/training/plan.hpp"
#include "sotto/deep/training/records.hpp"
#include "sotto/deep/training/safetensors.hpp"
#include "sotto/deep/training/seats.hpp"
#include "sotto/learning/individual_filter.hpp"

namespace sotto::deep {

// The loss of every record of a batch: a vector of length B (losses.hpp). Made of a function of
// (inputs, targets), or of the whole batch.
class Objective {
 public:
  template <class F>
  requires std::is_invocable_r_v<torch::Tensor, F&, const torch::Tensor&, const torch::Tensor&>
  Objective(F f)
      : losses_([f = std::move(f)](const Batch& b) mutable { return f(b.inputs, b.targets); }) {}
  template <class F>
  requires std::is_invocable_r_v<torch::Tensor, F&, const Batch&> Objective(F f)
      : losses_(std::move(f)) {}

  torch::Tensor operator()(const Batch& batch) const { return losses_(batch); }

 private:
  std::function<torch::Tensor(const Batch&)> losses_;
};

// Ordinary training, NOT PRIVATE: which batches, how many.
struct PlainPlan {
  Sampling sampling = Sampling::poisson;
  std::uint64_t records = 0;
  double batch = 0;
  std::uint64_t steps = 0;
};

struct TrainerOptions {
  OptimizerOptions optimizer = {};
  Iterate iterate = Iterate::last;
  double ema_decay = 0.99;
  ClipRule clip_rule = ClipRule::flat;
  bool zero_above = false;  // gradients beyond the clip norm count for nothing (flat only)
  // For clipping by groups: the group of every record of a batch as int64, from 0; a function of
  // each record alone. Other numbers are no group.
  std::function<torch::Tensor(const Batch&)> group_of = {};
  std::size_t memory = std::size_t{2} << 30;  // cap on the memory of a step, in bytes
  std::int64_t physical_batch = 0;            // records at once; 0: what fits, at most 512
  // Each record is run alone, buffers and frozen parameters being put back in between: for models
  // without per-sample gradients in one pass. Slow; nothing is followed there, but that nothing of
  // a record is kept for the next one is tried on made-up records.
  bool micro_batches = false;
  // Public tensors that the objective holds without the model having them registered: class
  // weights, masks. Records never touch them.
  std::vector<torch::Tensor> constants = {};
  // Every step draws from a generator made of this seed and its number: repeatable, also across a
  // resume. NOT PRIVATE.
  std::optional<std::uint64_t> insecure_seed = {};
};

class Trainer {
 public:
  Trainer(torch::nn::Module& model, DpSgdPlan plan, Objective objective,
          TrainerOptions options = {});
  Trainer(torch::nn::Module& model, PlainPlan plan, Objective objective,
          TrainerOptions options = {});

  bool is_private() const { return plan_.has_value(); }
  std::uint64_t planned() const { return planned_; }
  std::uint64_t done() const { return done_; }
  double expected_batch() const { return sampler_.expected_batch(); }  // public

  // Finds how many records fit into memory and tries the model, on made-up records of this shape:
  // nothing is read. step() does it when nobody did; a run that is paid for does it before the
  // payment. Throws InvalidArgument, Unsupported.
  void prepare(const RecordSource& like);

  // Called after every step; false stops fit(). May look at the trainer, never at private_loss() to
  // decide.
  using AfterStep = std::function<bool(const Trainer&)>;
  // Runs the steps that are left. May be called again to go on.
  void fit(const RecordSource& records, Rng& rng, const AfterStep& after = {});
  // One step. Throws BudgetExceeded when the planned steps have run.
  void step(const RecordSource& records, Rng& rng);

  // What ran so far; nothing for plain training.
  std::optional<Event> event() const;
  // ε of what ran so far, at δ: the accountant's answer.
  Bound epsilon(double delta, const AccountOptions& options = {}) const;
  // Puts the iterate to release into the model, and hands it out with the event. Throws Unsupported
  // for plain training.
  Release<TensorMap> release();
  // The same of plain training, NOT PRIVATE. Throws Unsupported for a private run.
  Unprotected<TensorMap> unprotected();

  // Everything needed to go on later, and the way back. Contains released figures only (NOT for
  // plain training).
  TensorFile state() const;
  // Throws VerificationFailed when the state belongs to other privacy parameters, another optimiser
  // or another model.
  void restore(const TensorFile& state);

  const TrainerOptions& options() const { return options_; }
  const std::optional<DpSgdPlan>& plan() const { return plan_; }
  double clip() const {
    return clip_;
  }  // now: adaptive clipping moves it, from released counts only
  std::int64_t physical_batch() const { return physical_; }
  // What is known of model and objective once prepare() or a step has returned: words for
  // certificates.
  std::string row_by_row() const;
  // Of the physical batches of all steps, also before a resume; public. 0 where it does not apply.
  struct RowSizes {
    std::int64_t rehearsed = 0;        // any size was used: the largest that was rehearsed
    std::int64_t least = 0, most = 0;  // filled up to one of several
  };
  const RowSizes& row_sizes() const { return used_; }
  // Whether what 32-bit arithmetic does to the sums is proved to be paid for: exact noise, and rows
  // that were found to be computed apart.
  bool rounding_is_proved() const { return exact() && proved_; }
  // Mean loss of the last batch. PRIVATE: for a labelled diagnostic on request only.
  double private_loss() const { return private_loss_; }

 private:
  TensorMap parameters_to_release();
  Trainer(torch::nn::Module& model, std::optional<DpSgdPlan> plan, const PlainPlan& sampling,
          Objective objective, TrainerOptions options);
  void descend_privately(const RecordSource& records, const Seats& seats, Rng& rng);
  torch::Tensor plain_sum(const RecordSource& records, const Seats& seats);
  std::vector<std::int64_t> groups_in(const Batch& batch) const;
  void count_group(const std::vector<std::int64_t>& of_group, std::size_t i, double norm,
                   std::vector<std::int64_t>& counts) const;
  std::vector<double> row_norms_of(const std::vector<std::int64_t>& of_group) const;
  std::vector<double> own_norms(std::span<const std::int64_t> rows) const;
  Seats seats_for_norms(std::size_t records, Rng& rng) const;
  void choose_thresholds(const RecordSource& records, Rng& rng);
  void set_group_clips();
  torch::Tensor add_one_by_one(const Batch& batch, const std::vector<bool>& empty);
  void check_records_alone(const Batch& batch);
  void check_model(const RecordSource& records);
  bool exact() const { return plan_ && plan_->options().noise == NoiseKind::exact; }
  bool sizes_are_private() const;
  template <class MadeUp>
  void plan_sizes(MadeUp&& made_up);
  Seats seats(std::vector<std::int64_t> batch, Rng& rng) const;
  void find_physical_batch(const RecordSource& records);
  using PartVisit = std::function<void(const Batch&, std::span<const std::int64_t> rows)>;
  void for_physical_batches(const RecordSource& records, const Seats& seats,
                            const PartVisit& visit);
  std::string fingerprint() const;
  void remember_untrained();
  void restore_untrained();

  torch::nn::Module& model_;
  std::optional<DpSgdPlan> plan_;
  BatchSampler sampler_;
  std::uint64_t planned_, done_ = 0;
  Objective objective_;
  TrainerOptions options_;
  ClippedSum clipped_;
  std::vector<std::pair<torch::Tensor, torch::Tensor>> untrained_;  // live, and as they must stay
  std::optional<GradientNoise> noise_;
  std::optional<AdaptiveClipping> adaptive_;
  Optimizer optimizer_;
  IterateTracker iterate_;
  double clip_ = 0, private_loss_ = 0;
  // Individual accounting: who has spent what, and the thresholds of these steps. PRIVATE: no part
  // of any state.
  std::optional<IndividualFilter> filter_;
  std::vector<std::uint8_t> levels_;
  std::vector<double> group_clips_;  // of clipping by groups; clip_ is the largest
  std::int64_t physical_ = 0;        // rows at once, at most
  // Where sizes are private: how many parts, and of what size if not any_size_; what they are
  // filled up to, with exact noise and any_size_.
  SeatPlan seat_plan_;
  bool any_size_ = false;
  std::vector<std::int64_t> row_sizes_;
  RowSizes used_;
  bool prepared_ = false, proved_ = true;
};

}  // namespace sotto::deep
