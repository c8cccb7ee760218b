#include "metric.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "sotto/core/error.hpp"
#include "sotto/learning/class_measures.hpp"

namespace sotto::cli {
namespace {

constexpr std::array kOfClasses = {"accuracy", "balanced_accuracy", "macro_f1",
                                   "auc",      "log_loss",          "calibration_error"};
constexpr std::array kOfNumbers = {"r2", "rmse", "mae"};

}  // namespace

Option metric_option(const std::string& help) {
  Option option{.name = "metric", .type = Type::choice, .value = "M", .help = help};
  option.choices.assign(kOfClasses.begin(), kOfClasses.end());
  option.choices.insert(option.choices.end(), kOfNumbers.begin(), kOfNumbers.end());
  return option;
}

bool is_loss(const std::string& metric) {
  return metric == "log_loss" || metric == "calibration_error" || metric == "rmse" ||
         metric == "mae";
}

std::string metric_named(const std::string& asked, std::size_t classes) {
  if (asked.empty()) return classes > 0 ? "accuracy" : "r2";
  const bool of_number = std::find(kOfNumbers.begin(), kOfNumbers.end(), asked) != kOfNumbers.end();
  if (of_number == (classes > 0))
    throw InvalidArgument(fmt::format("--metric {} is of {}, which the target is not", asked,
                                      of_number ? "numbers" : "classes"),
                          classes > 0 ? fmt::format("choose from {}", fmt::join(kOfClasses, ", "))
                                      : fmt::format("choose from {}", fmt::join(kOfNumbers, ", ")));
  if (asked == "auc" && classes != 2)
    throw InvalidArgument("--metric auc is of two classes", "try balanced_accuracy or log_loss");
  return asked;
}

double measured(const std::string& metric, std::size_t classes,
                const std::vector<ScoredRow>& rows) {
  if (metric == "calibration_error") return calibration_error(rows);
  if (metric == "balanced_accuracy" || metric == "macro_f1") {
    const ClassMeasures m = class_measures(confusion_of(rows, classes));
    return metric == "macro_f1" ? m.macro_f1 : m.balanced_accuracy;
  }
  const Evaluation e = evaluate(classes > 0, rows);
  if (metric == "r2") return e.regression.r2;
  if (metric == "rmse") return e.regression.rmse;
  if (metric == "mae") return e.regression.mae;
  if (metric == "log_loss") return e.classification.log_loss;
  if (metric == "auc") return e.classification.auc.value_or(0.5);  // one class only: no order
  return e.classification.accuracy;
}

}  // namespace sotto::cli
