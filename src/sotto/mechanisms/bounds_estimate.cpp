#include "sotto/mechanisms/bounds_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sotto {
namespace {

std::size_t count_magnitudes(const BoundsOptions& o) {
  if (o.smallest_exponent < -1000 || o.largest_exponent > 1000 ||
      o.smallest_exponent > o.largest_exponent) {
    throw InvalidArgument(fmt::format(
        "the exponents run from {} to {}; they must lie within -1000 and 1000, in this order",
        o.smallest_exponent, o.largest_exponent));
  }
  if (!(o.false_alarm > 0 && o.false_alarm < 1)) {
    throw InvalidArgument(
        fmt::format("false_alarm is {}; it must be above 0 and below 1", o.false_alarm));
  }
  return static_cast<std::size_t>(o.largest_exponent - o.smallest_exponent) + 1;
}

}  // namespace

// Bins from left to right: negative magnitudes falling, the bin around 0, positive magnitudes
// rising.
BoundsPlan::BoundsPlan(const BoundsOptions& options)
    : options_(options),
      magnitudes_(count_magnitudes(options)),
      noise_(counting_noise(options.relation, options.budget, histogram_distance(options.relation),
                            2 * magnitudes_ + 1)) {
  const double bins = static_cast<double>(2 * magnitudes_ + 1), scale = noise_.scale();
  const double log_odds = std::log(bins / options.false_alarm);
  threshold_ = std::ceil(noise_.gaussian() ? scale * std::sqrt(2 * log_odds) : scale * log_odds);
}

std::string BoundsPlan::describe() const {
  return fmt::format(
      "bounds from a histogram of magnitudes 2^{} to 2^{}, bins of more than {} noisy records: {}",
      options_.smallest_exponent, options_.largest_exponent + 1, threshold_, noise_.describe());
}

std::size_t BoundsPlan::bin(double x) const {
  int exponent = 0;
  std::frexp(x, &exponent);  // 2^(exponent−1) ≤ |x| < 2^exponent
  const int k = std::min(exponent - 1, options_.largest_exponent) - options_.smallest_exponent;
  if (x == 0 || k < 0) return magnitudes_;
  const auto offset = static_cast<std::size_t>(k) + 1;
  return x < 0 ? magnitudes_ - offset : magnitudes_ + offset;
}

Bounds BoundsPlan::edges(std::size_t bin) const {
  const double smallest = std::ldexp(1.0, options_.smallest_exponent);
  if (bin == magnitudes_) return Bounds(-smallest, smallest);
  const int offset = static_cast<int>(bin) - static_cast<int>(magnitudes_);
  const double inner = std::ldexp(smallest, std::abs(offset) - 1);
  return offset > 0 ? Bounds(inner, 2 * inner) : Bounds(-2 * inner, -inner);
}

BoundsAccumulator BoundsPlan::start() const { return BoundsAccumulator(*this); }

Release<BoundsEstimate> BoundsPlan::run(std::span<const double> records, Rng& rng) const {
  BoundsAccumulator accumulator = start();
  for (double x : records) accumulator.add(x);
  return std::move(accumulator).finish(rng);
}

Release<BoundsEstimate> BoundsPlan::finish(std::span<const std::uint64_t> counts, Rng& rng) const {
  const std::vector<double> noisy = noisy_counts(noise_, counts, rng);
  BoundsEstimate estimate{{}, threshold_, noise_.info()};
  for (std::size_t i = 0; i < noisy.size(); ++i) {
    if (!(noisy[i] > threshold_)) continue;
    const Bounds here = edges(i);
    estimate.bounds =
        Bounds(estimate.bounds ? estimate.bounds->lower() : here.lower(), here.upper());
  }
  return {std::move(estimate), *this};
}

void BoundsAccumulator::add(double x) {
  ++records_;
  if (std::isfinite(x)) {
    ++counts_[plan_.bin(x)];
  } else if (plan_.options_.non_finite == NonFinite::refuse) {
    throw DataError(fmt::format("record {} is not a finite number", records_));
  }
}

void BoundsAccumulator::merge(const BoundsAccumulator& other) {
  if (other.counts_.size() != counts_.size())
    throw InvalidArgument("cannot merge estimates over different bins");
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  records_ += other.records_;
}

}  // namespace sotto
