// Private tuning: a plan that holds plans. A random number of trials, of which the best alone is
// released.
//
// What       Each trial draws a candidate uniformly from a declared list, trains it with the budget
//            of a trial, and scores it: on public rows, or on the private ones with noise that is
//            part of the trial. The best model leaves, or the first that is good enough; nothing
//            tells how many trials there were.
// Guarantee  Costs `private_selection` of the trial's event, which is at most the budget. How long
//            a run takes depends on the number of trials: whoever can time it is not covered.
// Method     The number of trials is drawn before anything is paid for. Its cost grows with that of
//            a trial, so the budget of a trial is solved for. Trials that cost different things are
//            charged as one that costs as much as any (detail/dominating_event.hpp).
// Numerics   As the families' documents say; the cost is the accountant's upper bound.
// Reference  [PS22], [LT19]; docs/math/tuning.md.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sotto/learning/family.hpp"
#include "sotto/learning/search_space.hpp"
#include "sotto/learning/trial_score.hpp"
#include "sotto/noise/trial_count.hpp"

namespace sotto {

struct TuningRequest {
  const Family* family = nullptr;  // must outlive the plan
  TrainingRequest base = {};       // kind, δ, and what all candidates have in common; no budget
  std::vector<Candidate> candidates = {};
  bool drop_refused = false;  // candidates that public facts rule out are left out, not refused
  Budget budget = Budget::pure(1);  // of everything; no ρ
  TrialCount count = TrialCount::truncated_negative_binomial(0, 10);
  std::optional<double> good_enough = {};  // the first trial with this score is released, or none
  // From public facts only.
  std::function<Facts(const TrainingRequest&)> facts = {};
  // The private records under other facts than those of the first candidate.
  std::function<std::unique_ptr<Source>(const Facts&)> open = {};
  // Computed from public rows. None: a private score.
  std::function<double(const Model&, const Facts&)> public_score = {};
  std::string score = "accuracy on public rows";  // what public_score measures, in words
  bool smaller_is_better = false;                 // of public_score
  double score_share = 0.1;                       // of a trial's budget, for a private score
};

class TuningPlan final : public TrainingPlan {
 public:
  // Throws InvalidArgument, Unsupported or DataError, all of it from public facts.
  explicit TuningPlan(TuningRequest request);
  ~TuningPlan() override;

  std::optional<Event> event() const override;
  Relation relation() const override;
  Explanation explain() const override;  // after run() with what was chosen
  void prepare(RunControl& control, Rng& rng) override;
  std::string result() const override { return result_; }
  using TrainingPlan::run;
  // A release without a model: there was no trial, or none was good enough.
  TrainedModel run(Source& source, Rng& rng, RunControl& control) override;

  const Event& trial_event() const { return trial_; }
  const Facts& facts() const;                   // of the first candidate
  std::vector<const Facts*> all_facts() const;  // of every candidate
  const Facts& chosen_facts() const;  // of the released model; of the first candidate without one

 private:
  struct Trial;
  struct Best;
  struct State;
  struct Records;

  Budget solved_budget(double delta);
  void plan_trials(const Budget& budget);
  void plan_trial(Trial& trial, const Budget& budget, double share, double delta) const;
  std::string digest() const;
  void save(const RunControl& control) const;
  void load(RunControl& control);
  void run_trial(Source& source, Rng& rng, RunControl& control);
  Source& records_of(const Facts& facts, Source& source);

  TuningRequest request_;
  std::vector<Trial> trials_;
  std::optional<TrialScore> score_;
  std::optional<Budget> trial_budget_;
  Event trial_ = PureEvent{1};
  std::unique_ptr<State> state_;
  std::vector<std::unique_ptr<Records>> records_;  // in memory, one for each encoding
  std::string result_;
};

}  // namespace sotto
