#include "sotto/learning/fit_evaluation.hpp"

#include <algorithm>
#include <cmath>

namespace sotto {
namespace {

constexpr double kFitStep = 0x1p-30;

// The number of records that are no null records, the model's sums, and the number of all.
std::vector<int128> sums_of(const UnsupervisedModel& model, Source& source) {
  const std::size_t size = model.measures() + 2;
  return source.sum(size, [&](const Table& table, std::span<int128> sums) {
    std::vector<double> row(model.encoder().width()), numbers(model.measures());
    for (std::size_t i = 0; i < table.rows(); ++i) {
      if (table.is_null(i)) continue;
      table.row(i, row);
      model.measure(row, numbers);
      sums[0] += static_cast<std::int64_t>(1 / kFitStep);
      for (std::size_t m = 0; m < numbers.size(); ++m)
        if (std::isfinite(numbers[m]))
          sums[1 + m] += static_cast<std::int64_t>(std::clamp(numbers[m], -1.0, 1.0) / kFitStep);
    }
    sums[size - 1] += table.rows();
  });
}

std::vector<double> natural(const std::vector<int128>& sums) {
  std::vector<double> values;
  for (const int128 s : sums) values.push_back(static_cast<double>(s) * kFitStep);
  return values;
}

LatticeNoise noise_of(const UnsupervisedModel& model, Relation relation,
                      std::uint64_t contributions, const Budget& budget) {
  const Distance bound = model.measure_bound();
  const double factor =
      contribution_factor(relation) * static_cast<double>(contributions) * (1 + 0x1p-40) / kFitStep;
  return {relation,
          budget,
          kFitStep,
          {.l1 = (1 + bound.l1) * factor, .l2 = std::hypot(1.0, bound.l2) * factor},
          1 + model.measures()};
}

}  // namespace

nlohmann::ordered_json fit_figures(const UnsupervisedModel& model, Source& source) {
  const std::vector<double> sums = natural(sums_of(model, source));
  return model.figures(std::span(sums).subspan(1, model.measures()), sums[0], 0);
}

FitEvaluationPlan::FitEvaluationPlan(const UnsupervisedModel& model, Relation relation,
                                     std::uint64_t contributions, const Budget& budget)
    : model_(model), noise_(noise_of(model, relation, contributions, budget)) {}

Release<nlohmann::ordered_json> FitEvaluationPlan::run(Source& source, Rng& rng) const {
  std::vector<int128> exact = sums_of(model_, source);
  const auto rows = static_cast<double>(exact.back());
  exact.pop_back();
  const std::vector<double> sums = natural(noise_.add(exact, rng));
  const double sigma = noise_.info().standard_deviation.value();
  // Whoever is replaced is still there: the number is public. A nulled record is not.
  const double n = relation() == Relation::replace_one ? rows : sums[0];
  return {model_.figures(std::span(sums).subspan(1), n, sigma * sigma), *this};
}

}  // namespace sotto
