#include "sotto/deep/training/seats.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sotto/deep/training/step_stream.hpp"

namespace sotto::deep {
namespace {

std::int64_t parts_of(std::int64_t size, std::int64_t most) { return (size + most - 1) / most; }

}  // namespace

SeatPlan plan_seats(const BatchSampler& sampler, std::int64_t most) {
  const double expected = sampler.expected_batch();
  const bool fixed = sampler.sampling() == Sampling::without_replacement ||
                     sampler.sampling() == Sampling::with_replacement;
  const auto seats = static_cast<std::int64_t>(
      std::ceil(fixed ? expected : expected + 7 * std::sqrt(expected) + 8));
  const std::int64_t parts = parts_of(std::max<std::int64_t>(seats, 1), most);
  return {parts_of(seats, parts), parts};
}

Seats Seats::in_order(std::vector<std::int64_t> batch, std::int64_t most) {
  const std::int64_t parts = parts_of(static_cast<std::int64_t>(batch.size()), most);
  return {std::move(batch), parts};
}

Seats Seats::at_random(const std::vector<std::int64_t>& batch, SeatPlan plan, Rng& rng) {
  StepStream words(rng);
  const auto size = static_cast<std::int64_t>(batch.size());
  const std::int64_t parts = std::max(plan.parts, parts_of(size, plan.rows));
  std::vector<std::int64_t> free(static_cast<std::size_t>(parts * plan.rows));
  std::vector<std::int64_t> seats(free.size(), kEmpty);
  std::iota(free.begin(), free.end(), std::int64_t{0});
  for (std::size_t i = 0; i < batch.size(); ++i) {
    std::swap(free[i], free[i + words.below(free.size() - i)]);
    seats[static_cast<std::size_t>(free[i])] = batch[i];
  }
  return {std::move(seats), parts};
}

std::span<const std::int64_t> Seats::part(std::int64_t k) const {
  const auto size = static_cast<std::int64_t>(seats_.size());
  const std::int64_t first = size * k / parts_, last = size * (k + 1) / parts_;
  return std::span(seats_).subspan(static_cast<std::size_t>(first),
                                   static_cast<std::size_t>(last - first));
}

}  // namespace sotto::deep
