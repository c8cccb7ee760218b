#include "sotto/deep/training/seats.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sotto/deep/training/detail/step_stream.hpp"

namespace sotto::deep {
namespace {

std::int64_t parts_of(std::int64_t size, std::int64_t most) { return (size + most - 1) / most; }

}  // namespace

std::int64_t seats_for(double expected) {
  return static_cast<std::int64_t>(std::ceil(expected + 7.2 * std::sqrt(expected) + 8));
}

SeatPlan plan_seats(double expected, std::int64_t most) {
  const std::int64_t seats = seats_for(expected), parts = parts_of(seats, most);
  return {parts_of(seats, parts), parts};
}

Seats Seats::in_order(std::vector<std::int64_t> batch, std::int64_t most) {
  return {std::move(batch), most};
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
  return {std::move(seats), plan.rows};
}

std::int64_t Seats::parts() const {
  return parts_of(static_cast<std::int64_t>(seats_.size()), rows_);
}

std::span<const std::int64_t> Seats::part(std::int64_t k) const {
  const auto first = static_cast<std::size_t>(k * rows_);
  return std::span(seats_).subspan(
      first, std::min(static_cast<std::size_t>(rows_), seats_.size() - first));
}

}  // namespace sotto::deep
