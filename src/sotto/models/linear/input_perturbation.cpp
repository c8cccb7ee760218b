#include "sotto/models/linear/detail/input_perturbation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/models/linear/detail/non_private_fit.hpp"

namespace sotto {
namespace {

constexpr double kRegularisation = 1e-4;

// A number in [low, high] has bins of equal width; a boolean and a category have one cell for each
// value.
std::size_t cells_of(const EncodedColumn& c, std::size_t numbers) {
  return c.width > 1 ? c.width : c.boolean ? 2 : numbers;
}

std::size_t bin(double value, double low, double high, std::size_t bins) {
  const double at = std::floor((value - low) / (high - low) * static_cast<double>(bins));
  return static_cast<std::size_t>(std::clamp(at, 0.0, static_cast<double>(bins - 1)));
}
double bin_centre(std::size_t bin, double low, double high, std::size_t bins) {
  return low + (high - low) * (static_cast<double>(bin) + 0.5) / static_cast<double>(bins);
}

PerturbedHistogram::Options histogram_of(const PublicFacts& facts, const Budget& budget) {
  return {.relation = facts.relation,
          .budget = budget,
          .rows = facts.rows,
          .contributions = facts.contributions};
}

std::size_t bins_by_rule(const PublicFacts& facts, const Budget& budget) {
  return PerturbedHistogram::bins(histogram_of(facts, budget), [&](std::size_t bins) {
    return ProductGrid::cells(facts, bins);
  });
}

const PublicFacts& checked(const PublicFacts& facts, const Budget& budget) {
  if (std::holds_alternative<ApproximateBudget>(budget.kind()))
    throw InvalidArgument("input perturbation takes a pure epsilon or a rho");
  if (facts.columns.empty()) throw InvalidArgument("the columns of the rows are not known");
  for (const EncodedColumn& c : facts.columns) {
    if (c.hats == 0) continue;
    throw Unsupported("input perturbation makes records without hat functions",
                      "set basis = \"linear\" in the schema, or leave it out");
  }
  return facts;
}

}  // namespace

double ProductGrid::cells(const PublicFacts& facts, std::size_t numbers) {
  const bool classes = facts.kind != LinearKind::linear;
  double count = classes ? static_cast<double>(std::max<std::size_t>(facts.outputs, 2))
                         : static_cast<double>(numbers);
  for (const EncodedColumn& c : facts.columns) count *= static_cast<double>(cells_of(c, numbers));
  return count;
}

ProductGrid::ProductGrid(const PublicFacts& facts, std::size_t numbers)
    : columns_(facts.columns),
      numbers_(numbers),
      classes_(facts.kind == LinearKind::linear ? 0 : std::max<std::size_t>(facts.outputs, 2)),
      signed_target_(facts.kind != LinearKind::linear && facts.outputs == 1),
      size_(cells(facts, numbers)) {
  if (numbers == 0) throw InvalidArgument("the number of bins is 0; it must be at least 1");
}

std::optional<std::uint64_t> ProductGrid::cell(const ExactRows& rows, std::size_t i) const {
  const auto row = rows.row(i);
  if (std::all_of(row.begin(), row.end(), [](float v) { return v == 0; })) return std::nullopt;
  std::uint64_t cell = 0;
  for (const EncodedColumn& c : columns_) {
    const std::size_t count = cells_of(c, numbers_);
    std::size_t at = 0;
    if (c.width > 1) {
      const auto run = row.subspan(c.first, c.width);
      at = static_cast<std::size_t>(std::max_element(run.begin(), run.end()) - run.begin());
    } else {
      at = bin(static_cast<double>(row[c.first]) / rows.scale(), c.low, c.high, count);
    }
    cell = cell * count + at;
  }
  const double y = rows.target(i);
  if (classes_ == 0) return cell * numbers_ + bin(y, -1, 1, numbers_);
  const double index = signed_target_ ? (y > 0 ? 1.0 : 0.0) : y;
  const auto at = std::clamp(index, 0.0, static_cast<double>(classes_ - 1));
  return cell * classes_ + static_cast<std::uint64_t>(at);
}

void ProductGrid::centre(std::uint64_t cell, std::span<float> features, float& target) const {
  std::fill(features.begin(), features.end(), 0.0f);
  if (classes_ == 0) {
    target = static_cast<float>(bin_centre(cell % numbers_, -1, 1, numbers_));
    cell /= numbers_;
  } else {
    const auto index = static_cast<float>(cell % classes_);
    target = signed_target_ ? 2 * index - 1 : index;
    cell /= classes_;
  }
  for (auto c = columns_.rbegin(); c != columns_.rend(); ++c) {
    const std::size_t count = cells_of(*c, numbers_), at = cell % count;
    if (c->width > 1) {
      features[c->first + at] = 1;
    } else {
      features[c->first] = static_cast<float>(c->boolean ? static_cast<double>(at)
                                                         : bin_centre(at, c->low, c->high, count));
    }
    cell /= count;
  }
}

InputPerturbationPlan::InputPerturbationPlan(InputPerturbationOptions options,
                                             const PublicFacts& facts, const Budget& budget)
    : options_(options),
      facts_(checked(facts, budget)),
      grid_(facts_, options.bins != 0 ? options.bins : bins_by_rule(facts_, budget)),
      histogram_(histogram_of(facts_, budget), grid_.size()) {
  if (options_.regularisation == 0) options_.regularisation = kRegularisation;
}

std::string InputPerturbationPlan::describe() const {
  return fmt::format(
      "input perturbation: counts of {} cells ({} bins a number) with discrete {} noise of scale "
      "{:.4g}, turned into synthetic records; an ordinary {} fit on those",
      grid_.size(), grid_.numbers(), histogram_.noise().gaussian() ? "Gaussian" : "Laplace",
      histogram_.noise().scale(), name(facts_.kind));
}

std::vector<std::uint64_t> InputPerturbationPlan::counts(const ExactRows& rows) const {
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(grid_.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (const auto cell = grid_.cell(rows, i)) ++counts[*cell];
  }
  return counts;
}

Release<ExactRows> InputPerturbationPlan::synthesise(const ExactRows& rows, Rng& rng) const {
  const std::vector<std::uint64_t> cells = histogram_.run(counts(rows), rng).value;
  const std::size_t features = facts_.dimension - (rows.intercept() != 0 ? 1 : 0);
  ExactRows synthetic(features, rows.norm_bound(), rows.intercept());
  std::vector<float> record(features);
  float target = 0;
  for (std::uint64_t c = 0; c < cells.size(); ++c) {
    if (cells[c] == 0) continue;
    grid_.centre(c, record, target);
    for (std::uint64_t i = 0; i < cells[c]; ++i) synthetic.add(record, target);
  }
  return {std::move(synthetic), *this};
}

Release<LinearModel> InputPerturbationPlan::run(const ExactRows& rows, Rng& rng) const {
  if (rows.dimension() != facts_.dimension)
    invariant_broken("rows of another dimension than planned");
  const ExactRows synthetic = synthesise(rows, rng).value;
  return {fit_without_privacy(synthetic, {.loss = loss_of(facts_.kind),
                                          .outputs = facts_.outputs,
                                          .regularisation = options_.regularisation,
                                          .threads = options_.threads})
              .value,
          *this};
}

}  // namespace sotto
