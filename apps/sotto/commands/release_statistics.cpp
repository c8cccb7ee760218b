// The statistics of one column: each turns its options into a plan, and the plan into a function
// that reads the column and releases.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "options/reader_options.hpp"
#include "release.hpp"
#include "shell/reading_progress.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/text.hpp"
#include "sotto/core/values.hpp"
#include "sotto/data/csv.hpp"
#include "sotto/data/number.hpp"
#include "sotto/mechanisms/counts.hpp"
#include "sotto/mechanisms/moments.hpp"
#include "sotto/mechanisms/quantile.hpp"
#include "sotto/mechanisms/stability_histogram.hpp"

namespace sotto::cli {
namespace {

CsvReader open_data(const Arguments& arguments) {
  return CsvReader(arguments.text("data"), csv_options(arguments));
}

Bounds bounds_of(const Arguments& arguments) {
  return {arguments.number("lower"), arguments.number("upper")};
}

// Under zero_out a missing cell is what a nulled row leaves, and there is nothing to choose: it
// contributes nothing.
bool missing_is_null(const Arguments& arguments) {
  if (relation_of(arguments) != Relation::zero_out) return false;
  if (arguments.given("missing")) {
    throw InvalidArgument(
        "--missing does not go with zero_out: a missing cell is a nulled row's there, and "
        "contributes nothing",
        "leave out --missing");
  }
  return true;
}

// What becomes of a missing cell. Leaving the row out is the same as its absence, which only
// add_remove hides; where the number of rows is public it would reveal how many cells are missing.
enum class MissingCells { refuse, midpoint, skip, null };

MissingCells missing_of(const Arguments& arguments) {
  if (missing_is_null(arguments)) return MissingCells::null;
  const std::string choice = arguments.text("missing");
  if (choice == "refuse") return MissingCells::refuse;
  if (choice == "midpoint") return MissingCells::midpoint;
  if (count_is_public(relation_of(arguments))) {
    throw Unsupported(
        fmt::format("--missing skip does not go with {}, where the number of rows is public",
                    name(relation_of(arguments))),
        "use --missing midpoint, or --relation add_remove");
  }
  return MissingCells::skip;
}

NonFinite non_finite(MissingCells missing) {
  return missing == MissingCells::midpoint ? NonFinite::midpoint : NonFinite::refuse;
}

// Calls add(value) for every row that counts; returns the number of rows read.
template <class Add>
std::uint64_t read_numbers(const Arguments& arguments, MissingCells missing, Context& context,
                           const Add& add) {
  ReadingProgress progress(arguments.text("data"), context);
  CsvReader reader = open_data(arguments);
  std::uint64_t rows = 0;
  reader.for_each_numbers(
      arguments.text("column"),
      [&](std::span<const double> values, std::uint64_t) {
        for (const double value : values) {
          if (missing != MissingCells::skip || !std::isnan(value)) add(value);
          progress.tick();
        }
        rows += values.size();
      },
      missing == MissingCells::refuse ? MissingNumbers::refuse : MissingNumbers::as_nan);
  progress.finish();
  return rows;
}

Answer answer(const Release<Statistic>& release, std::uint64_t rows) {
  return {.value = release.value.value,
          .text = fmt::format("{:.6g}", release.value.value),
          .noise = release.value.noise,
          .event = release.event,
          .rows = rows};
}

Answer answer(const Release<Histogram>& release, std::uint64_t rows) {
  nlohmann::ordered_json counts = nlohmann::ordered_json::object();
  std::string text;
  std::size_t width = 0;
  for (const std::string& category : release.value.categories) {
    width = std::max(width, visible(category).size());
  }
  for (std::size_t i = 0; i < release.value.categories.size(); ++i) {
    counts[release.value.categories[i]] = release.value.counts[i];
    text += fmt::format("\n  {:<{}}  {}", visible(release.value.categories[i]), width,
                        release.value.counts[i]);
  }
  if (text.empty()) text = "no category is common enough";
  return {.value = counts,
          .text = text,
          .noise = release.value.noise,
          .event = release.event,
          .rows = rows};
}

// Sum, mean, variance and quantile all stream a bounded column into an accumulator.
template <class Plan>
PreparedRelease prepare_numeric(const std::string& what, const Plan& plan, MissingCells missing,
                                const Arguments& arguments, Context& context) {
  return {.what = fmt::format("{} of '{}'", what, arguments.text("column")),
          .plan = plan.describe(),
          .event = plan.event(),
          .relation = plan.relation(),
          .run = [plan, missing, arguments, &context](Rng& rng) {
            auto sums = plan.start();
            const auto rows =
                read_numbers(arguments, missing, context, [&](double value) { sums.add(value); });
            return answer(std::move(sums).finish(rng), rows);
          }};
}

// --probability, or that of the median.
std::vector<double> probabilities_of(const Arguments& arguments) {
  if (find_option(arguments.command(), "probability") == nullptr) return {0.5};
  std::vector<double> result;
  for (const std::string& text : arguments.list("probability")) {
    const NumberCell cell = parse_number(text);
    if (cell.kind != CellKind::number || !(cell.value >= 0 && cell.value <= 1))
      throw InvalidArgument(
          fmt::format("--probability is '{}'; it must be at least 0 and at most 1", text),
          "0.5 is the median");
    result.push_back(cell.value);
  }
  return result;
}

PreparedRelease prepare_moment(Moment moment, const std::string& what, const Arguments& arguments,
                               Context& context) {
  const MissingCells missing = missing_of(arguments);
  const MomentPlan plan(moment, {.relation = relation_of(arguments),
                                 .bounds = bounds_of(arguments),
                                 .budget = budget_of(arguments),
                                 .non_finite = non_finite(missing)});
  return prepare_numeric(what, plan, missing, arguments, context);
}

// Streams a text column into a histogram; the row is named when its category is not declared.
template <class Plan>
std::function<Answer(Rng&)> run_histogram(const Plan& plan, const Arguments& arguments,
                                          Context& context) {
  return [plan, arguments, &context](Rng& rng) {
    ReadingProgress progress(arguments.text("data"), context);
    auto counts = plan.start();
    CsvReader reader = open_data(arguments);
    std::uint64_t rows = 0;
    const bool nulls = plan.relation() == Relation::zero_out;
    reader.for_each_text(arguments.text("column"), [&](std::string_view cell, std::uint64_t row) {
      rows = row;
      progress.tick();
      const std::string_view category = trimmed(cell);
      if (nulls && category.empty()) return;
      try {
        counts.add(category);
      } catch (const DataError&) {
        throw DataError(fmt::format("{}: row {}, column '{}': the cell is not one of --values",
                                    reader.label(), row, arguments.text("column")),
                        "declare it in --values, or choose --unknown ignore or --other VALUE");
      }
    });
    progress.finish();
    return answer(std::move(counts).finish(rng), rows);
  };
}

}  // namespace

PreparedRelease prepare_count(const Arguments& arguments, Context& context) {
  const CountPlan plan({.relation = relation_of(arguments), .budget = budget_of(arguments)});
  const auto lower = arguments.maybe_number("lower"), upper = arguments.maybe_number("upper");
  const bool of_column = arguments.given("column");
  if (!of_column && (lower || upper || arguments.given("equals"))) {
    throw InvalidArgument("--lower, --upper and --equals need --column NAME");
  }
  if (lower && upper && !(*lower <= *upper)) {
    throw InvalidArgument(
        fmt::format("bounds are [{}, {}]; lower must not be above upper", *lower, *upper));
  }
  if (arguments.given("equals") && (lower || upper)) {
    throw InvalidArgument("--equals does not go with --lower and --upper",
                          "choose one kind of condition");
  }
  const bool nulls = missing_is_null(arguments);
  const auto run = [=, &context](Rng& rng) {
    ReadingProgress progress(arguments.text("data"), context);
    CsvReader reader = open_data(arguments);
    std::uint64_t count = 0, rows = 0;
    if (!of_column) {
      rows = count = reader.count_rows();
    } else if (lower || upper) {
      reader.for_each_number(
          arguments.text("column"),
          [&](double value, std::uint64_t row) {
            rows = row;
            progress.tick();
            count += value >= lower.value_or(-INFINITY) && value <= upper.value_or(INFINITY);
          },
          nulls || arguments.text("missing") == "skip" ? MissingNumbers::as_nan
                                                       : MissingNumbers::refuse);
    } else {
      const bool equals = arguments.given("equals");
      reader.for_each_text(arguments.text("column"), [&](std::string_view cell, std::uint64_t row) {
        rows = row;
        progress.tick();
        const std::string_view text = trimmed(cell);
        if (nulls && text.empty()) return;
        count += equals ? text == arguments.text("equals") : !text.empty();
      });
    }
    progress.finish();
    return answer(plan.run(count, rng), rows);
  };
  std::string what = "count of rows";
  if (of_column) {
    what += fmt::format(" whose '{}' ", arguments.text("column"));
    if (arguments.given("equals")) {
      what += fmt::format("is '{}'", arguments.text("equals"));
    } else if (lower || upper) {
      what += fmt::format("is in [{}, {}]", lower.value_or(-INFINITY), upper.value_or(INFINITY));
    } else {
      what += "is not empty";
    }
  }
  return {.what = what,
          .plan = plan.describe(),
          .event = plan.event(),
          .relation = plan.relation(),
          .run = run};
}

PreparedRelease prepare_sum(const Arguments& arguments, Context& context) {
  return prepare_moment(Moment::sum, "sum", arguments, context);
}

PreparedRelease prepare_mean(const Arguments& arguments, Context& context) {
  return prepare_moment(Moment::mean, "mean", arguments, context);
}

PreparedRelease prepare_variance(const Arguments& arguments, Context& context) {
  return prepare_moment(Moment::variance, "variance", arguments, context);
}

PreparedRelease prepare_quantile(const Arguments& arguments, Context& context) {
  const MissingCells missing = missing_of(arguments);
  const std::vector<double> asked = probabilities_of(arguments);
  const auto plan_of = [&](double probability, std::size_t parts) {
    return QuantilePlan({.relation = relation_of(arguments),
                         .bounds = bounds_of(arguments),
                         .probability = probability,
                         .budget = budget_of(arguments).part(1.0 / static_cast<double>(parts)),
                         .non_finite = non_finite(missing)});
  };
  const bool interval = arguments.flag("interval");
  if (interval != arguments.given("rows"))
    throw InvalidArgument("--interval and --rows N go together",
                          "the interval is in ranks, and rows say how many there are");
  if (asked.size() == 1 && !interval)
    return prepare_numeric(asked[0] == 0.5 ? "median" : fmt::format("{}-quantile", asked[0]),
                           plan_of(asked[0], 1), missing, arguments, context);
  // The ends: so far off in ranks that noise passes the true quantile with 2.5 % only.
  std::vector<double> all;
  for (const double p : asked) {
    all.push_back(p);
    if (!interval) continue;
    // The further an end is from the middle, the more ranks its noise may take: a fixed point.
    const auto end = [&](double sign) {
      double at = p;
      for (int i = 0; i < 16; ++i)
        at = std::clamp(p + sign * plan_of(at, 3 * asked.size()).ranks_off(0.025) /
                                static_cast<double>(arguments.whole("rows")),
                        0.0, 1.0);
      return at;
    };
    all.push_back(end(-1));
    all.push_back(end(1));
  }
  std::vector<QuantilePlan> plans;
  std::vector<Event> events;
  std::string words;
  for (const double p : all) {
    plans.push_back(plan_of(p, all.size()));
    events.push_back(plans.back().event());
    words += (words.empty() ? "" : "; ") + plans.back().describe();
  }
  const Event spent = compose(std::move(events));
  return {.what = asked.size() == 1 && asked.front() == 0.5
                      ? fmt::format("median of '{}'", arguments.text("column"))
                      : fmt::format("{}-quantile of '{}'", fmt::join(asked, ", "),
                                    arguments.text("column")),
          .plan = words,
          .event = spent,
          .relation = relation_of(arguments),
          .run = [=, &context](Rng& rng) {
            std::vector<QuantileAccumulator> sums;
            for (const QuantilePlan& plan : plans) sums.push_back(plan.start());
            Answer answer{.value = {}, .text = {}, .event = spent, .rows = 0};
            answer.rows = read_numbers(arguments, missing, context, [&](double value) {
              for (QuantileAccumulator& sum : sums) sum.add(value);
            });
            std::vector<double> found;
            for (QuantileAccumulator& sum : sums) {
              const Statistic statistic = std::move(sum).finish(rng).value;
              found.push_back(statistic.value);
              if (!answer.noise) answer.noise = statistic.noise;
            }
            const std::size_t each = interval ? 3 : 1;
            for (std::size_t i = 0; i < asked.size(); ++i) {
              const double value = found[i * each];
              const std::string key = fmt::format("{}", asked[i]);
              answer.value[key] = value;
              answer.text +=
                  fmt::format("{}{:.6g}", asked.size() == 1 ? "" : "\n  " + key + "  ", value);
              if (!interval) continue;
              const auto [low, high] = std::minmax(found[i * each + 1], found[i * each + 2]);
              answer.more["interval_95"][key] = {low, high};
              answer.text += fmt::format(" (95 %: {:.6g} to {:.6g})", low, high);
            }
            if (asked.size() == 1) answer.value = found[0];
            return answer;
          }};
}

PreparedRelease prepare_histogram(const Arguments& arguments, Context& context) {
  const bool declared = arguments.given("values");
  if (declared == arguments.flag("unknown-categories")) {
    throw InvalidArgument(
        "sotto release histogram needs --values A,B,C or --unknown-categories, and not both",
        "categories are public facts; when nobody knows them, --unknown-categories with --epsilon "
        "and --delta finds the common ones");
  }
  const std::string what = fmt::format("histogram of '{}'", arguments.text("column"));
  if (declared) {
    HistogramOptions options{.relation = relation_of(arguments),
                             .categories = arguments.list("values"),
                             .budget = budget_of(arguments)};
    if (arguments.text("unknown") == "ignore") options.unknown = UnknownCategory::ignore;
    if (arguments.given("other")) options.other = arguments.text("other");
    const HistogramPlan plan(std::move(options));
    return {.what = what,
            .plan = plan.describe(),
            .event = plan.event(),
            .relation = plan.relation(),
            .run = run_histogram(plan, arguments, context)};
  }
  if (!arguments.given("epsilon") || !arguments.given("delta")) {
    throw InvalidArgument("--unknown-categories needs --epsilon and --delta",
                          "delta pays for the chance that a category with a single row shows");
  }
  const StabilityHistogramPlan plan(relation_of(arguments), Epsilon(arguments.number("epsilon")),
                                    Delta(arguments.number("delta")));
  return {.what = what,
          .plan = plan.describe(),
          .event = plan.event(),
          .relation = plan.relation(),
          .run = run_histogram(plan, arguments, context)};
}

}  // namespace sotto::cli
