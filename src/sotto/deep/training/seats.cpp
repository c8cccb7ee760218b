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

std::vector<std::int64_t> size_candidates(double expected, std::int64_t most) {
  constexpr std::int64_t kLeast = 16, kTile = 32, kMany = 24;
  const SeatPlan plan = plan_seats(expected, most);
  // A sample is hardly ever far below its expectation.
  const double low = (expected - 4 * std::sqrt(expected)) / static_cast<double>(plan.parts);
  const std::int64_t least = std::max(static_cast<std::int64_t>(low), kLeast);
  const std::int64_t tile =
      plan.rows <= 400 ? kTile / 4 : kTile * parts_of(plan.rows - least, kMany * kTile);
  std::int64_t largest = parts_of(plan.rows, tile) * tile;
  if (largest > most) largest -= tile;
  if (largest < least || largest * plan.parts < seats_for(expected)) return {};
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = largest; size >= least; size -= tile) sizes.insert(sizes.begin(), size);
  return sizes;
}

Seats::Seats(std::vector<std::int64_t> seats, std::int64_t rows) : seats_(std::move(seats)) {
  for (std::size_t end = 0; end < seats_.size();)
    ends_.push_back(end = std::min(end + static_cast<std::size_t>(rows), seats_.size()));
}

Seats Seats::in_order(std::vector<std::int64_t> batch, std::int64_t most) {
  return {std::move(batch), most};
}

Seats Seats::dealt(std::vector<std::int64_t> batch, SeatPlan plan,
                   std::span<const std::int64_t> sizes, Rng& rng) {
  constexpr std::int64_t kLeast = 2;  // one row alone has no axis that could be told from others
  StepStream words(rng);
  if (!sizes.empty())
    for (std::size_t i = 1; i < batch.size();
         ++i)  // one more takes somebody's place, and he the last
      std::swap(batch[i], batch[static_cast<std::size_t>(words.below(i + 1))]);
  const auto count = static_cast<std::int64_t>(batch.size());
  const std::int64_t most = sizes.empty() ? plan.rows : sizes.back();
  const std::int64_t parts = std::max(plan.parts, parts_of(count, most));
  Seats seats({}, most);
  for (std::int64_t k = 0; k < parts; ++k) {
    const std::int64_t own = (count - k + parts - 1) / parts;
    const std::int64_t rows =
        sizes.empty() ? std::max(own, kLeast) : *std::lower_bound(sizes.begin(), sizes.end(), own);
    for (std::int64_t row = 0; row < rows; ++row)
      seats.seats_.push_back(row < own ? batch[static_cast<std::size_t>(row * parts + k)] : kEmpty);
    seats.ends_.push_back(seats.seats_.size());
  }
  return seats;
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

std::int64_t Seats::parts() const { return static_cast<std::int64_t>(ends_.size()); }

std::span<const std::int64_t> Seats::part(std::int64_t k) const {
  const auto at = static_cast<std::size_t>(k);
  const std::size_t first = at == 0 ? 0 : ends_[at - 1];
  return std::span(seats_).subspan(first, ends_[at] - first);
}

}  // namespace sotto::deep
