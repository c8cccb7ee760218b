#include "sotto/learning/detail/found_categories.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "sotto/core/error.hpp"
#include "sotto/data/contributions.hpp"
#include "sotto/data/number.hpp"
#include "sotto/mechanisms/stability_histogram.hpp"

namespace sotto {
namespace {

StabilityHistogramPlan plan_of(Relation relation, double epsilon, double delta,
                               std::uint64_t contributions) {
  return {relation, Epsilon(epsilon), Delta(delta), contributions};
}

// A hash of the texts of a record.
std::uint64_t hash_of(std::span<const std::string_view> cells) {
  std::vector<std::uint64_t> words;
  for (const std::string_view cell : cells) {
    words.push_back(cell.size());
    for (std::size_t i = 0; i < cell.size(); i += 8) {
      std::uint64_t word = 0;
      for (const char c : cell.substr(i, 8)) word = word << 8 | static_cast<unsigned char>(c);
      words.push_back(word);
    }
  }
  return content_hash(words);
}

using Record = std::pair<std::uint64_t, std::vector<std::string>>;

}  // namespace

FoundCategories::FoundCategories(const Schema& schema, Options options, double epsilon,
                                 double delta)
    : schema_(schema),
      options_(std::move(options)),
      contributions_(schema.unit == Unit::user ? schema.max_contributions : 1) {
  if (options_.columns.empty())
    throw InvalidArgument("the step categories names no columns",
                          "write columns = \"NAME, NAME\", those whose values are to be found");
  if (options_.most < 1 || options_.most > kMost)
    throw InvalidArgument(
        fmt::format("`most` is {}; it must be from 1 to {}", options_.most, kMost));
  for (const std::string& name : options_.columns) {
    const ColumnSchema& column = schema_.column(name);
    if (column.role == Role::target || column.role == Role::user)
      throw InvalidArgument(fmt::format("column '{}' is the {}; its values must be declared", name,
                                        sotto::name(column.role)));
    if (std::count(options_.columns.begin(), options_.columns.end(), name) > 1)
      throw InvalidArgument(fmt::format("column '{}' is named twice", name));
  }
  const auto parts = static_cast<double>(options_.columns.size());
  epsilon_ = epsilon / parts * (1 - 0x1p-40);
  delta_ = delta / parts * (1 - 0x1p-40);
  plan_of(relation(), epsilon_, delta_, contributions_);  // finds what it refuses
}

Event FoundCategories::event() const {
  return repeat(plan_of(relation(), epsilon_, delta_, contributions_).event(),
                options_.columns.size());
}

std::string FoundCategories::describe() const {
  return fmt::format(
      "the values of {} columns, at most {} each, that have at least {:.0f} records with noise; "
      "epsilon {:.4g}, delta {:.2g} a column",
      options_.columns.size(), options_.most,
      plan_of(relation(), epsilon_, delta_, contributions_).threshold(), epsilon_, delta_);
}

Schema FoundCategories::with(const std::vector<std::vector<std::string>>& found) const {
  Schema schema = schema_;
  for (std::size_t k = 0; k < options_.columns.size(); ++k) {
    const auto column =
        std::find_if(schema.columns.begin(), schema.columns.end(),
                     [&](const ColumnSchema& c) { return c.name == options_.columns[k]; });
    ColumnSchema made;
    made.name = column->name;
    made.type = ColumnType::categorical;
    made.values = found[k];
    made.missing = Missing::other;
    if (column->role == Role::group) made.role = Role::group;
    for (std::size_t unused = 1; made.values.size() < options_.most; ++unused) {
      const std::string name = fmt::format("(unused {})", unused);
      if (std::find(made.values.begin(), made.values.end(), name) == made.values.end())
        made.values.push_back(name);
    }
    *column = std::move(made);
  }
  return schema;
}

Schema FoundCategories::expected() const {
  return with(std::vector<std::vector<std::string>>(options_.columns.size()));
}

Release<Schema> FoundCategories::run(CsvReader& file, Rng& rng) const {
  const StabilityHistogramPlan plan = plan_of(relation(), epsilon_, delta_, contributions_);
  std::vector<std::size_t> field;
  std::vector<StabilityHistogramAccumulator> values;
  for (const std::string& name : options_.columns) {
    field.push_back(file.column(name));
    values.push_back(plan.start());
  }
  const auto text = [&](std::string_view cell) {
    const std::string_view inner = trimmed(cell);
    const auto& missing = schema_.missing_values;
    return std::find(missing.begin(), missing.end(), inner) == missing.end() ? inner
                                                                             : std::string_view();
  };
  const auto count = [&](std::size_t k, std::string_view value) {
    if (!value.empty()) values[k].add(value);
  };
  if (schema_.unit == Unit::user) {
    const std::size_t user = file.column(schema_.user()->name);
    std::unordered_map<std::string, std::vector<Record>> of_user;
    file.for_each_row([&](std::span<const std::string_view> cells, std::uint64_t) {
      Record record{hash_of(cells), {}};
      for (const std::size_t f : field) record.second.emplace_back(text(cells[f]));
      std::vector<Record>& kept = of_user[std::string(trimmed(cells[user]))];
      kept.insert(std::upper_bound(kept.begin(), kept.end(), record), std::move(record));
      if (kept.size() > contributions_) kept.pop_back();
    });
    for (const auto& [name, records] : of_user)
      for (const Record& record : records)
        for (std::size_t k = 0; k < field.size(); ++k) count(k, record.second[k]);
  } else {
    file.for_each_row([&](std::span<const std::string_view> cells, std::uint64_t) {
      for (std::size_t k = 0; k < field.size(); ++k) count(k, text(cells[field[k]]));
    });
  }
  std::vector<std::vector<std::string>> found;
  for (StabilityHistogramAccumulator& column : values) {
    const Histogram histogram = std::move(column).finish(rng).value;
    std::vector<std::size_t> order(histogram.categories.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return histogram.counts[a] > histogram.counts[b];
    });
    order.resize(std::min(order.size(), options_.most));
    std::sort(order.begin(), order.end());
    std::vector<std::string>& names = found.emplace_back();
    for (const std::size_t i : order) names.push_back(histogram.categories[i]);
  }
  return {with(found), *this};
}

}  // namespace sotto
