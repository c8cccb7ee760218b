#include "sotto/models/synthesis/detail/perturbed_histogram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/mechanisms/counts.hpp"

namespace sotto {
namespace {

constexpr std::size_t kFewestBins = 2, kMostBins = 32;
// Average count of a cell, in units of the noise, that the rule wants.
constexpr double kSignal = 2;

std::size_t checked(const PerturbedHistogram::Options& options, double cells) {
  if (std::holds_alternative<ApproximateBudget>(options.budget.kind()))
    throw InvalidArgument("the perturbed histogram takes a pure epsilon or a rho");
  if (options.rows == 0)
    throw InvalidArgument("the declared number of rows is 0; it must be at least 1");
  if (!(cells <= static_cast<double>(PerturbedHistogram::kMostCells)))
    throw Unsupported(
        fmt::format("every combination of values is counted: {} cells, at most {} are allowed",
                    cells < 0x1p62 ? fmt::format("{:.0f}", cells) : "more than 2^62",
                    PerturbedHistogram::kMostCells),
        "use fewer columns, or another method");
  return static_cast<std::size_t>(cells);
}

}  // namespace

PerturbedHistogram::PerturbedHistogram(const Options& options, double cells)
    : rows_(static_cast<double>(options.rows)),
      noise_(counting_noise(options.relation, options.budget,
                            times(histogram_distance(options.relation), options.contributions),
                            checked(options, cells))) {}

std::size_t PerturbedHistogram::bins(const Options& options,
                                     const std::function<double(std::size_t)>& cells) {
  const Budget& budget = options.budget;
  const double one = budget.is_pure()
                         ? std::sqrt(2.0) / budget.pure_epsilon()
                         : 1 / std::sqrt(2 * std::get<ZcdpBudget>(budget.kind()).rho.value());
  const double most = std::min(static_cast<double>(kMostCells),
                               static_cast<double>(options.rows) /
                                   (kSignal * one * static_cast<double>(options.contributions)));
  std::size_t bins = kFewestBins;
  while (bins < kMostBins && cells(bins + 1) <= most) ++bins;
  return bins;
}

Release<std::vector<std::uint64_t>> PerturbedHistogram::run(std::span<const std::uint64_t> counts,
                                                            Rng& rng) const {
  return {cleaned_counts(noisy_counts(noise_, counts, rng), rows_), *this};
}

std::vector<std::uint64_t> cleaned_counts(std::vector<double> noisy, double total) {
  for (double& v : noisy) v = std::max(v, 0.0);
  std::vector<double> sorted = noisy;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  // With the m largest kept, lowering by (their sum − total)/m is right when it leaves them and no
  // others above 0.
  double sum = 0, lower = 0;
  for (std::size_t m = 0; m < sorted.size(); ++m) {
    sum += sorted[m];
    const double candidate = (sum - total) / static_cast<double>(m + 1);
    if (candidate < sorted[m]) lower = std::max(0.0, candidate);
  }
  std::vector<std::uint64_t> result(noisy.size());
  for (std::size_t i = 0; i < noisy.size(); ++i)
    result[i] = static_cast<std::uint64_t>(std::llround(std::max(0.0, noisy[i] - lower)));
  return result;
}

}  // namespace sotto
