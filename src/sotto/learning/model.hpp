// Model: what training releases. It says what it is for, how it is kept, and what it makes of
// records.
//
// A family of classifiers or regressors derives from SupervisedModel and writes two functions,
// files() and predict(); columns and scores follow from the task.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sotto/learning/block.hpp"
#include "sotto/learning/evaluation.hpp"
#include "sotto/learning/facts.hpp"
#include "sotto/learning/portrait.hpp"
#include "sotto/learning/task.hpp"

namespace sotto {

// One column of what a model makes of records.
struct OutputColumn {
  std::string name;
  std::vector<std::string> labels = {};  // values are positions in this list; empty: numbers
  bool is_probability = false;           // written with six digits
  std::optional<Bounds> bounds = {};     // of numbers, where another model may read them
};

using Files = std::map<std::string, std::string>;  // name → bytes

class Model {
 public:
  virtual ~Model() = default;

  virtual Task task() const = 0;
  // What the artifact keeps besides the encoder. Names do not contain '/'.
  virtual Files files() const = 0;
  virtual std::vector<OutputColumn> columns() const = 0;
  // One value for each column and record, record by record.
  virtual std::vector<double> apply(const Block& block) const = 0;
  // Beside the truth, for supervised models; the scores are as private as the records.
  // group: which of the table's group columns goes with them. Throws Unsupported without a target.
  virtual std::vector<ScoredRow> score(const Block& block,
                                       std::optional<std::size_t> group = {}) const;
  // What can be drawn of it; nothing by default.
  virtual Portrait portrait() const { return {}; }
};

struct Prediction {
  std::vector<double> probabilities = {};  // of the classes; empty for a number
  double value = 0;                        // the class, or the target scaled to [−1, 1]
};

// Class probabilities from margins: one margin is that of the second of two classes, several are
// those of as many classes.
Prediction classified(std::span<const double> margins);

// Columns: the prediction and, of classes, its probability and that of every class in their order.
class SupervisedModel : public Model {
 public:
  Task task() const final { return labels_.empty() ? Task::regress : Task::classify; }
  std::vector<OutputColumn> columns() const final;
  std::vector<double> apply(const Block& block) const final;
  std::vector<ScoredRow> score(const Block& block, std::optional<std::size_t> group) const final;

  const std::vector<std::string>& labels() const { return labels_; }

 protected:
  explicit SupervisedModel(const Facts& facts)
      : encoder_(facts.encoder), labels_(facts.classes()) {}

  // One prediction for each record. Any finite or other number may come out: a class that is not
  // one counts as wrong.
  virtual std::vector<Prediction> predict(const Block& block) const = 0;

 private:
  double unscaled(double value) const;

  std::shared_ptr<const Encoder> encoder_;  // none for images
  std::vector<std::string> labels_;
};

}  // namespace sotto
