#include "sotto/mechanisms/stability_histogram.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/text.hpp"

namespace sotto {

StabilityHistogramPlan::StabilityHistogramPlan(Relation relation, Epsilon epsilon, Delta delta,
                                               std::uint64_t contributions)
    : epsilon_(epsilon.value()),
      delta_(delta.value()),
      noise_(counting_noise(relation, Budget::pure(epsilon.value()),
                            times(histogram_distance(relation), contributions), 1)) {
  const auto c = static_cast<double>(contributions);
  // P(Z ≥ m) = q^m / (1 + q) for m ≥ 0 with q = e^{−1/b}: smallest m with that ≤ δ/c, and one step
  // more.
  const double b = noise_.scale_in_steps();
  const double steps = b * (std::log(c) - std::log(delta_) - std::log1p(std::exp(-1 / b)));
  if (!(steps < 0x1p52)) {
    throw InvalidArgument(fmt::format("epsilon {} and delta {} need a threshold above 2^52 records",
                                      epsilon_, delta_));
  }
  threshold_ = static_cast<std::int64_t>(contributions) +
               static_cast<std::int64_t>(std::ceil(std::max(0.0, steps))) + 1;
}

std::string StabilityHistogramPlan::describe() const {
  return fmt::format(
      "histogram over undeclared categories, noisy counts of {} and more (delta {}): {}",
      threshold_, delta_, noise_.describe());
}

StabilityHistogramAccumulator StabilityHistogramPlan::start() const {
  return StabilityHistogramAccumulator(*this);
}

Release<Histogram> StabilityHistogramPlan::run(
    const std::map<std::string, std::uint64_t, std::less<>>& counts, Rng& rng) const {
  Histogram result{{}, {}, noise_.info()};
  for (const auto& [category, count] : counts) {
    if (count == 0) continue;  // a category that does not occur is not noised
    const double noisy = noisy_counts(noise_, {&count, 1}, rng)[0];
    if (noisy < threshold()) continue;
    result.categories.push_back(category);
    result.counts.push_back(noisy);
  }
  return {std::move(result), *this};
}

void StabilityHistogramAccumulator::add(std::string_view category) {
  if (!is_utf8(category)) return add(as_utf8(category));
  auto it = counts_.find(category);
  if (it == counts_.end()) it = counts_.emplace(category, 0).first;
  ++it->second;
}

void StabilityHistogramAccumulator::merge(const StabilityHistogramAccumulator& other) {
  for (const auto& [category, count] : other.counts_) counts_[category] += count;
}

}  // namespace sotto
