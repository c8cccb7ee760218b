#include "sotto/deep/training/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "sotto/core/error.hpp"
#include "sotto/deep/detail/probe.hpp"
#include "sotto/deep/rows/not_row_wise.hpp"
#include "sotto/deep/training/alike_sizes.hpp"
#include "sotto/deep/training/detail/memory.hpp"

namespace sotto::deep {
namespace {

constexpr std::int64_t kMostAtOnce =
    512;  // more records at once are not faster: activations leave the cache

ClipOptions clip_options(const std::optional<DpSgdPlan>& plan, const TrainerOptions& options) {
  return {.rule = options.clip_rule,
          .norm = plan ? plan->options().clip : 1,
          .zero_above = options.zero_above,
          .memory = std::min<std::size_t>(options.memory / 4, std::size_t{256} << 20),
          .double_sums = plan && plan->options().noise == NoiseKind::exact};
}

rows::RecordTensors records_in(const Batch& b) {
  const auto tensors = b.tensors();
  return {tensors.begin(), tensors.end()};
}

DataError withheld() {
  return DataError(
      "a training step failed; what was said is withheld, since it may depend on private values",
      "try the model on made-up records of this shape to see the message");
}

// Made-up records depend on no private value, so what LibTorch says of them is passed on.
Unsupported fails_on_made_up_records(const c10::Error& e) {
  std::string said = e.what_without_backtrace();
  said = said.substr(0, said.find('\n'));
  return Unsupported(
      fmt::format("the model fails on made-up records of this shape: {}", said),
      "run it once on random numbers of this shape to see where; what writes into the output of "
      "a layer (x.select(1, 0) += y) must make a new tensor instead (x = x + y)");
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

void Trainer::prepare(const RecordSource& like) {
  if (prepared_) return;
  if (plan_ && !options_.micro_batches) require_private(model_);
  remember_untrained();
  train_mode(model_);  // as in a step
  try {
    if (physical_ == 0 && options_.micro_batches) physical_ = kMostAtOnce;
    if (physical_ == 0) find_physical_batch(like);
    if (plan_) check_model(like);
  } catch (const c10::Error& e) {
    restore_untrained();
    throw fails_on_made_up_records(e);
  } catch (...) {
    restore_untrained();
    throw;
  }
  restore_untrained();
  prepared_ = true;
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

std::string Trainer::row_by_row() const {
  if (options_.micro_batches)
    return "one record at a time; that the model keeps nothing of a record for the next: rehearsed";
  std::string words = "row by row: proved for the operations of every step; raw memory: rehearsed";
  if (used_.rehearsed > 0)
    words += fmt::format("; no use of the number of rows: rehearsed with 2, 3 and {} rows",
                         used_.rehearsed);
  return words;
}

template <class Visit>
void Trainer::for_physical_batches(const RecordSource& records, const Seats& seats, Visit&& visit) {
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

std::vector<std::int64_t> Trainer::groups_in(const Batch& batch) const {
  if (group_clips_.empty()) return {};
  const torch::NoGradGuard no_grad;
  const torch::Tensor groups = options_.group_of(batch).to(torch::kLong).contiguous();
  if (groups.dim() != 1 || groups.size(0) != batch.inputs.size(0))
    throw InvalidArgument("the groups of a batch are one number for each record");
  return {groups.data_ptr<std::int64_t>(), groups.data_ptr<std::int64_t>() + groups.size(0)};
}

// A record of no declared group has the smallest threshold.
std::vector<double> Trainer::row_norms_of(const std::vector<std::int64_t>& of_group) const {
  std::vector<double> norms;
  const auto groups = static_cast<std::int64_t>(group_clips_.size());
  for (const std::int64_t group : of_group)
    norms.push_back(group >= 0 && group < groups
                        ? group_clips_[static_cast<std::size_t>(group)]
                        : *std::min_element(group_clips_.begin(), group_clips_.end()));
  return norms;
}

std::vector<double> Trainer::own_norms(std::span<const std::int64_t> rows) const {
  std::vector<double> norms;
  for (const std::int64_t row : rows)
    norms.push_back(row == Seats::kEmpty ? 0
                                         : clip_ * levels_[static_cast<std::size_t>(row)] /
                                               static_cast<double>(SampledCharges::kLevels));
  return norms;
}

// Where everybody sits while norms are taken: as in a step, a record more must move nobody else.
Seats Trainer::seats_for_norms(std::size_t records, Rng& rng) const {
  std::vector<std::int64_t> order(records);
  std::iota(order.begin(), order.end(), std::int64_t{0});
  if (sizes_are_private()) {
    const auto declared = static_cast<double>(plan_->options().records);
    const std::int64_t rows = seat_plan_.rows;
    return Seats::at_random(order, {rows, (seats_for(declared) + rows - 1) / rows}, rng);
  }
  const auto rows = static_cast<std::size_t>(physical_);
  order.resize((records + rows - 1) / rows * rows, Seats::kEmpty);
  return Seats::in_order(std::move(order), physical_);
}

// The level of a record is a function of its own norm at released parameters, of its seat and of
// what it has spent. Norms are taken in batches of one size, filled up with empty rows.
void Trainer::choose_thresholds(const RecordSource& records, Rng& rng) {
  const auto n = static_cast<std::size_t>(records.size());
  if (!filter_) filter_.emplace(plan_->individual_budget(), n, OverBudget::shorten);
  if (filter_->private_spent().size() != n)
    throw InvalidArgument("individual budgets are for one set of records, and there is another");
  const std::uint64_t period = plan_->steps_of_a_threshold();
  if (done_ % period != 0 && !levels_.empty()) return;
  const std::uint64_t steps = std::min(period, planned_ - done_);
  filter_->begin_step((planned_ - done_ + period - 1) / period);
  levels_.assign(n, 0);
  const SampledCharges& charges = *plan_->charges();
  for_physical_batches(
      records, seats_for_norms(n, rng), [&](const Batch& b, std::span<const std::int64_t> indices) {
        clipped_.clear();
        clipped_.add(records_in(b), [&] { return objective_(b); });
        for (std::size_t i = 0; i < indices.size(); ++i) {
          if (indices[i] == Seats::kEmpty) continue;
          const double norm = clipped_.private_norms()[i] * (1 + kRoundingAllowance);
          if (!(norm * norm <= static_cast<double>(std::numeric_limits<float>::max()))) continue;
          const auto record = static_cast<std::size_t>(indices[i]);
          std::size_t level = SampledCharges::level_of(norm / clip_);
          const std::uint64_t most = filter_->private_allowance(record);
          while (level > 0 && charges.charge(level) * steps > most) --level;
          if (filter_->admit(record, charges.charge(level) * steps))
            levels_[record] = static_cast<std::uint8_t>(level);
        }
      });
  clipped_.clear();
}

void Trainer::count_group(const std::vector<std::int64_t>& of_group, std::size_t i, double norm,
                          std::vector<std::int64_t>& counts) const {
  const auto groups = static_cast<std::int64_t>(group_clips_.size());
  if (groups == 0 || of_group[i] < 0 || of_group[i] >= groups) return;
  const bool beyond = norm > plan_->options().clip / 2;
  ++counts[static_cast<std::size_t>(2 * of_group[i] + (beyond ? 0 : 1))];
}

void Trainer::set_group_clips() {
  clip_ = *std::max_element(group_clips_.begin(), group_clips_.end());
  clipped_.set_norm(clip_);
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
  if (noise_->kind() == NoiseKind::bulk && optimizer_.takes_noise() && !rng.watched()) {
    optimizer_.step_with_noise(rng, sum.to(torch::kFloat), noise_->sigma(clip_), scale, done_);
  } else {
    optimizer_.step(noise_->add(sum, clip_, rng).mul_(scale), done_);
  }
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

// A model that remembers a record elsewhere than in buffers would couple it with the next: the same
// record before and after another.
void Trainer::check_records_alone(const Batch& b) {
  const auto alone = [&](std::int64_t i) {
    std::vector<bool> empty(static_cast<std::size_t>(b.inputs.size(0)), true);
    empty[static_cast<std::size_t>(i)] = false;
    clipped_.clear();
    const auto losses = add_one_by_one(b, empty);
    return std::pair(losses, clipped_.flat().clone());
  };
  without_dropout(model_, [&] {
    const auto before = alone(0);
    alone(1);
    const auto after = alone(0);
    if (!torch::equal(before.first, after.first) || !torch::equal(before.second, after.second))
      throw NotRowWise("the model remembers a record while it computes the next one",
                       "keep nothing between records outside of registered buffers");
  });
  clipped_.clear();
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

// On made-up records: batch-coupled modules and parameters without per-sample gradient are refused
// before private data is used.
void Trainer::check_model(const RecordSource& records) {
  // Records that are alike would hide what couples them, so the first two differ in everything.
  const auto made_up = [&](std::int64_t count) {
    const Batch b = records.zeros(count);
    for (torch::Tensor t : b.tensors()) {
      if (t.is_floating_point()) {
        t.uniform_(0, 1);
      } else if (t.scalar_type() == torch::kBool) {  // a mask of nothing but yes is no mask
        const auto place = torch::arange(t.numel() / count), record = torch::arange(count);
        t.copy_(((place + record.unsqueeze(1)) % 3 == 0).reshape(t.sizes()));
      } else {
        t.random_(0, 2);
        t[0].fill_(0);
        if (count > 1) t[1].fill_(1);
      }
    }
    return b;
  };
  const Batch few = made_up(3);
  if (options_.micro_batches) {
    check_records_alone(few);
    proved_ =
        proved_ && exact() &&
        clipped_.rounding_is_bounded(static_cast<double>(seats_for(sampler_.expected_batch())));
    return;
  }
  const auto losses = [&](const std::vector<torch::Tensor>& b) { return objective_(Batch::of(b)); };
  clipped_.rehearse(records_in(few), losses);
  probe(model_, few.tensors(), losses, {}, options_.constants);
  if (sizes_are_private()) plan_sizes(made_up);
  if (!exact()) return;
  const Batch whole = made_up(!row_sizes_.empty()   ? row_sizes_.back()
                              : sizes_are_private() ? seat_plan_.rows
                                                    : physical_);
  // Found on made-up records alone, and never again: the certificate says it.
  clipped_.clear();
  clipped_.add(records_in(whole), [&] { return objective_(whole); });
  clipped_.clear();
  proved_ =
      proved_ &&
      clipped_.rounding_is_bounded(static_cast<double>(seats_for(sampler_.expected_batch()))) &&
      rows_are_apart(model_, whole.tensors(), losses, clipped_.clipper().options(),
                     options_.constants);
}

// Batches of any size need no empty rows, for models that make nothing of the number of rows. With
// exact noise, in which a record must not change a bit of another's gradient, of any size in which
// rows are computed alike. Else all batches have one size.
template <class MadeUp>
void Trainer::plan_sizes(MadeUp&& made_up) {
  seat_plan_ = plan_seats(sampler_.expected_batch(), physical_);
  std::vector<rows::RecordTensors> batches;
  for (const std::int64_t rows : {std::int64_t{2}, std::int64_t{3}, seat_plan_.rows}) {
    batches.push_back(records_in(made_up(rows)));
  }
  const auto losses = [&](const std::vector<torch::Tensor>& b) { return objective_(Batch::of(b)); };
  any_size_ = clipped_.same_for_any_size(batches, losses);
  if (!any_size_) return;
  if (exact()) {
    const auto candidates = size_candidates(sampler_.expected_batch(), physical_);
    if (!candidates.empty()) {
      const Batch largest = made_up(candidates.back());
      row_sizes_ = alike_sizes(model_, largest.tensors(), losses, clipped_.clipper().options(),
                               candidates, options_.constants);
    }
    any_size_ = !row_sizes_.empty();
  }
  if (!any_size_) return;
  clipped_.set_rows(exact() ? row_sizes_.back() : seat_plan_.rows);
  used_.rehearsed = std::max(used_.rehearsed, seat_plan_.rows);
  if (row_sizes_.empty()) return;
  used_.most = std::max(used_.most, row_sizes_.back());
  used_.least = used_.least == 0 ? row_sizes_.front() : std::min(used_.least, row_sizes_.front());
}

void Trainer::find_physical_batch(const RecordSource& records) {
  // The sum over several physical batches in double, and beside it, later, its noisy copy: whatever
  // the batch.
  constexpr std::size_t kBytesForEach = 2 * sizeof(double) + sizeof(float);
  const std::size_t rest = kBytesForEach * static_cast<std::size_t>(clipped_.flat().numel());
  const auto step = [&](std::int64_t count) {
    const Batch b = records.zeros(count);
    clipped_.clear();
    clipped_.add(records_in(b), [&] { return objective_(b); });
  };
  physical_ = records_in_memory(options_.memory, kMostAtOnce, step, rest);
  clipped_.clear();
}

std::optional<Event> Trainer::event() const {
  if (!plan_) return std::nullopt;
  return plan_->event(done_);
}

Bound Trainer::epsilon(double delta, const AccountOptions& options) const {
  if (!plan_) throw Unsupported("plain training has no epsilon: it is NOT PRIVATE");
  return plan_->epsilon(done_, delta, options);
}

TensorMap Trainer::parameters_to_release() {
  if (const torch::Tensor value = iterate_.value(); value.defined())
    unflatten(value, clipped_.parameters());
  model_.eval();
  TensorMap result;
  for (const auto& p : model_.named_parameters()) result[p.key()] = p.value().detach();
  for (const auto& b : model_.named_buffers()) result[b.key()] = b.value().detach();
  return result;
}

Release<TensorMap> Trainer::release() {
  if (!plan_) throw Unsupported("plain training makes no release: its result is NOT PRIVATE");
  return {parameters_to_release(), plan_->after(done_)};
}

Unprotected<TensorMap> Trainer::unprotected() {
  if (plan_) throw Unsupported("a private run makes a release", "use release()");
  return {parameters_to_release()};
}

std::string Trainer::fingerprint() const {
  nlohmann::ordered_json json = {{"private", is_private()},
                                 {"plan", plan_ ? plan_->fingerprint() : ""},
                                 {"clip_rule", static_cast<int>(options_.clip_rule)},
                                 {"zero_above", options_.zero_above},
                                 {"planned", planned_},
                                 {"sampling", name(sampler_.sampling())},
                                 {"batch", sampler_.expected_batch()},
                                 {"optimizer", to_json(options_.optimizer)},
                                 {"iterate", name(options_.iterate)},
                                 {"ema_decay", options_.ema_decay},
                                 {"insecure_seed", options_.insecure_seed.has_value()}};
  return json.dump();
}

TensorFile Trainer::state() const {
  TensorFile file;
  for (const auto& p : model_.named_parameters()) file.tensors["model." + p.key()] = p.value();
  for (const auto& b : model_.named_buffers()) file.tensors["model." + b.key()] = b.value();
  file.tensors.merge(optimizer_.state());
  file.tensors.merge(iterate_.state());
  file.tensors["clip"] = torch::full({1}, clip_, torch::kDouble);
  if (!group_clips_.empty())
    file.tensors["group_clips"] = torch::tensor(group_clips_, torch::kDouble);
  file.tensors["done"] = torch::full({1}, static_cast<std::int64_t>(done_), torch::kLong);
  file.tensors["proved"] = torch::full({1}, proved_, torch::kLong);
  file.tensors["row_sizes"] =
      torch::tensor({used_.rehearsed, used_.least, used_.most}, torch::kLong);
  file.metadata["sotto_trainer"] = "3";
  file.metadata["fingerprint"] = fingerprint();
  return file;
}

void Trainer::restore(const TensorFile& file) {
  const auto refuse = [](const std::string& why) {
    throw VerificationFailed(
        "the checkpoint does not belong to this run: " + why,
        "resume with the options the run was started with, or start a new run");
  };
  const auto metadata = [&](const char* key) {
    const auto it = file.metadata.find(key);
    return it == file.metadata.end() ? std::string() : it->second;
  };
  if (metadata("sotto_trainer") != "3") refuse("it was not written by this version");
  if (metadata("fingerprint") != fingerprint())
    refuse("privacy parameters, sampler, steps or optimiser differ");
  const TensorFile mine = state();
  if (mine.tensors.size() != file.tensors.size()) refuse("it has other tensors");
  for (const auto& [key, tensor] : mine.tensors) {
    const auto it = file.tensors.find(key);
    if (it == file.tensors.end() || it->second.sizes() != tensor.sizes() ||
        it->second.scalar_type() != tensor.scalar_type())
      refuse(fmt::format("tensor '{}' is missing or has another shape", key));
  }
  const torch::NoGradGuard no_grad;
  for (const auto& [key, tensor] : mine.tensors) torch::Tensor(tensor).copy_(file.tensors.at(key));
  const auto done = file.tensors.at("done").item<std::int64_t>();
  if (done < 0 || static_cast<std::uint64_t>(done) > planned_)
    refuse("its step is not one of the plan");
  if (plan_ && plan_->charges() && static_cast<std::uint64_t>(done) < planned_)
    refuse("what records have spent of their budgets is private and in no checkpoint");
  done_ = static_cast<std::uint64_t>(done);
  const double clip = file.tensors.at("clip").item<double>();
  if (!std::isfinite(clip) || !(clip > 0)) refuse("its clipping norm is not a number above 0");
  clip_ = clip;
  proved_ = file.tensors.at("proved").item<std::int64_t>() != 0;
  const auto* const sizes = file.tensors.at("row_sizes").data_ptr<std::int64_t>();
  used_ = {sizes[0], sizes[1], sizes[2]};
  if (plan_) clipped_.set_norm(clip_);
  if (!group_clips_.empty()) {
    const auto* const norms = file.tensors.at("group_clips").data_ptr<double>();
    for (std::size_t k = 0; k < group_clips_.size(); ++k) {
      if (!std::isfinite(norms[k]) || !(norms[k] > 0)) refuse("a clipping norm is not above 0");
      group_clips_[k] = norms[k];
    }
    set_group_clips();
  }
  iterate_.restored(done_);
}

}  // namespace sotto::deep
