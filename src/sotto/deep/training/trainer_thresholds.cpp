// Thresholds of single records: by their group, or by what they have spent of budgets of their own.
#include <algorithm>
#include <limits>
#include <numeric>

#include "sotto/core/error.hpp"
#include "sotto/deep/training/detail/records_in.hpp"
#include "sotto/deep/training/trainer.hpp"

namespace sotto::deep {

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

}  // namespace sotto::deep
