// Models without a target: what clusterings and transformations share.
//
// What       A clustering writes the nearest centre of each record; a linear transformation other
//            coordinates, and takes them back. Both say what of a record an evaluation sums up
//            (fit_evaluation.hpp), so that a family writes neither columns nor figures.
// Guarantee  Post-processing of released centres or components: costs nothing. What it says about
//            records is as private as the records.
// Method     Everything is in encoded coordinates (data/encoder.hpp): a number's bounds lie at −1
//            and 1, a category is a 1 among zeros. Distances weigh columns by their bounds.
// Numerics   Contributions to an evaluation are within their bounds for every record.
// Reference  docs/math/unsupervised-evaluation.md.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "sotto/learning/model.hpp"
#include "sotto/mechanisms/lattice_noise.hpp"

namespace sotto {

// Rows of numbers, one behind the other.
struct Matrix {
  std::size_t rows = 0, columns = 0;
  std::vector<double> values = {};

  Matrix() = default;
  Matrix(std::size_t r, std::size_t c) : rows(r), columns(c), values(r * c) {}
  std::span<double> row(std::size_t i) { return std::span(values).subspan(i * columns, columns); }
  std::span<const double> row(std::size_t i) const {
    return std::span(values).subspan(i * columns, columns);
  }
};
nlohmann::ordered_json to_json(const Matrix& matrix);
// At most `most` rows of `columns` finite numbers each, at least one. Throws DataError.
Matrix matrix_from_json(const nlohmann::ordered_json& json, std::size_t most, std::size_t columns,
                        const std::string& what);

class UnsupervisedModel : public Model {
 public:
  // What one record adds to the sums of an evaluation: so many numbers, whose norm is at most this.
  virtual std::size_t measures() const = 0;
  virtual Distance measure_bound() const = 0;
  virtual void measure(std::span<const double> row, std::span<double> out) const = 0;
  // From the sums of all records, their (noisy) number, and the variance of the noise of a sum.
  virtual nlohmann::ordered_json figures(std::span<const double> sums, double rows,
                                         double variance) const = 0;

  const Encoder& encoder() const { return *encoder_; }

 protected:
  explicit UnsupervisedModel(const Facts& facts);  // throws DataError without a table

  std::shared_ptr<const Encoder> encoder_;
};

// Columns: the number of the nearest centre, from 1, and the distance to it.
class ClusterModel : public UnsupervisedModel {
 public:
  Task task() const final { return Task::cluster; }
  std::vector<OutputColumn> columns() const final;
  std::vector<double> apply(const Block& block) const final;
  std::size_t measures() const final { return 1; }
  Distance measure_bound() const final { return {1, 1}; }
  void measure(std::span<const double> row, std::span<double> out) const final;
  nlohmann::ordered_json figures(std::span<const double> sums, double rows,
                                 double variance) const final;
  const Matrix& centres() const { return centres_; }
  // Where all features are numbers with bounds of one width, distances are in their unit; else in
  // encoded coordinates.
  double unit() const { return unit_; }

 protected:
  ClusterModel(Matrix centres, const Facts& facts);  // throws DataError when they do not fit

 private:
  struct Nearest {
    std::size_t centre;
    double square;
  };
  Nearest nearest(std::span<const double> row) const;

  Matrix centres_;
  double bound_ = 0;  // of a distance, encoded
  double unit_ = 1;
};

// A model of the task `transform`. What it writes is a table again: columns() have bounds or
// labels.
class TransformModel : public UnsupervisedModel {
 public:
  Task task() const final { return Task::transform; }
  // Whether what it wrote can be taken back.
  virtual bool invertible() const { return false; }
  // From what apply() wrote of a record to the record's coordinates, as they were encoded.
  virtual std::vector<double> inverse(std::span<const double> written) const;

 protected:
  using UnsupervisedModel::UnsupervisedModel;
};

// Columns: component_1, component_2, …: y = V(x − mean).
class ProjectionModel : public TransformModel {
 public:
  std::vector<OutputColumn> columns() const final;
  std::vector<double> apply(const Block& block) const final;
  bool invertible() const final { return true; }
  std::vector<double> inverse(std::span<const double> written) const final;
  std::size_t measures() const final { return 2 + components_.columns; }
  Distance measure_bound() const final;
  void measure(std::span<const double> row, std::span<double> out) const final;
  nlohmann::ordered_json figures(std::span<const double> sums, double rows,
                                 double variance) const final;

  const Matrix& components() const { return components_; }  // orthonormal rows
  const std::vector<double>& mean() const { return mean_; }

 protected:
  // reach: components lie within ± this, as far as the curator wants to say so in columns().
  // Throws DataError when the parts do not fit each other or the facts.
  ProjectionModel(Matrix components, std::vector<double> mean, std::vector<double> reach,
                  const Facts& facts);

 private:
  Matrix components_;
  std::vector<double> mean_, reach_;
  double bound_ = 0;  // of ‖x − mean‖
};

// component_1, component_2, … with bounds of ± their reach.
std::vector<OutputColumn> component_columns(const std::vector<double>& reach);

// An encoded row in the units of its columns: one value for each feature column, a category as the
// position of its label.
std::vector<double> decoded(const Encoder& encoder, std::span<const double> row);
// The feature columns with their labels.
std::vector<OutputColumn> feature_columns(const Encoder& encoder);

}  // namespace sotto
