// Summary: several statistics of a table in one release, with one budget.
//
// What       Count, sum, mean, variance, quantiles, histogram, covariance and correlation of
//            declared columns: of all records, of those that meet public conditions, or of each
//            group of a declared column.
// Guarantee  Costs at most the budget for neighbours under the relation and unit of the schema.
//            Conditions and groups need add_remove: what they leave of a table has a private size,
//            which the other relations would take for public.
// Method     The budget is split evenly; an (ε, δ) becomes the largest ρ that the accountant
//            confirms. Bounds and categories are the schema's, records are read by its encoder, and
//            a user's records are bounded before anything else
//            (data/table.hpp). A condition is a function of the record alone: who fails it is as if
//            absent. A record is in one group at most, so all groups together move by what its
//            record moves one of them: the queries of a statistic over all groups are one vector
//            with the sensitivity of a single group's, and one event pays for all of them.
//            With k records of a user in whatever groups the triangle inequality gives k times
//            that; the scores of quantiles add up in the same way.
// Numerics   As the mechanisms say (counts, moments, quantile, covariance). Values go through the
//            encoder's scale and back.
// Reference  docs/math/statistics.md, section "Several statistics".
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sotto/core/release.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/learning/facts.hpp"
#include "sotto/learning/source.hpp"
#include "sotto/mechanisms/budget.hpp"
#include "sotto/mechanisms/noise_info.hpp"

namespace sotto {

enum class SummaryKind { count, sum, mean, variance, quantile, histogram, covariance, correlation };

struct SummaryStatistic {
  SummaryKind kind = SummaryKind::count;
  std::string column = {}, second = {};  // second: of a covariance or correlation
  double probability = 0.5;              // of a quantile

  std::string text() const;  // "mean:age", as it is written
};
// "count", "mean:age", "median:age", "quantile:age:0.9", "covariance:age:income". Throws
// InvalidArgument.
SummaryStatistic summary_statistic(const std::string& text);

// A public condition on one column: one of these categories, or a number between these.
struct SummaryCondition {
  std::string column;
  std::vector<std::string> values = {};
  std::optional<double> lower = {}, upper = {};
  bool open = false;  // the bound itself is left out
};
// "city=Turin|Milan", "age>=30", "age<65". Throws InvalidArgument.
SummaryCondition summary_condition(const std::string& text);

struct SummaryRequest {
  std::vector<SummaryStatistic> statistics;
  std::vector<SummaryCondition> conditions = {};  // all of them must hold
  std::string group = {};                         // a column; empty: no groups
};

// One figure of one group.
struct SummaryLine {
  std::string statistic;  // "mean:age"
  std::string group = {};
  std::optional<double> value = {};  // none: a histogram, or it drowned in the noise
  std::vector<std::pair<std::string, double>> counts = {};  // of a histogram
  NoiseInfo noise = {};
};
using Summary = std::vector<SummaryLine>;

class SummaryPlan {
 public:
  // Throws InvalidArgument, DataError or Unsupported for what the schema does not declare.
  SummaryPlan(const Schema& schema, SummaryRequest request, const Budget& budget);

  Event event() const;
  Relation relation() const { return facts_.relation; }
  std::string describe() const;

  // What records must be read with: the columns that are asked about, and no others.
  const Facts& facts() const { return facts_; }
  Release<Summary> run(Source& source, Rng& rng) const;

 private:
  class Columns;
  class Part;
  std::vector<std::unique_ptr<Part>> parts(const Budget& budget) const;  // one for each statistic
  Event event(const Budget& budget) const;

  SummaryRequest request_;
  Facts facts_;
  std::shared_ptr<const Columns> columns_;
  std::vector<std::string> groups_;  // labels; one empty one without groups
  std::optional<Budget> share_;      // of each statistic
};

}  // namespace sotto
