#include "sotto/learning/summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "sotto/core/error.hpp"
#include "sotto/core/nearest_name.hpp"
#include "sotto/learning/confirmed_budget.hpp"
#include "sotto/mechanisms/counts.hpp"
#include "sotto/mechanisms/covariance.hpp"
#include "sotto/mechanisms/moments.hpp"
#include "sotto/mechanisms/quantile.hpp"

namespace sotto {
namespace {

// The columns that are asked about are features, all others are not read.
Schema reduced(const Schema& schema, const SummaryRequest& request) {
  std::set<std::string> used;
  for (const SummaryStatistic& s : request.statistics) used.insert({s.column, s.second});
  for (const SummaryCondition& c : request.conditions) used.insert(c.column);
  used.insert(request.group);
  used.erase("");
  for (const std::string& name : used) schema.column(name);  // throws for a column that is none
  Schema result = schema;
  const auto usable = [](const ColumnSchema& c) {
    return (c.type == ColumnType::numeric && c.bounds) || c.type == ColumnType::boolean ||
           (c.type == ColumnType::categorical && !c.values.empty());
  };
  if (used.empty()) {  // a count of records: any column will do to read them by
    const auto any = std::find_if(schema.columns.begin(), schema.columns.end(), usable);
    if (any == schema.columns.end()) throw DataError("the schema declares no column to read");
    used.insert(any->name);
  }
  for (ColumnSchema& c : result.columns) {
    const bool wanted = used.contains(c.name);
    if (wanted && (c.role == Role::user || !usable(c)))
      throw InvalidArgument(
          fmt::format("nothing can be said of the column '{}'", c.name),
          "declare it as numeric with bounds, boolean, or categorical with its values listed");
    if (c.role != Role::user) c.role = wanted ? Role::feature : Role::ignore;
  }
  result.feature_norm.reset();
  result.scaling = Scaling::symmetric;
  result.basis = NumericBasis::linear;
  return result;
}

}  // namespace

// Where the encoder keeps a column, and what its values mean.
class SummaryPlan::Columns {
 public:
  explicit Columns(std::shared_ptr<const Encoder> encoder) : encoder_(std::move(encoder)) {
    std::size_t dense = 0, hot = 0;
    for (const ColumnEncoder& f : encoder_->features())
      places_.push_back(f.is_categorical() ? hot++ : dense++);
  }
  std::size_t find(const std::string& name) const {
    const auto& features = encoder_->features();
    for (std::size_t f = 0; f < features.size(); ++f)
      if (features[f].column().name == name) return f;
    invariant_broken("a column that was not kept");
  }
  bool has_labels(std::size_t f) const { return !encoder_->features()[f].is_numeric(); }
  const std::vector<std::string>& labels(std::size_t f) const {
    return encoder_->features()[f].labels();
  }
  // Of a number, or 0 and 1 of a boolean.
  Bounds bounds(std::size_t f) const {
    const ColumnSchema& column = encoder_->features()[f].column();
    return column.bounds ? *column.bounds : Bounds(0, 1);
  }
  bool is_number(std::size_t f) const { return !encoder_->features()[f].is_categorical(); }
  double number(const Table& table, std::size_t row, std::size_t f) const {
    const double value = table.dense(row)[places_[f]];
    const ColumnEncoder& column = encoder_->features()[f];
    return column.is_numeric() ? column.unscaled(value) : value;
  }
  std::size_t index(const Table& table, std::size_t row, std::size_t f) const {
    if (!encoder_->features()[f].is_categorical())
      return table.dense(row)[places_[f]] >= 0.5 ? 1 : 0;
    return table.hot(row)[places_[f]] - encoder_->run(f).first;
  }

 private:
  std::shared_ptr<const Encoder> encoder_;
  std::vector<std::size_t> places_;  // among the dense or the hot ones
};

// One statistic over all groups. add() gets every record that meets the conditions, null ones too.
class SummaryPlan::Part {
 public:
  virtual ~Part() = default;
  virtual Event event() const = 0;
  virtual std::string describe() const = 0;
  virtual void add(const Table& table, std::size_t row, std::size_t group) = 0;
  virtual SummaryLine finish(std::size_t group, Rng& rng) = 0;
};

namespace {

SummaryLine line_of(const Statistic& statistic) {
  return {.statistic = {}, .value = statistic.value, .noise = statistic.noise};
}

constexpr double kNull = std::numeric_limits<double>::quiet_NaN();

}  // namespace

std::vector<std::unique_ptr<SummaryPlan::Part>> SummaryPlan::parts(const Budget& budget) const {
  const Columns& columns = *columns_;
  const std::size_t groups = groups_.size();

  // A plan whose accumulators take the numbers of one column: moments and quantiles.
  const auto of_numbers = [&]<class Plan>(const Plan& plan,
                                          std::size_t f) -> std::unique_ptr<Part> {
    struct Numbers final : Part {
      Numbers(const Plan& p, std::size_t f, std::size_t groups, std::shared_ptr<const Columns> c)
          : plan(p), field(f), columns(std::move(c)) {
        for (std::size_t g = 0; g < groups; ++g) sums.push_back(plan.start());
      }
      Event event() const override { return plan.event(); }
      std::string describe() const override { return plan.describe(); }
      void add(const Table& table, std::size_t row, std::size_t group) override {
        sums[group].add(table.is_null(row) ? kNull : columns->number(table, row, field));
      }
      SummaryLine finish(std::size_t group, Rng& rng) override {
        return line_of(std::move(sums[group]).finish(rng).value);
      }
      Plan plan;
      std::size_t field;
      std::shared_ptr<const Columns> columns;
      std::vector<decltype(plan.start())> sums;
    };
    return std::make_unique<Numbers>(plan, f, groups, columns_);
  };

  struct Counts final : Part {
    Counts(const CountPlan& p, std::size_t groups) : plan(p), counts(groups) {}
    Event event() const override { return plan.event(); }
    std::string describe() const override { return plan.describe(); }
    void add(const Table& table, std::size_t row, std::size_t group) override {
      counts[group] += table.is_null(row) ? 0 : 1;
    }
    SummaryLine finish(std::size_t group, Rng& rng) override {
      return line_of(plan.run(counts[group], rng).value);
    }
    CountPlan plan;
    std::vector<std::uint64_t> counts;
  };

  struct Histograms final : Part {
    Histograms(const HistogramPlan& p, std::size_t f, std::size_t groups,
               std::shared_ptr<const Columns> c)
        : plan(p),
          field(f),
          columns(std::move(c)),
          counts(groups, std::vector<std::uint64_t>(plan.categories().size())) {}
    Event event() const override { return plan.event(); }
    std::string describe() const override { return plan.describe(); }
    void add(const Table& table, std::size_t row, std::size_t group) override {
      if (!table.is_null(row)) ++counts[group][columns->index(table, row, field)];
    }
    SummaryLine finish(std::size_t group, Rng& rng) override {
      const Histogram histogram = plan.run(counts[group], rng).value;
      SummaryLine line{.statistic = {}, .noise = histogram.noise};
      for (std::size_t i = 0; i < histogram.categories.size(); ++i)
        line.counts.emplace_back(histogram.categories[i], histogram.counts[i]);
      return line;
    }
    HistogramPlan plan;
    std::size_t field;
    std::shared_ptr<const Columns> columns;
    std::vector<std::vector<std::uint64_t>> counts;
  };

  struct Pairs final : Part {
    Pairs(const CovariancePlan& p, bool correlation, std::size_t a, std::size_t b,
          std::size_t groups, std::shared_ptr<const Columns> c)
        : plan(p), scaled(correlation), first(a), second(b), columns(std::move(c)) {
      for (std::size_t g = 0; g < groups; ++g) sums.push_back(plan.start());
    }
    Event event() const override { return plan.event(); }
    std::string describe() const override { return plan.describe(); }
    void add(const Table& table, std::size_t row, std::size_t group) override {
      const bool null = table.is_null(row);
      sums[group].add(null ? kNull : columns->number(table, row, first),
                      null ? kNull : columns->number(table, row, second));
    }
    SummaryLine finish(std::size_t group, Rng& rng) override {
      const CovarianceFigures figures = std::move(sums[group]).finish(rng).value;
      if (!scaled) return line_of(figures.covariance);
      return figures.correlation ? line_of(*figures.correlation)
                                 : SummaryLine{.statistic = {}, .noise = figures.covariance.noise};
    }
    CovariancePlan plan;
    bool scaled;
    std::size_t first, second;
    std::shared_ptr<const Columns> columns;
    std::vector<CovarianceAccumulator> sums;
  };

  const auto number = [&](const std::string& name) {
    const std::size_t f = columns.find(name);
    if (!columns.is_number(f))
      throw InvalidArgument(fmt::format("the column '{}' is categorical, not a number", name),
                            "ask for its histogram");
    return f;
  };
  const std::uint64_t k = facts_.contributions;
  const Relation r = facts_.relation;
  std::vector<std::unique_ptr<Part>> result;
  for (const SummaryStatistic& s : request_.statistics) {
    switch (s.kind) {
      case SummaryKind::count:
        result.push_back(std::make_unique<Counts>(
            CountPlan({.relation = r, .budget = budget, .contributions = k}), groups));
        break;
      case SummaryKind::sum:
      case SummaryKind::mean:
      case SummaryKind::variance: {
        const Moment moment = s.kind == SummaryKind::sum    ? Moment::sum
                              : s.kind == SummaryKind::mean ? Moment::mean
                                                            : Moment::variance;
        const std::size_t f = number(s.column);
        result.push_back(of_numbers(
            MomentPlan(
                moment,
                {.relation = r, .bounds = columns.bounds(f), .budget = budget, .contributions = k}),
            f));
        break;
      }
      case SummaryKind::quantile: {
        const std::size_t f = number(s.column);
        result.push_back(of_numbers(QuantilePlan({.relation = r,
                                                  .bounds = columns.bounds(f),
                                                  .probability = s.probability,
                                                  .budget = budget,
                                                  .contributions = k}),
                                    f));
        break;
      }
      case SummaryKind::histogram: {
        const std::size_t f = columns.find(s.column);
        if (!columns.has_labels(f))
          throw InvalidArgument(
              fmt::format("the column '{}' is a number and has no categories", s.column),
              "ask for quantiles");
        result.push_back(
            std::make_unique<Histograms>(HistogramPlan({.relation = r,
                                                        .categories = columns.labels(f),
                                                        .budget = budget,
                                                        .contributions = k}),
                                         f, groups, columns_));
        break;
      }
      case SummaryKind::covariance:
      case SummaryKind::correlation: {
        const std::size_t a = number(s.column), b = number(s.second);
        result.push_back(std::make_unique<Pairs>(CovariancePlan({.relation = r,
                                                                 .first = columns.bounds(a),
                                                                 .second = columns.bounds(b),
                                                                 .budget = budget,
                                                                 .contributions = k}),
                                                 s.kind == SummaryKind::correlation, a, b, groups,
                                                 columns_));
        break;
      }
    }
  }
  return result;
}

namespace {

// Conditions with their columns found; checked before anything is read.
struct Filter {
  std::size_t field;
  std::vector<bool> allowed;  // of a column with labels
  double lower = -INFINITY, upper = INFINITY;
  bool open = false;
};

}  // namespace

SummaryPlan::SummaryPlan(const Schema& schema, SummaryRequest request, const Budget& budget)
    : request_(std::move(request)), facts_(table_facts(reduced(schema, request_))) {
  if (request_.statistics.empty()) throw InvalidArgument("no statistic is asked for");
  columns_ = std::make_shared<const Columns>(facts_.encoder);
  if (facts_.unit == Unit::user && facts_.relation != Relation::add_remove)
    throw Unsupported(
        fmt::format("statistics of users do not go with {}: how many of their records are kept is "
                    "private",
                    name(facts_.relation)),
        "declare relation = \"add_remove\" in the schema");
  const bool part = !request_.conditions.empty() || !request_.group.empty();
  if (part && facts_.relation != Relation::add_remove)
    throw Unsupported(
        fmt::format("conditions and groups do not go with {}: how many records they leave is "
                    "private, and this relation takes it for public",
                    name(facts_.relation)),
        "declare relation = \"add_remove\" in the schema");
  for (const SummaryCondition& c : request_.conditions) {
    const std::size_t f = columns_->find(c.column);
    const bool numeric = !columns_->has_labels(f);
    if (numeric != c.values.empty())
      throw InvalidArgument(fmt::format("the condition on '{}' does not fit: it {}", c.column,
                                        numeric ? "is a number" : "has values"),
                            numeric ? "compare it with < <= > or >=" : "write COLUMN=VALUE|VALUE");
    for (const std::string& value : c.values) {
      const auto& labels = columns_->labels(f);
      if (std::find(labels.begin(), labels.end(), value) == labels.end())
        throw InvalidArgument(fmt::format("'{}' is no declared value of '{}'", value, c.column),
                              name_hint(value, labels, "values"));
    }
  }
  groups_ = {""};
  if (!request_.group.empty()) {
    const std::size_t f = columns_->find(request_.group);
    if (!columns_->has_labels(f))
      throw InvalidArgument(
          fmt::format("the column '{}' is a number and makes no groups", request_.group),
          "declare it as categorical with its values");
    groups_ = columns_->labels(f);
  }
  const Budget all = confirmed(budget, facts_.relation, [&](const Budget& b) { return event(b); });
  share_ = all.part(1.0 / static_cast<double>(request_.statistics.size()));
  parts(*share_);  // what a column does not have is refused here, whatever the budget
}

Event SummaryPlan::event(const Budget& budget) const {
  std::vector<Event> events;
  for (const auto& part : parts(budget.part(1.0 / static_cast<double>(request_.statistics.size()))))
    events.push_back(part->event());
  return events.size() == 1 ? events.front() : compose(std::move(events));
}

Event SummaryPlan::event() const {
  std::vector<Event> events;
  for (const auto& part : parts(*share_)) events.push_back(part->event());
  return events.size() == 1 ? events.front() : compose(std::move(events));
}

std::string SummaryPlan::describe() const {
  std::vector<std::string> words;
  for (const auto& part : parts(*share_)) words.push_back(part->describe());
  std::string text = fmt::format("{}", fmt::join(words, "; "));
  if (!request_.group.empty())
    text += fmt::format("; in each of {} groups of '{}', of which a record is in one",
                        groups_.size(), request_.group);
  if (!request_.conditions.empty())
    text += fmt::format("; of the records that meet {}",
                        request_.conditions.size() == 1 ? "the condition" : "all conditions");
  return text;
}

Release<Summary> SummaryPlan::run(Source& source, Rng& rng) const {
  std::vector<Filter> filters;
  for (const SummaryCondition& c : request_.conditions) {
    Filter filter{.field = columns_->find(c.column), .allowed = {}};
    if (columns_->has_labels(filter.field)) {
      for (const std::string& label : columns_->labels(filter.field))
        filter.allowed.push_back(std::find(c.values.begin(), c.values.end(), label) !=
                                 c.values.end());
    }
    filter.lower = c.lower.value_or(-INFINITY);
    filter.upper = c.upper.value_or(INFINITY);
    filter.open = c.open;
    filters.push_back(std::move(filter));
  }
  const auto meets = [&](const Table& table, std::size_t row) {
    return std::all_of(filters.begin(), filters.end(), [&](const Filter& f) {
      if (!f.allowed.empty()) return bool(f.allowed[columns_->index(table, row, f.field)]);
      const double x = columns_->number(table, row, f.field);
      return f.open ? x > f.lower && x < f.upper : x >= f.lower && x <= f.upper;
    });
  };
  std::optional<std::size_t> group;
  if (!request_.group.empty()) group = columns_->find(request_.group);
  std::vector<std::unique_ptr<Part>> parts = this->parts(*share_);
  source.each([&](const Block& block) {
    const Table& table = block.table();
    for (std::size_t i = 0; i < table.rows(); ++i) {
      if (!meets(table, i)) continue;
      const std::size_t g = group ? columns_->index(table, i, *group) : 0;
      for (const auto& part : parts) part->add(table, i, g);
    }
  });
  Summary summary;
  for (std::size_t s = 0; s < parts.size(); ++s) {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      SummaryLine line = parts[s]->finish(g, rng);
      line.statistic = request_.statistics[s].text();
      line.group = groups_[g];
      summary.push_back(std::move(line));
    }
  }
  return {std::move(summary), *this};
}

}  // namespace sotto
