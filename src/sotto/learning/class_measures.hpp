// What a confusion matrix says about a classifier, whether the counts are exact or noisy.
//
// Accuracy alone flatters a model where one class is common: whoever always says that class is
// right as often as it occurs. Beside it stand that baseline, precision, recall and F1 of each
// class, their means over the classes that occur, and how far probabilities are from what happens.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sotto/learning/evaluation.hpp"

namespace sotto {

using Confusion = std::vector<std::vector<double>>;  // true class × predicted class

struct ClassFigures {
  double rows = 0, predicted = 0;
  std::optional<double> precision, recall;  // absent: never predicted, does not occur
  double f1 = 0;
};

struct ClassMeasures {
  double rows = 0;
  std::size_t majority_class = 0;
  double majority = 0;                         // the accuracy of always saying the commonest class
  double balanced_accuracy = 0, macro_f1 = 0;  // means over the classes that occur
  std::vector<ClassFigures> classes;
};

// Counts below 0, which noise can make, are taken as 0.
ClassMeasures class_measures(const Confusion& confusion);

// Of the rows that are no null records; of one group only, where one is given.
Confusion confusion_of(const std::vector<ScoredRow>& rows, std::size_t classes,
                       std::optional<std::size_t> group = {});

// The expected calibration error: |confidence − accuracy| of the predicted class in ten bins of
// equal width, weighted by their rows. 0 when probabilities are what happens.
double calibration_error(const std::vector<ScoredRow>& rows, std::optional<std::size_t> group = {});

}  // namespace sotto
