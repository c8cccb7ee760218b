// Training a network on the shelf: from facts and a request to a released model.
//
// What       Settles network, sampler, noise, steps and optimiser from public facts and options,
//            and runs them with Trainer, under checkpoints if asked for.
// Guarantee  That of DpSgdPlan (training/plan.hpp); without a budget none, and the result says so.
// Method     prepare() makes a network with fresh weights and tries it on made-up records, or takes
//            up a checkpoint. run() goes on from there; called again it starts anew.
// Numerics   Those of Trainer.
// Reference  docs/math/private-training.md.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "sotto/deep/models/network.hpp"
#include "sotto/deep/training/trainer.hpp"
#include "sotto/learning/family.hpp"
#include "sotto/learning/gradient_canaries.hpp"

namespace sotto::deep {

class NetworkTraining final : public TrainingPlan, public GradientCanaries {
 public:
  // Throws InvalidArgument, Unsupported, DataError, BudgetExceeded.
  NetworkTraining(const Facts& facts, const TrainingRequest& request);

  std::optional<Event> event() const override;
  Relation relation() const override { return facts_.relation; }
  Explanation explain() const override;
  std::string estimate() const override;

  void prepare(RunControl& control, Rng& rng) override;
  std::string result() const override { return result_; }
  using TrainingPlan::run;
  TrainedModel run(Source& source, Rng& rng, RunControl& control) override;
  std::vector<double> scores_of_canaries(const std::vector<bool>& in, Source& source,
                                         Rng& rng) override;

 private:
  void plan_steps(const TrainingRequest& request);
  void plan_fairness(const OptionValues& o, PlanOptions& options);
  void save(const RunControl& control) const;
  void fit(const Records& records, Rng& rng, RunControl& control);
  TrainedModel release(bool insecure);
  std::string note(const Trainer& trainer, double seconds);

  Facts facts_;
  bool sequence_, classification_;  // a sequence: of the value at each place
  bool torchscript_, show_private_loss_;
  double delta_;
  NetworkOptions network_;
  std::uint64_t parameters_ = 0;
  std::optional<DpSgdPlan> plan_;  // none: NOT PRIVATE
  PlainPlan plain_;
  TrainerOptions trainer_options_;
  std::string fairness_ = "none";

  // Of the run that was prepared.
  Network model_ = nullptr;
  std::unique_ptr<Trainer> trainer_;
  std::string result_;
  bool proved_ = false;  // what the last run found about rounding
  Trainer::RowSizes row_sizes_;
  std::string row_by_row_;  // what it found about records
  std::uint64_t first_ = 0, next_epsilon_ = 0;
  double epsilon_ = 0;
};

}  // namespace sotto::deep
