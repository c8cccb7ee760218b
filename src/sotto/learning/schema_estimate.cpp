#include "sotto/learning/schema_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/core/error.hpp"
#include "sotto/data/number.hpp"
#include "sotto/mechanisms/bounds_estimate.hpp"
#include "sotto/mechanisms/stability_histogram.hpp"

namespace sotto {
namespace {

BoundsPlan bounds_plan(Relation relation, double epsilon) {
  return BoundsPlan(
      {.relation = relation, .budget = Budget::pure(epsilon), .non_finite = NonFinite::midpoint});
}
StabilityHistogramPlan categories_plan(Relation relation, double epsilon, double delta) {
  return StabilityHistogramPlan(relation, Epsilon(epsilon), Delta(delta));
}
CountPlan rows_plan(Relation relation, double epsilon) {
  return CountPlan({.relation = relation, .budget = Budget::pure(epsilon)});
}

double number_or_nan(std::string_view cell, bool decimal_comma) {
  std::string scratch;
  const NumberCell parsed = parse_number(decimal_comma ? with_point(cell, scratch) : cell);
  return parsed.kind == CellKind::number ? parsed.value : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

SchemaEstimatePlan::SchemaEstimatePlan(std::vector<DraftColumn> columns,
                                       const DraftOptions& options, const Budget& budget)
    : columns_(std::move(columns)), options_(options) {
  for (const DraftColumn& c : columns_) {
    numeric_ += c.type == ColumnType::numeric;
    categorical_ += c.type == ColumnType::categorical && !c.hashed;
  }
  const std::size_t parts = numeric_ + categorical_ + (counts_rows() ? 1 : 0);
  if (numeric_ + categorical_ == 0)
    throw InvalidArgument("no column is numeric or categorical: there is nothing to estimate");
  if (std::holds_alternative<ZcdpBudget>(budget.kind()))
    throw Unsupported("a schema cannot be estimated with a rho: finding categories needs a delta",
                      "use `epsilon` E `delta` D");
  const Budget share = budget.part(1.0 / static_cast<double>(parts));
  epsilon_ = share.pure_epsilon();
  if (categorical_ == 0) return;
  const auto* approximate = std::get_if<ApproximateBudget>(&budget.kind());
  if (approximate == nullptr) {
    throw InvalidArgument("finding the values of categorical columns needs a delta",
                          "give `delta` as well, e.g. 1e-6, or declare those columns otherwise");
  }
  const Budget delta_share = budget.part(1.0 / static_cast<double>(categorical_));
  delta_ = std::get<ApproximateBudget>(delta_share.kind()).delta.value();
}

bool SchemaEstimatePlan::counts_rows() const {
  return !options_.rows && !count_is_public(options_.relation);
}

Event SchemaEstimatePlan::event() const {
  std::vector<Event> parts;
  if (numeric_ > 0) parts.push_back(repeat(bounds_plan(relation(), epsilon_).event(), numeric_));
  if (categorical_ > 0)
    parts.push_back(repeat(categories_plan(relation(), epsilon_, delta_).event(), categorical_));
  if (counts_rows()) parts.push_back(rows_plan(relation(), epsilon_).event());
  return compose(std::move(parts));
}

std::string SchemaEstimatePlan::describe() const {
  std::string text = fmt::format("epsilon {:.4g} for each of", epsilon_);
  if (numeric_ > 0) text += fmt::format(" {} numeric columns (bounds),", numeric_);
  if (categorical_ > 0)
    text += fmt::format(" {} categorical columns (common categories, at least {:.0f} rows each),",
                        categorical_, categories_plan(relation(), epsilon_, delta_).threshold());
  if (counts_rows()) text += " the number of rows,";
  text.pop_back();
  return text;
}

Release<SchemaEstimatePlan::Estimate> SchemaEstimatePlan::run(CsvReader& file, Rng& rng) const {
  const BoundsPlan bounds = bounds_plan(relation(), epsilon_);
  std::vector<std::size_t> numeric, categorical;  // positions in columns_
  std::vector<std::size_t> field(columns_.size());
  std::vector<BoundsAccumulator> ranges;
  std::vector<StabilityHistogramAccumulator> values;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    field[i] = file.column(columns_[i].name);
    if (columns_[i].type == ColumnType::numeric) {
      numeric.push_back(i);
      ranges.push_back(bounds.start());
    } else if (columns_[i].type == ColumnType::categorical && !columns_[i].hashed) {
      categorical.push_back(i);
      values.push_back(categories_plan(relation(), epsilon_, delta_).start());
    }
  }
  std::uint64_t rows = 0;
  file.for_each_row([&](std::span<const std::string_view> cells, std::uint64_t) {
    ++rows;
    for (std::size_t k = 0; k < numeric.size(); ++k)
      ranges[k].add(number_or_nan(cells[field[numeric[k]]], file.decimal_comma()));
    for (std::size_t k = 0; k < categorical.size(); ++k) {
      const std::string_view cell = trimmed(cells[field[categorical[k]]]);
      if (!cell.empty()) values[k].add(cell);
    }
  });

  Estimate estimate{columns_, options_};
  for (std::size_t k = 0; k < numeric.size(); ++k) {
    DraftColumn& column = estimate.columns[numeric[k]];
    const BoundsEstimate found = std::move(ranges[k]).finish(rng).value;
    column.bounds = found.bounds;
    column.tolerant = true;
    column.note = found.bounds ? "bounds estimated privately"
                               : "no magnitude of numbers is common enough: is it numeric?";
  }
  for (std::size_t k = 0; k < categorical.size(); ++k) {
    DraftColumn& column = estimate.columns[categorical[k]];
    const Histogram found = std::move(values[k]).finish(rng).value;
    column.values = found.categories;
    column.note = column.values.empty() ? "no category is common enough: is it categorical?"
                                        : "values found privately; rarer ones are 'other'";
    if (column.values.size() > options_.max_categories)
      column.note +=
          fmt::format("; {} values, a coordinate of the model each", column.values.size());
  }
  if (counts_rows()) {
    const double noisy = rows_plan(relation(), epsilon_).run(rows, rng).value.value;
    estimate.options.rows = static_cast<std::uint64_t>(std::max(1.0, std::round(noisy)));
  } else if (!options_.rows) {
    if (rows == 0) throw DataError(file.label() + " has no rows");
    estimate.options.rows = rows;  // public under this relation
  }
  return {std::move(estimate), *this};
}

}  // namespace sotto
