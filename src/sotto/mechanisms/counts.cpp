#include "sotto/mechanisms/counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/mechanisms/detail/rounding.hpp"
#include "sotto/noise/grid.hpp"

namespace sotto {
namespace {

std::map<std::string, std::size_t, std::less<>> index_of(
    const std::vector<std::string>& categories) {
  std::map<std::string, std::size_t, std::less<>> index;
  for (const std::string& category : categories) {
    if (!index.emplace(category, index.size()).second) {
      throw InvalidArgument(fmt::format("the category '{}' is declared twice", category));
    }
  }
  if (index.empty())
    throw InvalidArgument("no categories are declared; a histogram needs at least one");
  return index;
}

}  // namespace

LatticeNoise counting_noise(Relation relation, const Budget& budget, Distance distance,
                            std::size_t dimension) {
  double g = 1;
  if (std::holds_alternative<ApproximateBudget>(budget.kind())) {
    g = std::min(1.0, LatticeNoise::granularity_for_budget(budget, distance, dimension));
  }
  return LatticeNoise(relation, budget, g, {distance.l1 / g, distance.l2 / g},
                      dimension);  // ÷ a power of two: exact
}

Distance histogram_distance(Relation relation) {
  return relation == Relation::replace_one ? Distance{2, detail::sqrt_up(2)} : Distance{1, 1};
}

Distance times(const Distance& one, std::uint64_t records) {
  if (records == 1) return one;
  const auto k = static_cast<double>(records);
  return {detail::multiply_up(one.l1, k), detail::multiply_up(one.l2, k)};
}

std::vector<double> noisy_counts(const LatticeNoise& noise, std::span<const std::uint64_t> counts,
                                 Rng& rng) {
  const int128 steps_per_record = to_grid(1, noise.granularity());
  std::vector<int128> steps;
  steps.reserve(counts.size());
  // Fewer than 2^63 records and at most 2^62 steps each: no overflow.
  for (std::uint64_t count : counts) steps.push_back(static_cast<int128>(count) * steps_per_record);
  std::vector<double> result;
  result.reserve(counts.size());
  for (int128 noisy : noise.add(steps, rng))
    result.push_back(std::nearbyint(from_grid(noisy, noise.granularity())));
  return result;
}

CountPlan::CountPlan(const CountOptions& options)
    : allow_negative_(options.allow_negative),
      noise_(counting_noise(options.relation, options.budget, times({1, 1}, options.contributions),
                            1)) {}

Release<Statistic> CountPlan::run(std::uint64_t count, Rng& rng) const {
  double value = noisy_counts(noise_, {&count, 1}, rng)[0];
  if (!allow_negative_) value = std::max(value, 0.0);
  return {Statistic{value, noise_.info()}, *this};
}

HistogramPlan::HistogramPlan(HistogramOptions options)
    : options_(std::move(options)),
      index_(index_of(options_.categories)),
      noise_(counting_noise(options_.relation, options_.budget,
                            times(histogram_distance(options_.relation), options_.contributions),
                            options_.categories.size())) {
  if (options_.other && !index_.contains(*options_.other)) {
    throw InvalidArgument(
        fmt::format("the category for undeclared values, '{}', is not declared", *options_.other),
        "add it to the list of categories");
  }
}

std::string HistogramPlan::describe() const {
  return fmt::format("histogram over {} declared categories: {}", options_.categories.size(),
                     noise_.describe());
}

HistogramAccumulator HistogramPlan::start() const { return HistogramAccumulator(*this); }

Release<Histogram> HistogramPlan::run(std::span<const std::uint64_t> counts, Rng& rng) const {
  std::vector<double> values = noisy_counts(noise_, counts, rng);
  if (!options_.allow_negative) {
    for (double& v : values) v = std::max(v, 0.0);
  }
  return {Histogram{options_.categories, std::move(values), noise_.info()}, *this};
}

void HistogramAccumulator::add(std::string_view category) {
  ++records_;
  auto it = plan_.index_.find(category);
  if (it == plan_.index_.end() && plan_.options_.other)
    it = plan_.index_.find(*plan_.options_.other);
  if (it != plan_.index_.end()) {
    ++counts_[it->second];
  } else if (plan_.options_.unknown == UnknownCategory::refuse) {
    throw DataError(fmt::format("record {} has a category that is not declared", records_),
                    "declare it, name a category for undeclared values, or ask to ignore them");
  }
}

void HistogramAccumulator::merge(const HistogramAccumulator& other) {
  if (other.plan_.options_.categories != plan_.options_.categories) {
    throw InvalidArgument("cannot merge histograms over different categories");
  }
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  records_ += other.records_;
}

}  // namespace sotto
