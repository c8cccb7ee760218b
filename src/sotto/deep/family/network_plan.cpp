#include "sotto/deep/family/detail/network_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"
#include "sotto/deep/family/detail/canary_training.hpp"
#include "sotto/deep/family/detail/network_model.hpp"
#include "sotto/deep/family/detail/network_records.hpp"
#include "sotto/deep/family/detail/record_groups.hpp"
#include "sotto/deep/family/detail/sequence.hpp"
#include "sotto/deep/losses.hpp"
#include "sotto/deep/models/detail/defaults.hpp"
#include "sotto/deep/training/checkpoint.hpp"
#include "sotto/deep/training/detail/memory.hpp"

namespace sotto::deep {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Each of these options belongs to one rule.
void check_fairness(const OptionValues& o, bool is_private) {
  const std::string rule = o.text("fairness");
  if (!is_private && rule != "none")
    throw InvalidArgument("`fairness` is about clipping, and the method none clips nothing",
                          "leave it out, or train with a budget");
  for (const auto& [option, owner] : {std::pair{"fairness_groups", "dpsgd_f"},
                                      {"clip_floor", "bounded_adaptive"},
                                      {"beyond", "global"}}) {
    if (o.given(option) && rule != owner)
      throw InvalidArgument(fmt::format("`{}` means nothing without `fairness` {}", option, owner));
  }
  if (o.given("typical_norm") && !o.flag("individual_budget"))
    throw InvalidArgument("`typical_norm` means nothing without `individual_budget`",
                          "give `individual_budget` as well");
  if (!is_private && o.flag("individual_budget"))
    throw InvalidArgument("the method none has no privacy, yet a budget for each record is asked");
  if (o.given("count_noise") && rule == "none" && o.text("clipping") != "adaptive")
    throw InvalidArgument("`count_noise` means nothing without counts",
                          "give `fairness`, or `clipping` adaptive");
}

void check_request(const TrainingRequest& request) {
  const OptionValues& o = request.options;
  if (o.given("steps") && o.given("epochs"))
    throw InvalidArgument("`steps` and `epochs` are both given", "choose one of them");
  const bool is_private = request.method != "none";
  if (!is_private && o.given("noise_multiplier"))
    throw InvalidArgument("the method none has no privacy, yet a budget is given",
                          "leave out the budget, or choose another method");
  if (request.budget && std::holds_alternative<ZcdpBudget>(request.budget->kind()))
    throw Unsupported("networks take a budget as `epsilon` with `delta`, not as `rho`");
  if (is_private && !request.delta)
    throw InvalidArgument("training a network needs `delta`: its noise is Gaussian",
                          "e.g. `delta` 1e-5");
  check_fairness(o, is_private);
  if (is_private && !request.budget && !o.given("noise_multiplier"))
    throw InvalidArgument("training needs a budget",
                          "give `epsilon` with `delta`, or `noise_multiplier`");
}

std::vector<std::int64_t> hidden_widths(const OptionValues& o) {
  std::vector<std::int64_t> widths;
  if (find_option(o.declared(), "hidden") == nullptr || !o.given("hidden")) return widths;
  for (const std::string& width : o.list("hidden")) {
    char* end = nullptr;
    const long long value = std::strtoll(width.c_str(), &end, 10);
    if (width.empty() || *end != '\0' || value < 1)
      throw InvalidArgument(
          fmt::format("`hidden` has '{}'; widths are whole numbers from 1", width));
    widths.push_back(value);
  }
  return widths;
}

NetworkOptions network_options(const Facts& facts, const TrainingRequest& request) {
  const std::size_t classes = facts.classes().size();
  NetworkOptions network;
  network.kind = parse_network(request.kind);
  network.outputs = classes == 0 ? 1 : static_cast<std::int64_t>(classes);
  network.activation = parse_activation(request.options.text("activation"));
  network.hidden = hidden_widths(request.options);
  if (network.kind == NetworkKind::sequence) {
    check_sequence_facts(facts);
    network.input = {static_cast<std::int64_t>(facts.encoder->features().size())};
    network.outputs = values_of_places(facts);
    network.context =
        std::min(network.input[0], static_cast<std::int64_t>(request.options.whole("context")));
    return network;
  }
  if (facts.encoder) {
    network.input = {static_cast<std::int64_t>(facts.encoder->width())};
  } else {
    network.input = {1, static_cast<std::int64_t>(facts.images->height),
                     static_cast<std::int64_t>(facts.images->width)};
  }
  return network;
}

TrainerOptions trainer_options(const OptionValues& o, const OptimizerOptions& fallback) {
  TrainerOptions options;
  options.optimizer = fallback;
  OptimizerOptions& optimizer = options.optimizer;
  optimizer.kind = parse_optimizer(o.text("optimizer"));
  if (optimizer.kind != OptimizerKind::sgd) optimizer.learning_rate = 2e-3;
  if (o.given("learning_rate")) optimizer.learning_rate = o.number("learning_rate");
  if (o.given("momentum")) optimizer.momentum = o.number("momentum");
  optimizer.weight_decay = o.number("weight_decay");
  if (o.given("schedule")) optimizer.schedule = parse_schedule(o.text("schedule"));
  optimizer.warmup = o.number("warmup");
  if (o.given("radius")) optimizer.radius = o.number("radius");
  if (o.given("iterate")) options.iterate = parse_iterate(o.text("iterate"));
  options.memory = parse_bytes(o.text("memory"));
  if (o.text("clipping") == "per_layer") options.clip_rule = ClipRule::per_layer;
  if (o.text("clipping") == "normalised") options.clip_rule = ClipRule::normalised;
  return options;
}

std::optional<double> epsilon_of(const TrainingRequest& request) {
  if (!request.budget) return std::nullopt;
  const auto* approximate = std::get_if<ApproximateBudget>(&request.budget->kind());
  return approximate != nullptr ? std::optional(approximate->epsilon.value()) : std::nullopt;
}

torch::Tensor losses_of(bool classification, const torch::Tensor& outputs,
                        const torch::Tensor& targets) {
  return classification ? softmax_cross_entropy(outputs, targets)
                        : squared_loss(outputs.squeeze(1), targets);
}

// Shapes and types of records, for made-up ones.
Records empty_records(const Facts& facts, bool classification, const NetworkOptions& network) {
  if (network.kind != NetworkKind::sequence) return no_records(facts, classification);
  const auto none = torch::zeros({0, network.input[0]}, torch::kLong);
  return {none, none};
}

// A label that is none of the declared classes counts for nothing in training.
Records training_records(Source& source, const Facts& facts, bool classification, bool sequence) {
  if (facts.encoder) {
    const Table* table = source.in_memory();
    if (sequence) return sequence_records(table != nullptr ? *table : source.table());
    return records_of(table != nullptr ? Block(*table) : Block(source.table()), classification);
  }
  const Records read = records_of(source.images(), true);
  const auto classes = static_cast<std::int64_t>(facts.images->classes);
  return {read.inputs(), torch::where(read.targets() < classes, read.targets(),
                                      torch::full_like(read.targets(), kNoIgnoredIndex))};
}

}  // namespace

NetworkTraining::NetworkTraining(const Facts& facts, const TrainingRequest& request)
    : facts_(facts),
      sequence_(request.kind == name(NetworkKind::sequence)),
      classification_(sequence_ || !facts.classes().empty()),
      torchscript_(request.options.flag("torchscript")),
      show_private_loss_(request.options.flag("show_private_loss")),
      delta_(request.delta.value_or(0)) {
  if (!sequence_)
    check_target(facts, classification_ ? Task::classify : Task::regress, request.kind, "another");
  if (facts.contributions != 1)
    throw Unsupported(fmt::format("networks take one record of a user, the schema allows {}",
                                  facts.contributions),
                      "set max_contributions = 1");
  facts.declared_rows();
  network_ = network_options(facts, request);
  parameters_ = count_parameters(*Network(network_));
  check_request(request);
  fairness_ = request.options.text("fairness");
  plan_steps(request);
}

// The declared option as a rule of adaptive clipping.
void NetworkTraining::plan_fairness(const OptionValues& o, PlanOptions& options) {
  const std::string rule = o.text("fairness");
  if (rule == "none") return;
  if (o.text("clipping") != "flat")
    throw InvalidArgument("`fairness` and `clipping` both say how gradients are clipped",
                          "leave out `clipping`");
  options.adaptive.emplace();
  if (rule == "dpsgd_f") {
    const RecordGroups groups = record_groups(facts_, o.maybe_text("fairness_groups"));
    options.adaptive->rule = AdaptiveRule::groups;
    options.adaptive->groups = groups.count;
    trainer_options_.group_of = groups.of;
  } else if (rule == "global") {
    constexpr double kNearlyAll = 0.9, kRate = 0.5;
    options.adaptive->quantile = kNearlyAll;
    options.adaptive->rate = kRate;
    options.adaptive->rescale = true;
    trainer_options_.zero_above = o.maybe_text("beyond").value_or("clip") == "zero";
  } else {
    options.adaptive->smallest = o.maybe_number("clip_floor").value_or(options.clip / 2);
    if (options.adaptive->smallest > options.clip)
      throw InvalidArgument(fmt::format("`clip_floor` is {}; the clip norm begins at {}, below it",
                                        options.adaptive->smallest, options.clip),
                            "lower it, or raise `clip`");
  }
}

void NetworkTraining::plan_steps(const TrainingRequest& request) {
  const OptionValues& o = request.options;
  const bool is_private = request.method != "none";
  const std::optional<double> epsilon = epsilon_of(request);
  const std::uint64_t rows = facts_.declared_rows();
  const TrainingDefaults defaults = training_defaults(
      network_.kind, rows, is_private ? std::optional(epsilon.value_or(3)) : std::nullopt);
  trainer_options_ = trainer_options(o, defaults.optimizer);
  const Sampling sampling = parse_sampling(o.text("sampling"));
  double batch = o.maybe_number("batch").value_or(defaults.batch);
  if (sampling == Sampling::full_batch) batch = static_cast<double>(rows);
  const double epochs = o.maybe_number("epochs").value_or(defaults.epochs);
  const std::uint64_t steps = o.maybe_whole("steps").value_or(
      static_cast<std::uint64_t>(std::ceil(epochs * static_cast<double>(rows) / batch)));
  plain_ = {.sampling = sampling, .records = rows, .batch = batch, .steps = steps};
  if (!is_private) return;
  PlanOptions options{.records = rows,
                      .relation = facts_.relation,
                      .sampling = sampling,
                      .batch = batch,
                      .steps = steps,
                      .clip = o.maybe_number("clip").value_or(defaults.clip),
                      .noise_multiplier = o.maybe_number("noise_multiplier"),
                      .epsilon = epsilon,
                      .delta = delta_,
                      .dimension = parameters_};
  if (o.text("clipping") == "adaptive") options.adaptive.emplace();
  plan_fairness(o, options);
  if (o.flag("individual_budget"))
    options.typical_norm = o.maybe_number("typical_norm").value_or(0.5);
  if (options.adaptive && o.given("count_noise"))
    options.adaptive->count_noise = o.number("count_noise");
  options.noise =
      o.text("noise") != "auto" ? parse_noise_kind(o.text("noise")) : default_noise(options);
  plan_.emplace(std::move(options));
}

std::optional<Event> NetworkTraining::event() const {
  return plan_ ? std::optional(plan_->event()) : std::nullopt;
}

Explanation NetworkTraining::explain() const {
  Explanation e;
  e.method = plan_ ? "dp_sgd" : "none";
  e.words = plan_ ? plan_->describe() : "plain training, NOT PRIVATE";
  e.assumptions = {
      "the sampled batches and unfinished checkpoints stay secret",
      proved_
          ? fmt::format("arithmetic on a batch computes each row from that row alone{}, as it did "
                        "for made-up records before the first step; no step has more than {} "
                        "records; all other rounding is charged",
                        row_sizes_.most == 0 ? ""
                                             : fmt::format(", wherever it lies among {} to {} rows",
                                                           row_sizes_.least, row_sizes_.most),
                        seats_for(plan_->expected_batch()))
          : std::string("rounding in 32-bit gradients moves a clipped sum by less than 1 % of "
                        "the clip norm, which is charged (proved for small batches, measured "
                        "beyond)")};
  if (plan_ && plan_->options().noise == NoiseKind::bulk)
    e.assumptions.push_back("noise is drawn and added in floating point (exact noise avoids this)");
  if (plan_ && plan_->charges())
    e.assumptions.push_back(
        "the norm of a record's gradient, computed in a batch of one public size, does not depend "
        "on the other records");
  if (plan_ && !row_by_row_.empty()) {  // a run has ended, so that all its steps were followed
    e.words += fmt::format("; {}", row_by_row_);
    e.assumptions.push_back(row_by_row_);
  }
  e.figures = {{"parameters", parameters_},
               {"rows", facts_.declared_rows()},
               {"sampling", name(plain_.sampling)},
               {"batch", plain_.batch},
               {"steps", plan_ ? plan_->steps() : plain_.steps}};
  if (plan_) {
    e.figures["noise_multiplier"] = plan_->noise_multiplier();
    e.figures["noise"] = name(plan_->options().noise);
    e.figures["clip"] = plan_->options().clip;
    if (fairness_ != "none") e.figures["fairness"] = fairness_;
  }
  if (plan_ && !row_by_row_.empty()) e.figures["row_by_row"] = row_by_row_;
  e.figures["optimizer"] = to_json(trainer_options_.optimizer);
  return e;
}

// Forward and backward passes of made-up records, by the clock and by their memory.
std::string NetworkTraining::estimate() const {
  constexpr double kMostRecords = 64, kPrivateSteps = 2, kNoiseSeconds = 2e-8;
  const auto records = static_cast<std::int64_t>(std::clamp(plain_.batch, 1.0, kMostRecords));
  std::vector<std::int64_t> shape = network_.input;
  shape.insert(shape.begin(), records);
  Network network(network_);
  const torch::Tensor inputs = sequence_ ? torch::zeros(shape, torch::kInt64) : torch::rand(shape);
  const torch::Tensor targets =
      sequence_ ? inputs
                : torch::zeros({records}, classification_ ? torch::kInt64 : torch::kFloat32);
  const auto step = [&] {
    losses_of(classification_, network->forward(inputs), targets).sum().backward();
  };
  const std::size_t memory = peak_memory(step);
  const auto start = Clock::now();
  step();
  const double of_a_record = seconds_since(start) / static_cast<double>(records);
  const auto steps = static_cast<double>(plan_ ? plan_->steps() : plain_.steps);
  const double seconds = steps * (plain_.batch * of_a_record * (plan_ ? kPrivateSteps : 1) +
                                  (plan_ ? kNoiseSeconds * static_cast<double>(parameters_) : 0));
  const double epochs = steps * plain_.batch / static_cast<double>(facts_.declared_rows());
  // Weights, gradients, noise and the optimiser's state; then batches, as many as may be held.
  const double bytes =
      6.0 * 4 * static_cast<double>(parameters_) +
      std::min(static_cast<double>(trainer_options_.memory),
               static_cast<double>(memory) * plain_.batch / static_cast<double>(records));
  const OptimizerOptions& optimizer = trainer_options_.optimizer;
  const auto figure = [](double value, double least, int digits, const char* unit) {
    return value < least ? fmt::format("under {} {}", least, unit)
                         : fmt::format("about {:.{}f} {}", value, digits, unit);
  };
  return fmt::format(
      "{} parameters, {:.3g} epochs, learning rate {:.4g} ({}); {} and {} here", parameters_,
      epochs, optimizer.learning_rate, name(optimizer.kind),
      seconds < 90 ? figure(seconds, 0.1, 1, "s") : figure(seconds / 60, 1, 0, "min"),
      figure(bytes / 1e6, 1, 0, "MB"));
}

void NetworkTraining::prepare(RunControl& control, Rng& rng) {
  torch::manual_seed(rng.next_u64());  // initial weights
  model_ = Network(network_);
  result_.clear();
  row_by_row_.clear();
  TrainerOptions options = trainer_options_;
  options.insecure_seed = control.insecure_seed;
  const auto objective = [network = model_, classes = classification_](
                             const torch::Tensor& x, const torch::Tensor& y) mutable {
    return losses_of(classes, network->forward(x), y);
  };
  trainer_ = plan_ ? std::make_unique<Trainer>(*model_, *plan_, objective, options)
                   : std::make_unique<Trainer>(*model_, plain_, objective, options);
  if (control.checkpoints && control.checkpoints->resume) {
    control.checkpoints->notes = load_checkpoint(control.checkpoints->path, *trainer_);
    if (control.tell)
      control.tell(
          fmt::format("resuming after step {} of {}", trainer_->done(), trainer_->planned()));
  }
  if (trainer_->done() == trainer_->planned()) {
    result_ = sha256(to_safetensors(trainer_->state()));
    return;
  }
  trainer_->prepare(empty_records(facts_, classification_, network_));
  // Before a reservation that names this run: from here on a kill at any moment can be resumed.
  save(control);
}

void NetworkTraining::save(const RunControl& control) const {
  if (control.checkpoints)
    save_checkpoint(control.checkpoints->path, *trainer_, control.checkpoints->notes);
}

// The expected batch, not the true one, which is private. ε is asked of the accountant a few dozen
// times in a run.
std::string NetworkTraining::note(const Trainer& trainer, double seconds) {
  std::string text = "NOT PRIVATE";
  if (trainer.is_private()) {
    if (trainer.done() >= next_epsilon_) {
      epsilon_ = trainer.epsilon(delta_, {.tolerance = 1e-2, .upper_only = true}).upper;
      next_epsilon_ = trainer.done() + std::max<std::uint64_t>(1, trainer.planned() / 25);
    }
    text = fmt::format("epsilon {:.3f}", epsilon_);
  }
  const double speed = static_cast<double>(trainer.done() - first_) * trainer.expected_batch() /
                       std::max(seconds, 1e-9);
  text += fmt::format(", {:.0f} examples/s", speed);
  if (show_private_loss_) text += fmt::format(", loss {:.4f} NOT PRIVATE", trainer.private_loss());
  return text;
}

void NetworkTraining::fit(const Records& records, Rng& rng, RunControl& control) {
  first_ = trainer_->done();
  next_epsilon_ = 0;
  ProgressOptions shown = control.shown(trainer_->planned());
  shown.first = first_;
  const bool visible = shown.enabled;
  Progress progress(std::move(shown));
  const auto start = Clock::now();
  auto saved = start;
  trainer_->fit(records, rng, [&](const Trainer& trainer) {
    if (visible) progress.advance(trainer.done(), note(trainer, seconds_since(start)));
    if (control.checkpoints && seconds_since(saved) >= control.checkpoints->seconds) {
      save(control);
      saved = Clock::now();
    }
    return !control.stop || !control.stop();
  });
  progress.stop();
  save(control);  // what waits for the ledger's word is kept before it is asked
  if (trainer_->done() < trainer_->planned())
    throw Error(ErrorCode::interrupted,
                control.checkpoints
                    ? fmt::format("interrupted after step {} of {}; the state is in '{}'",
                                  trainer_->done(), trainer_->planned(), control.checkpoints->path)
                    : std::string("interrupted"),
                plan_ && plan_->charges() ? "budgets of records are in no checkpoint: start anew"
                : control.checkpoints     ? "the same command with `resume` goes on"
                                          : "");
}

TrainedModel NetworkTraining::run(Source& source, Rng& rng, RunControl& control) {
  if (!trainer_) prepare(control, rng);
  if (trainer_->done() < trainer_->planned())
    fit(training_records(source, facts_, classification_, sequence_), rng, control);
  result_ = sha256(to_safetensors(trainer_->state()));
  return release(control.insecure_seed.has_value() || rng.kind() == "insecure_seed");
}

std::vector<double> NetworkTraining::scores_of_canaries(const std::vector<bool>& in, Source& source,
                                                        Rng& rng) {
  return CanaryTraining{.network = network_,
                        .plan = plan_ ? &*plan_ : nullptr,
                        .plain = plain_,
                        .options = trainer_options_,
                        .classification = classification_}
      .scores(training_records(source, facts_, classification_, sequence_), in, rng);
}

TrainedModel NetworkTraining::release(bool insecure) {
  proved_ = trainer_->rounding_is_proved();
  row_sizes_ = trainer_->row_sizes();
  row_by_row_ = trainer_->row_by_row();
  const NetworkFiles files{.torchscript = torchscript_, .not_private = insecure || !plan_};
  // The iterate that is released goes into the network by the trainer's hand.
  const auto made = [&](auto&&) { return network_model(model_, facts_, files); };
  TrainedModel trained = plan_ ? TrainedModel(trainer_->release().then(made))
                               : TrainedModel(trainer_->unprotected().then(made));
  trainer_.reset();  // another run starts anew
  return trained;
}

}  // namespace sotto::deep
