// What sotto evaluate does once model and data are known.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "options/model_options.hpp"
#include "shell/context.hpp"
#include "sotto/learning/evaluation.hpp"

namespace sotto::cli {

// Public facts about a model and the rows it is measured on, and the way to their scores.
struct Subject {
  std::vector<std::string> labels = {};  // of the classes; empty: the target is a number
  std::optional<Bounds> target = {};     // of a number
  Relation relation = Relation::add_remove;
  std::uint64_t contributions = 1;  // rows of one unit
  std::string unit = "record";
  std::vector<std::string> groups = {};                // labels of the groups asked for
  std::map<std::string, std::string> files = {};       // of the model, with their digests
  std::function<std::vector<ScoredRow>()> score = {};  // reads the data. Private
  // The same rows by a model without privacy; none: nothing to compare with.
  std::function<std::vector<ScoredRow>()> baseline = {};

  bool classification() const { return !labels.empty(); }
};

inline constexpr const char* kNotPrivate =
    "NOT PRIVATE: computed from the rows as they are; publish it only if the evaluation data is "
    "public";

// Refuses options that mean something with a budget only.
void check_unpaid(const Arguments& arguments);

// Without a budget the figures as they are, NOT PRIVATE; with one a private release.
void run_evaluation(const Arguments& arguments, Context& context, const Subject& subject);

}  // namespace sotto::cli
