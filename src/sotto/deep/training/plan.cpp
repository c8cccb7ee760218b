#include "sotto/deep/training/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/accounting/account.hpp"
#include "sotto/accounting/calibrate.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/deep/recorder.hpp"

namespace sotto::deep {
namespace {

// Discrete noise on a Poisson sample is accounted for by what a record adds to a sum or does not;
// replaced by another, it is not.
bool exact_is_accounted(const PlanOptions& options) {
  return !(options.relation == Relation::replace_one && options.sampling == Sampling::poisson);
}

std::string describe_thresholds(const AdaptiveClippingOptions& adaptive) {
  if (adaptive.rule == AdaptiveRule::groups)
    return fmt::format(
        " at first, then by noisy counts of {} groups, each with its own threshold, noise being "
        "for the largest",
        adaptive.groups);
  std::string text = fmt::format(" at first, then to the private {} quantile", adaptive.quantile);
  if (adaptive.smallest > AdaptiveClippingOptions{}.smallest)
    text += fmt::format(", never below {:.6g}", adaptive.smallest);
  if (adaptive.rescale) text += " and scaled back to the first norm";
  return text;
}

void check_individual(const PlanOptions& options) {
  if (!(*options.typical_norm > 0 && *options.typical_norm <= 1))
    throw InvalidArgument(fmt::format("`typical_norm` is {}; it must be above 0 and at most 1",
                                      *options.typical_norm));
  if (options.noise == NoiseKind::exact)
    throw Unsupported("individual budgets with exact noise are not accounted for",
                      "use the noise kind bulk");
  if (options.adaptive)
    throw Unsupported("individual budgets have thresholds of their own, not adaptive ones");
  if (options.relation == Relation::replace_one || is_fixed(options.sampling))
    throw Unsupported(
        "individual budgets are accounted for under add_remove and zero_out, with Poisson samples "
        "or whole batches");
  if (!(options.delta > 0 && options.delta < 1))
    throw InvalidArgument("individual budgets are stated at a delta above 0 and below 1");
  if (options.noise_multiplier && options.epsilon)
    throw Unsupported("individual budgets take an epsilon or a noise multiplier, not both");
}

PlanOptions settled(PlanOptions options) {
  if (options.steps == 0) {
    if (!(options.epochs > 0))
      throw InvalidArgument("a training plan needs a number of steps or epochs");
    const double batch = options.sampling == Sampling::full_batch
                             ? static_cast<double>(options.records)
                             : options.batch;
    options.steps = static_cast<std::uint64_t>(
        std::ceil(options.epochs * static_cast<double>(options.records) / batch));
  }
  if (!(options.clip > 0 && std::isfinite(options.clip)))
    throw InvalidArgument(fmt::format("the clip norm is {}; it must be above 0", options.clip));
  if (!options.noise_multiplier && !options.epsilon)
    throw InvalidArgument("a training plan needs a budget or a noise multiplier",
                          "give epsilon and delta, or a noise multiplier");
  if (options.noise_multiplier && !(*options.noise_multiplier > 0))
    throw InvalidArgument(
        fmt::format("the noise multiplier is {}; it must be above 0", *options.noise_multiplier),
        "training without noise is plain training, without a plan");
  if (options.epsilon && !(options.delta > 0 && options.delta < 1))
    throw InvalidArgument(
        fmt::format("delta is {}; Gaussian noise needs one above 0 and below 1", options.delta));
  if (options.noise == NoiseKind::exact && options.dimension == 0)
    throw InvalidArgument("exact noise needs the number of trainable parameters",
                          "make the plan with the model, which counts them: DpSgdPlan(options, "
                          "*model)");
  if (options.noise == NoiseKind::exact && !exact_is_accounted(options))
    throw Unsupported(
        "exact noise on Poisson samples is not accounted for under the relation replace_one",
        "use the noise kind bulk, or the sampling without_replacement");
  if (is_fixed(options.sampling) && !count_is_public(options.relation))
    throw Unsupported(
        fmt::format("{} sampling needs a public number of records", name(options.sampling)),
        "use the relation replace_one or zero_out, or Poisson sampling");
  if (options.typical_norm) check_individual(options);
  if (options.adaptive) {
    if (options.noise == NoiseKind::exact)
      throw Unsupported("adaptive clipping with exact noise is not accounted for",
                        "use the noise kind bulk, or a fixed clip norm");
    if (options.relation == Relation::replace_one)
      throw Unsupported("adaptive clipping is accounted for under add_remove and zero_out only");
    const double batch = options.sampling == Sampling::full_batch
                             ? static_cast<double>(options.records)
                             : options.batch;
    options.adaptive = AdaptiveClipping(*options.adaptive, batch).options();
  }
  return options;
}

}  // namespace

NoiseKind default_noise(const PlanOptions& options) {
  constexpr std::uint64_t kFew = 1 << 16;  // a draw takes about 12 ns: less than a millisecond
  return options.dimension <= kFew && !options.adaptive && !options.typical_norm &&
                 exact_is_accounted(options)
             ? NoiseKind::exact
             : NoiseKind::bulk;
}

DpSgdPlan::DpSgdPlan(PlanOptions options)
    : options_(settled(std::move(options))),
      sampler_(options_.sampling, options_.records, options_.batch) {
  options_.batch = sampler_.expected_batch();
  if (options_.noise_multiplier) {
    set_multiplier(*options_.noise_multiplier);
    if (options_.epsilon) bound_steps();
  } else {
    calibrate_noise();
  }
}

DpSgdPlan::DpSgdPlan(PlanOptions options, const torch::nn::Module& model)
    : DpSgdPlan([&] {
        options.dimension = 0;
        for (const auto& p : trainable_parameters(model))
          options.dimension += static_cast<std::uint64_t>(p.tensor.numel());
        return std::move(options);
      }()) {}

// z⁻² = z_gradient⁻² + z_count⁻²: independent Gaussians on two figures of one record.
void DpSgdPlan::set_multiplier(double multiplier) {
  multiplier_ = gradient_multiplier_ = multiplier;
  if (options_.typical_norm) {
    charges_.emplace(options_.sampling == Sampling::full_batch ? 1.0 : sampler_.rate(), multiplier);
    full_steps_ = typical_steps();
  }
  if (options_.adaptive)
    gradient_multiplier_ =
        AdaptiveClipping(*options_.adaptive, expected_batch()).gradient_multiplier(multiplier);
}

Event DpSgdPlan::step_event() const {
  Event gradient = GaussianEvent::from_multiplier(gradient_multiplier_);
  if (options_.noise == NoiseKind::exact) gradient = make_noise().event(options_.relation);
  if (!options_.adaptive) return sampler_.sampled(gradient);
  const Event count = GaussianEvent::from_multiplier(
      AdaptiveClipping(*options_.adaptive, expected_batch()).count_multiplier());
  return sampler_.sampled(compose({gradient, count}));
}

// What all planned steps cost a record of the typical norm, in steps of full norm.
double DpSgdPlan::typical_steps() const {
  const auto typical = charges_->charge(SampledCharges::level_of(*options_.typical_norm));
  return std::max(1.0, static_cast<double>(options_.steps) * static_cast<double>(typical) /
                           static_cast<double>(IndividualBudget::kFullStep));
}

// Thresholds cost a pass over all records: ten times in a run, and not more than once in an epoch.
std::uint64_t DpSgdPlan::steps_of_a_threshold() const {
  const auto epoch = static_cast<std::uint64_t>(
      std::ceil(static_cast<double>(options_.records) / expected_batch()));
  return std::max<std::uint64_t>({1, epoch, options_.steps / 10});
}

Event DpSgdPlan::event(std::uint64_t steps) const {
  if (charges_ && steps > 0) {
    const double most = std::min(full_steps_, static_cast<double>(steps));
    return ApproximateEvent{charges_->epsilon(most, Delta(options_.delta)), options_.delta};
  }
  return steps == 0 ? compose({}) : repeat(step_event(), steps);
}

GradientNoise DpSgdPlan::make_noise() const {
  return {options_.noise, gradient_multiplier_, options_.relation, options_.dimension};
}

Bound DpSgdPlan::epsilon(std::uint64_t steps, double delta, const AccountOptions& options) const {
  if (steps == 0) return {};
  return sotto::epsilon(spec(steps), Delta(delta), options);
}

void DpSgdPlan::calibrate_noise() {
  const double target = *options_.epsilon;
  if (options_.typical_norm) {
    const Unknown own{.name = "noise_multiplier", .at = [&](double multiplier) {
                        set_multiplier(multiplier);
                        return spec(options_.steps);
                      }};
    set_multiplier(calibrate(own, Epsilon(target), Delta(options_.delta)).value);
    return;
  }
  const Unknown noise{.name = "noise_multiplier", .at = [&](double multiplier) {
                        const Event step =
                            sampler_.sampled(GaussianEvent::from_multiplier(multiplier));
                        return Spec{options_.relation, {repeat(step, options_.steps)}};
                      }};
  const Calibration found = calibrate(noise, Epsilon(target), Delta(options_.delta));
  // The grid of exact noise and the adaptive count cost a little more than continuous noise: the
  // question that a certificate will ask.
  const Unknown whole{.name = "noise_multiplier", .at = [&](double multiplier) {
                        set_multiplier(multiplier);
                        return spec(options_.steps);
                      }};
  set_multiplier(
      confirm(whole, found.value, Safer::larger, Epsilon(target), Delta(options_.delta)).value);
}

// The most steps that the budget allows with this noise: ε grows with the steps.
void DpSgdPlan::bound_steps() {
  const auto fits = [&](std::uint64_t steps) {
    return epsilon(steps, options_.delta).upper <= *options_.epsilon;
  };
  if (fits(options_.steps)) return;
  if (!fits(1))
    throw BudgetExceeded(
        fmt::format("one step with noise multiplier {} costs more than epsilon = {} at delta = {}",
                    multiplier_, *options_.epsilon, options_.delta),
        "raise the noise multiplier or the budget, or leave the noise to calibration");
  const Unknown steps{.name = "count", .whole = true, .at = [&](double count) {
                        return spec(static_cast<std::uint64_t>(count));
                      }};
  options_.steps = static_cast<std::uint64_t>(
      calibrate(steps, Epsilon(*options_.epsilon), Delta(options_.delta)).value);
}

std::string DpSgdPlan::describe() const {
  std::string sample;
  switch (sampler_.sampling()) {
    case Sampling::poisson:
      sample = fmt::format("a Poisson sample of rate {:.6g} of {} declared records",
                           sampler_.rate(), options_.records);
      break;
    case Sampling::full_batch:
      sample = fmt::format("all {} declared records", options_.records);
      break;
    default:
      sample =
          fmt::format("{} of {} records {}", options_.batch, options_.records,
                      sampler_.sampling() == Sampling::with_replacement ? "with replacement"
                                                                        : "without replacement");
  }
  return fmt::format(
      "{} steps of stochastic gradient descent on {}, each record's gradient clipped to norm "
      "{:.6g}{}, "
      "{} noise of multiplier {:.6g} on the sum, divided by {:.6g}",
      options_.steps, sample, options_.clip,
      options_.adaptive ? describe_thresholds(*options_.adaptive)
      : charges_
          ? fmt::format(" at most, and to what its own budget of {:.4g} steps of full norm allows",
                        full_steps_)
          : "",
      options_.noise == NoiseKind::exact ? "discrete Gaussian" : "Gaussian", gradient_multiplier_,
      expected_batch());
}

std::string DpSgdPlan::fingerprint() const {
  nlohmann::ordered_json json = {{"spec", to_json(spec(options_.steps))},
                                 {"clip", options_.clip},
                                 {"divisor", expected_batch()},
                                 {"noise", name(options_.noise)}};
  if (options_.typical_norm) json["typical_norm"] = *options_.typical_norm;
  if (options_.adaptive)
    json["adaptive"] = {static_cast<int>(options_.adaptive->rule),
                        options_.adaptive->quantile,
                        options_.adaptive->rate,
                        options_.adaptive->count_noise,
                        options_.adaptive->smallest,
                        options_.adaptive->largest,
                        options_.adaptive->groups,
                        options_.adaptive->rescale};
  return json.dump();
}

}  // namespace sotto::deep
