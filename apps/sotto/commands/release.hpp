// What the statistics of `sotto release` have in common: a request from the options, a plan before
// data, an answer with its noise.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "options/budget_options.hpp"
#include "sotto/core/event.hpp"
#include "sotto/core/relation.hpp"
#include "sotto/data/schema.hpp"
#include "sotto/mechanisms/noise_info.hpp"

namespace sotto::cli {

// The released value, ready to be shown.
struct Answer {
  nlohmann::ordered_json value;
  std::string text;                     // the value for people
  std::optional<NoiseInfo> noise = {};  // none: the value says it for each figure
  Event event;
  std::uint64_t rows;  // PRIVATE under add_remove: only for checks where the number is public
  nlohmann::ordered_json more = nlohmann::ordered_json::object();  // further keys of the result
};

// A plan knows its cost before any private byte is read; run() reads the data.
struct PreparedRelease {
  std::string what;  // "mean of 'age'"
  std::string plan;  // what will be noised, in words
  Event event;
  Relation relation = Relation::add_remove;
  std::string unit = "record";
  std::function<Answer(Rng&)> run;
  std::optional<Schema> schema = {};  // whose bounds and categories are used
};

// One function per statistic (release_statistics.cpp). They check all options and read nothing.
PreparedRelease prepare_count(const Arguments& arguments, Context& context);
PreparedRelease prepare_sum(const Arguments& arguments, Context& context);
PreparedRelease prepare_mean(const Arguments& arguments, Context& context);
PreparedRelease prepare_variance(const Arguments& arguments, Context& context);
PreparedRelease prepare_histogram(const Arguments& arguments, Context& context);
PreparedRelease prepare_quantile(const Arguments& arguments, Context& context);
// Several statistics of the columns of a schema (release_summary.cpp).
PreparedRelease prepare_summary(const Arguments& arguments, Context& context);
std::vector<Option> summary_options();
nlohmann::ordered_json to_json(const NoiseInfo& noise);
std::string text_of(const NoiseInfo& noise);

Relation relation_of(const Arguments& arguments);

}  // namespace sotto::cli
