#include "sotto/deep/training/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "sotto/core/error.hpp"
#include "sotto/deep/detail/probe.hpp"
#include "sotto/deep/training/detail/records_in.hpp"

namespace sotto::deep {
namespace {

ClipOptions clip_options(const std::optional<DpSgdPlan>& plan, const TrainerOptions& options) {
  return {.rule = options.clip_rule,
          .norm = plan ? plan->options().clip : 1,
          .zero_above = options.zero_above,
          .memory = std::min<std::size_t>(options.memory / 4, std::size_t{256} << 20),
          .double_sums = plan && plan->options().noise == NoiseKind::exact};
}

DataError withheld() {
  return DataError(
      "a training step failed; what was said is withheld, since it may depend on private values",
      "try the model on made-up records of this shape to see the message");
}

// Different steps have unrelated generators: the number is spread over the seed by an odd constant.
std::uint64_t step_seed(std::uint64_t seed, std::uint64_t step) {
  std::uint64_t z = seed + 0x9e3779b97f4a7c15u * (step + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

Trainer::Trainer(torch::nn::Module& model, DpSgdPlan plan, Objective objective,
                 TrainerOptions options)
    : Trainer(
          model, std::optional(plan),
          {plan.options().sampling, plan.options().records, plan.expected_batch(), plan.steps()},
          std::move(objective), std::move(options)) {}

Trainer::Trainer(torch::nn::Module& model, PlainPlan plan, Objective objective,
                 TrainerOptions options)
    : Trainer(model, std::nullopt, plan, std::move(objective), std::move(options)) {}

Trainer::Trainer(torch::nn::Module& model, std::optional<DpSgdPlan> plan, const PlainPlan& sampling,
                 Objective objective, TrainerOptions options)
    : model_(model),
      plan_(std::move(plan)),
      sampler_(sampling.sampling, sampling.records, sampling.batch),
      planned_(sampling.steps),
      objective_(std::move(objective)),
      options_(std::move(options)),
      clipped_(model, clip_options(plan_, options_)),
      optimizer_(clipped_.parameters(), options_.optimizer, planned_),
      iterate_(options_.iterate, options_.ema_decay, planned_, clipped_.parameters()),
      clip_(plan_ ? plan_->options().clip : 0),
      physical_(options_.physical_batch) {
  if (physical_ < 0)
    throw InvalidArgument(fmt::format(
        "the physical batch is {} records; it must be at least 1, or 0 for what fits", physical_));
  if (planned_ == 0) throw InvalidArgument("the plan has no steps; it needs at least one");
  if (!plan_) return;
  const auto dimension = static_cast<std::uint64_t>(clipped_.flat().numel());
  if (exact() && plan_->options().dimension != dimension)
    throw InvalidArgument(
        fmt::format("the plan is for {} trainable parameters, but the model has {}",
                    plan_->options().dimension, dimension),
        "make the plan with the model, which counts them: DpSgdPlan(options, *model)");
  for (const auto& constant : options_.constants) clipped_.declare_public(constant);
  noise_.emplace(plan_->make_noise());
  // One record at a time, or in other ways than flat, nobody is clipped at a threshold of its own.
  if (plan_->charges() && (options_.micro_batches || options_.clip_rule != ClipRule::flat))
    throw InvalidArgument("individual budgets need whole batches and flat clipping",
                          "leave out micro-batches and the other ways to clip");
  if (plan_->options().adaptive)
    adaptive_.emplace(*plan_->options().adaptive, plan_->expected_batch());
  if (!adaptive_ || adaptive_->options().rule != AdaptiveRule::groups) return;
  if (!options_.group_of || options_.micro_batches || options_.clip_rule != ClipRule::flat)
    throw InvalidArgument(
        "clipping by groups needs the group of every record, whole batches and flat clipping");
  group_clips_.assign(adaptive_->options().groups, clip_);
  set_group_clips();
}

void Trainer::fit(const RecordSource& records, Rng& rng, const AfterStep& after) {
  while (done_ < planned_) {
    step(records, rng);
    if (after && !after(*this)) return;
  }
}

void Trainer::step(const RecordSource& records, Rng& rng) {
  if (done_ >= planned_)
    throw BudgetExceeded(
        fmt::format("all {} planned steps have run; another one is not paid for", planned_),
        "make a new plan with its own budget");
  prepare(records);
  if (plan_) remember_untrained();
  std::optional<Rng> seeded;
  if (options_.insecure_seed)
    seeded = Rng::insecure_seed(step_seed(*options_.insecure_seed, done_));
  Rng& random = seeded ? *seeded : rng;
  // Dropout draws from LibTorch's generator, whose usual seed is known to everybody.
  torch::manual_seed(random.next_u64());

  train_mode(model_);
  if (plan_ && plan_->charges()) choose_thresholds(records, random);
  std::vector<std::int64_t> batch =
      sampler_.draw(static_cast<std::uint64_t>(records.size()), random);
  // Who gives nothing takes no seat either: it would move others', at no charge.
  if (filter_ && sizes_are_private())
    std::erase_if(batch, [&](std::int64_t r) { return levels_[static_cast<std::size_t>(r)] == 0; });
  const Seats where = seats(std::move(batch), random);
  if (plan_) {
    descend_privately(records, where, random);
  } else {
    optimizer_.step(plain_sum(records, where).div_(sampler_.expected_batch()), done_);
  }
  ++done_;
  iterate_.follow(done_, clipped_.parameters());
}

// Neighbours with as many records as each other sit alike as it is. Where a record may be absent,
// neither the size of a batch nor the row of another record may tell: a model that treats records
// one by one can still depend on both.
bool Trainer::sizes_are_private() const {
  return plan_ && plan_->options().relation == Relation::add_remove && !options_.micro_batches;
}

Seats Trainer::seats(std::vector<std::int64_t> batch, Rng& rng) const {
  if (!sizes_are_private()) return Seats::in_order(std::move(batch), physical_);
  if (!any_size_) return Seats::at_random(batch, seat_plan_, rng);
  return Seats::dealt(std::move(batch), seat_plan_, row_sizes_, rng);
}

void Trainer::for_physical_batches(const RecordSource& records, const Seats& seats,
                                   const PartVisit& visit) {
  // What is said may quote a value, and that something is said may depend on one record: one
  // message for all.
  const auto guarded = [&](std::span<const std::int64_t> indices) {
    const Batch b = records.take(indices);
    if (!plan_) return visit(b, indices);
    try {
      restore_untrained();
      visit(b, indices);
    } catch (const c10::Error&) {
      throw withheld();
    } catch (const Error&) {
      throw withheld();
    }
  };
  try {
    for (std::int64_t k = 0; k < seats.parts(); ++k) guarded(seats.part(k));
  } catch (...) {  // the next step would take what is left of a record for public
    if (plan_) restore_untrained();
    throw;
  }
  if (plan_) restore_untrained();
}

// Buffers and frozen parameters leave with the model, without noise: whatever a forward pass wrote
// into them is undone at once. They are looked at anew before each step: what was loaded in between
// is meant to stay.
void Trainer::remember_untrained() {
  untrained_.clear();
  for (const auto& p : model_.named_parameters())
    if (!p.value().requires_grad()) untrained_.emplace_back(p.value(), p.value().detach().clone());
  for (const auto& b : model_.named_buffers())
    untrained_.emplace_back(b.value(), b.value().detach().clone());
}

void Trainer::restore_untrained() {
  const torch::NoGradGuard no_grad;
  for (auto& [live, kept] : untrained_) {
    if (live.sizes() == kept.sizes() && live.scalar_type() == kept.scalar_type())
      live.copy_(kept);
    else  // given another shape on the way
      live.set_data(kept.clone());
  }
}

void Trainer::descend_privately(const RecordSource& records, const Seats& seats, Rng& rng) {
  clipped_.clear();
  torch::Tensor total;
  double losses = 0;
  std::int64_t seen = 0, counted = 0, within = 0;
  std::vector<std::int64_t> by_group(2 * group_clips_.size());
  for_physical_batches(records, seats, [&](const Batch& b, std::span<const std::int64_t> rows) {
    std::vector<bool> empty;
    for (const std::int64_t row : rows) empty.push_back(row == Seats::kEmpty);
    const std::vector<std::int64_t> of_group = groups_in(b);
    const std::vector<double> row_norms = filter_ ? own_norms(rows) : row_norms_of(of_group);
    const auto each = (options_.micro_batches
                           ? add_one_by_one(b, empty)
                           : clipped_.add(
                                 records_in(b), [&] { return objective_(b); }, empty, row_norms))
                          .to(torch::kDouble);
    for (std::size_t i = 0; i < empty.size(); ++i) {
      if (empty[i]) continue;
      losses += each.data_ptr<double>()[i];
      ++seen;
      // What teaches nothing is not counted either: a record that is nulled moves the count by what
      // it was, not by twice that.
      const double norm = clipped_.private_norms()[i];
      if (norm > 0 && norm * norm <= static_cast<double>(std::numeric_limits<float>::max())) {
        ++counted;
        count_group(of_group, i, norm, by_group);
      }
      if (norm == 0) --within;  // it lies within every threshold
    }
    if (seats.parts() == 1 || clipped_.flat().scalar_type() == torch::kDouble) return;
    if (!total.defined()) total = torch::zeros({clipped_.flat().numel()}, torch::kDouble);
    total.add_(clipped_.flat());
    within += clipped_.private_unclipped();
    clipped_.clear();
  });
  if (!total.defined()) within += clipped_.private_unclipped();
  private_loss_ = seen > 0 ? losses / static_cast<double>(seen) : 0;
  const double batch = sampler_.expected_batch();
  const torch::Tensor sum = total.defined() ? total : clipped_.flat();
  const double scale =
      adaptive_ && adaptive_->options().rescale ? plan_->options().clip / clip_ / batch : 1 / batch;
  // Nobody listens to the queries of a run outside of tests, so there is nothing to announce.
  optimizer_.step_with_noise(*noise_, sum, clip_, scale, rng, done_);
  // The count was taken, like the gradient, with the threshold of this step; only then does it
  // move.
  if (!group_clips_.empty()) {
    group_clips_ =
        adaptive_->update_groups(rng, std::move(group_clips_), plan_->options().clip, by_group);
    set_group_clips();
  } else if (adaptive_) {
    clip_ = adaptive_->update(rng, clip_, counted, within);
    clipped_.set_norm(clip_);
  }
}

// Nothing of a record may wait in the model for the next one.
torch::Tensor Trainer::add_one_by_one(const Batch& b, const std::vector<bool>& empty) {
  auto losses = torch::zeros({b.inputs.size(0)});
  clipped_.add_by_micro_batches(
      b.inputs.size(0),
      [&](std::int64_t i) {
        restore_untrained();
        std::vector<torch::Tensor> one;
        for (const auto& t : b.tensors()) one.push_back(t.narrow(0, i, 1));
        const auto loss = objective_(Batch::of(std::move(one)));
        if (loss.numel() != 1) throw Unsupported("an objective of one record gives one loss");
        losses[i] = loss.detach().reshape({});
        return loss;
      },
      empty);
  return losses;
}

torch::Tensor Trainer::plain_sum(const RecordSource& records, const Seats& seats) {
  for (const auto& p : clipped_.parameters()) p.tensor.mutable_grad() = torch::Tensor();
  double losses = 0;
  std::size_t seen = 0;
  for_physical_batches(records, seats, [&](const Batch& b, std::span<const std::int64_t> rows) {
    const torch::Tensor sum = objective_(b).sum();
    losses += sum.item<double>();
    seen += rows.size();
    sum.backward();
  });
  private_loss_ = seen == 0 ? 0 : losses / static_cast<double>(seen);
  std::vector<torch::Tensor> parts;
  for (const auto& p : clipped_.parameters()) {
    const torch::Tensor& g = p.tensor.grad();
    parts.push_back(!g.defined() ? torch::zeros({p.tensor.numel()})
                                 : (g.is_sparse() ? g.to_dense() : g).reshape({-1}));
  }
  return torch::cat(parts);
}

}  // namespace sotto::deep
