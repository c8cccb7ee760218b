// DpSgdPlan: the privacy of a training run, from public facts only.
//
// What       Sampler, clip norm, noise and number of steps of noisy stochastic gradient descent.
//            The plan makes the sampler and the noise, and states their event; so what runs and
//            what is accounted cannot disagree.
// Guarantee  event(t) is what t steps cost, for all their iterates together. With a budget,
//            event(steps()) costs at most (ε, δ).
// Method     Each step releases Σ_i clip(g_i, C) + N(0, (zC)²) over a sample: a sampled Gaussian of
//            noise multiplier z, t times. z is given, or calibrated so that all planned steps meet
//            the budget. A given z with a budget bounds the steps instead.
//            Adaptive clipping releases a second figure of the same sample, the number of records
//            within the threshold, each counted as ±½, with noise of its own; the event then has
//            both [ATMR21].
//            Individual accounting (typical_norm): every record has a threshold of its own, at most
//            C, and a budget; the event is the (ε, δ) that the filter bounds
//            (learning/sampled_charges.hpp).
//            Exact noise: a discrete Gaussian on a grid; its event has the grid's dimension and the
//            sensitivity with the rounding to the grid (gradient_noise.hpp).
// Numerics   As the accountant promises: ε is an upper bound.
// Reference  [ACGMMTZ16], [ATMR21], [FZ21]; docs/math/private-training.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sotto/accounting/bound.hpp"
#include "sotto/core/event.hpp"
#include "sotto/core/relation.hpp"
#include "sotto/core/spec.hpp"
#include "sotto/deep/adaptive_clipping.hpp"
#include "sotto/deep/training/gradient_noise.hpp"
#include "sotto/deep/training/sampler.hpp"
#include "sotto/learning/sampled_charges.hpp"

namespace sotto::deep {

struct PlanOptions {
  std::uint64_t records = 0;  // declared, public
  Relation relation = Relation::add_remove;
  Sampling sampling = Sampling::poisson;
  double batch = 0;         // expected records in a step
  double epochs = 0;        // steps = ⌈epochs·records/batch⌉ …
  std::uint64_t steps = 0;  // … unless given
  double clip = 1;          // C
  std::optional<AdaptiveClippingOptions> adaptive = {};
  // Individual accounting: the norm of a gradient for which the noise is meant, as a share of C.
  std::optional<double> typical_norm = {};
  std::optional<double> noise_multiplier = {};  // z; default: calibrated to the budget
  std::optional<double> epsilon = {};           // the budget
  double delta = 0;
  NoiseKind noise = NoiseKind::bulk;
  std::uint64_t dimension = 0;  // trainable parameters; exact noise needs it, a model tells it
};

// The kind of noise that is used when none is asked for, by public facts: exact for small networks,
// where it can be accounted for.
NoiseKind default_noise(const PlanOptions& options);

class DpSgdPlan {
 public:
  // Throws InvalidArgument, AccountingError, or BudgetExceeded when the given noise does not allow
  // one step.
  explicit DpSgdPlan(PlanOptions options);
  // The same for a model whose trainable parameters are counted.
  DpSgdPlan(PlanOptions options, const torch::nn::Module& model);

  const PlanOptions& options() const { return options_; }
  Relation relation() const { return options_.relation; }
  std::uint64_t steps() const { return options_.steps; }  // planned: never more
  double noise_multiplier() const {
    return multiplier_;
  }  // z of the event of a step, all its queries together
  double gradient_multiplier() const { return gradient_multiplier_; }  // of the gradient alone
  double expected_batch() const { return sampler_.expected_batch(); }  // the divisor
  const BatchSampler& sampler() const { return sampler_; }
  GradientNoise make_noise() const;

  // Individual accounting: what a record may spend, by how much for each threshold, and for how
  // many steps thresholds are fixed. None without.
  const std::optional<SampledCharges>& charges() const { return charges_; }
  IndividualBudget individual_budget() const { return IndividualBudget(full_steps_); }
  std::uint64_t steps_of_a_threshold() const;

  Event event() const { return event(steps()); }
  Event event(std::uint64_t steps) const;
  // The same plan, of which so many steps have run: its event is theirs.
  DpSgdPlan after(std::uint64_t steps) const {
    DpSgdPlan plan = *this;
    plan.options_.steps = steps;
    return plan;
  }
  Spec spec(std::uint64_t steps) const { return {options_.relation, {event(steps)}}; }
  // ε of that many steps at δ.
  Bound epsilon(std::uint64_t steps, double delta, const AccountOptions& options = {}) const;
  std::string describe() const;

  // All that decides the guarantee, as text: a resumed run must have the same.
  std::string fingerprint() const;

 private:
  Event step_event() const;
  void set_multiplier(double multiplier);
  void calibrate_noise();
  void bound_steps();
  double typical_steps() const;

  PlanOptions options_;
  BatchSampler sampler_;
  double multiplier_ = 0, gradient_multiplier_ = 0;
  std::optional<SampledCharges> charges_;
  double full_steps_ = 0;  // that a record may pay for: of the whole plan, however many have run
};

}  // namespace sotto::deep
