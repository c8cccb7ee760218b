// fit(): from numbers in memory to a certified private model, in one call.
//
// What       Plans the training of a family from declared facts, runs it on a matrix and its
//            targets, and certifies the result. The defaults are those of the command line.
// Guarantee  What `model` holds costs the event in `certificate`; write() makes the directory that
//            `sotto verify` accepts.
// Method     facts_for, plan_training, matrix_table, TrainingPlan::run, certify_training.
// Numerics   As the family's documents say.
// Reference  docs/reference/cpp.md.
#pragma once

#include <span>
#include <string>

#include "sotto/core/certificate.hpp"
#include "sotto/data/matrix_table.hpp"
#include "sotto/learning/family.hpp"

namespace sotto {

struct Fitted {
  Facts facts;
  TrainedModel model;
  Certificate certificate;

  // Throws StorageError, or InvalidArgument when the directory exists and is not empty.
  void write(const std::string& directory) const;
  // What the model makes of rows of the same columns: its columns(), row by row.
  std::vector<double> apply(const MatrixView& matrix) const;
};

// kind: "logistic", "naive_bayes", …, one of the family's. options: as typed on the command line,
// without the dashes. Throws what planning and the matrix throw, before a number is read or after.
Fitted fit(const Family& family, const std::string& kind, const Schema& schema,
           const MatrixView& matrix, std::span<const double> targets, const Budget& budget,
           Rng& rng, OptionValues::Raw options = {});

}  // namespace sotto
