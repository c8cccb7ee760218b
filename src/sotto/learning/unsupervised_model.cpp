#include "sotto/learning/unsupervised_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kOrthonormal = 1e-6;   // what a stranger's components may be off
constexpr double kSlack = 1 + 0x1p-20;  // of bounds, for rounding

[[noreturn]] void does_not_fit() {
  throw DataError("the model does not fit its encoder",
                  "restore both files from where the artifact was copied");
}

double square_of(std::span<const double> v) {
  double sum = 0;
  for (const double x : v) sum += x * x;
  return sum;
}

double product(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
  return sum;
}

// A number of rows that is exact is written as one.
Json count(double rows) {
  const bool whole = rows >= 0 && rows < 0x1p53 && rows == std::floor(rows);
  return whole ? Json(static_cast<std::uint64_t>(rows)) : Json(rows);
}

// Half the width that the bounds of all features share; 1 where they do not.
double common_unit(const Encoder& encoder) {
  std::optional<double> half;
  for (const ColumnEncoder& c : encoder.features()) {
    if (!c.is_numeric() || !c.column().bounds || encoder.schema().feature_norm) return 1;
    const Bounds& b = *c.column().bounds;
    const double own =
        (b.upper() - b.lower()) / (encoder.schema().scaling == Scaling::unit ? 1 : 2);
    if (half && std::fabs(own - *half) > 1e-9 * own) return 1;
    half = own;
  }
  return half.value_or(1);
}

// A null record has NaN coordinates: it lies where nothing is.
template <class F>
void for_rows(const Table& table, const F& f) {
  std::vector<double> row(table.width());
  for (std::size_t i = 0; i < table.rows(); ++i) {
    table.row(i, row);
    if (table.is_null(i)) std::fill(row.begin(), row.end(), 0.0);
    f(row);
  }
}

}  // namespace

Json to_json(const Matrix& matrix) {
  Json json = Json::array();
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    const auto row = matrix.row(i);
    json.push_back(std::vector<double>(row.begin(), row.end()));
  }
  return json;
}

Matrix matrix_from_json(const Json& json, std::size_t most, std::size_t columns,
                        const std::string& what) {
  if (!json.is_array() || json.empty() || json.size() > most)
    throw DataError(fmt::format("{}: not a list of at most {} rows", what, most));
  Matrix matrix(json.size(), columns);
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    if (!json[i].is_array() || json[i].size() != columns)
      throw DataError(fmt::format("{}: a row has not {} numbers", what, columns));
    for (std::size_t j = 0; j < columns; ++j) matrix.row(i)[j] = json_number(json[i][j], what);
  }
  return matrix;
}

UnsupervisedModel::UnsupervisedModel(const Facts& facts) : encoder_(facts.encoder) {
  if (!encoder_) does_not_fit();
}

ClusterModel::ClusterModel(Matrix centres, const Facts& facts)
    : UnsupervisedModel(facts), centres_(std::move(centres)), unit_(common_unit(*encoder_)) {
  if (centres_.rows == 0 || centres_.columns != encoder_->width()) does_not_fit();
  double farthest = 0;
  for (const double x : centres_.values)
    if (!std::isfinite(x)) does_not_fit();
  for (std::size_t c = 0; c < centres_.rows; ++c)
    farthest = std::max(farthest, square_of(centres_.row(c)));
  bound_ = (encoder_->norm_bound() + std::sqrt(farthest)) * kSlack;
  if (!std::isfinite(bound_)) does_not_fit();
}

std::vector<OutputColumn> ClusterModel::columns() const {
  OutputColumn cluster{.name = "cluster"};
  for (std::size_t c = 1; c <= centres_.rows; ++c) cluster.labels.push_back(std::to_string(c));
  return {std::move(cluster),
          {.name = "distance", .bounds = Bounds(0, std::max(bound_ * unit_, 1e-300))}};
}

ClusterModel::Nearest ClusterModel::nearest(std::span<const double> row) const {
  Nearest best{0, std::numeric_limits<double>::infinity()};
  for (std::size_t c = 0; c < centres_.rows; ++c) {
    const auto centre = centres_.row(c);
    double square = 0;
    for (std::size_t j = 0; j < row.size(); ++j) {
      const double e = row[j] - centre[j];
      square += e * e;
    }
    if (square < best.square) best = {c, square};
  }
  return best;
}

std::vector<double> ClusterModel::apply(const Block& block) const {
  std::vector<double> values;
  for_rows(block.table(), [&](std::span<const double> row) {
    const Nearest n = nearest(row);
    values.push_back(static_cast<double>(n.centre));
    values.push_back(std::sqrt(n.square) * unit_);
  });
  return values;
}

void ClusterModel::measure(std::span<const double> row, std::span<double> out) const {
  out[0] = std::clamp(nearest(row).square / (bound_ * bound_), 0.0, 1.0);
}

Json ClusterModel::figures(std::span<const double> sums, double rows, double) const {
  const double inertia = std::max(0.0, sums[0]) * bound_ * bound_ * unit_ * unit_;
  return {{"rows", count(rows)},
          {"inertia", inertia},
          {"inertia_per_row", rows > 0 ? Json(inertia / rows) : Json(nullptr)}};
}

std::vector<double> TransformModel::inverse(std::span<const double>) const {
  throw Unsupported("what this model writes cannot be taken back");
}

ProjectionModel::ProjectionModel(Matrix components, std::vector<double> mean,
                                 std::vector<double> reach, const Facts& facts)
    : TransformModel(facts),
      components_(std::move(components)),
      mean_(std::move(mean)),
      reach_(std::move(reach)) {
  const std::size_t d = encoder_->width();
  if (components_.rows == 0 || components_.rows > d || components_.columns != d ||
      mean_.size() != d || reach_.size() != components_.rows)
    does_not_fit();
  for (const double x : mean_)
    if (!std::isfinite(x)) does_not_fit();
  for (const double x : reach_)
    if (!(x > 0 && std::isfinite(x))) does_not_fit();
  for (std::size_t a = 0; a < components_.rows; ++a)
    for (std::size_t b = a; b < components_.rows; ++b)
      if (!(std::fabs(product(components_.row(a), components_.row(b)) - (a == b ? 1 : 0)) <=
            kOrthonormal))
        does_not_fit();
  bound_ = (encoder_->norm_bound() + std::sqrt(square_of(mean_))) * kSlack;
  if (!std::isfinite(bound_)) does_not_fit();
}

std::vector<OutputColumn> component_columns(const std::vector<double>& reach) {
  std::vector<OutputColumn> list;
  for (std::size_t c = 0; c < reach.size(); ++c)
    list.push_back(
        {.name = fmt::format("component_{}", c + 1), .bounds = Bounds(-reach[c], reach[c])});
  return list;
}

std::vector<OutputColumn> ProjectionModel::columns() const { return component_columns(reach_); }

std::vector<double> ProjectionModel::apply(const Block& block) const {
  std::vector<double> values;
  std::vector<double> centred(mean_.size());
  for_rows(block.table(), [&](std::span<const double> row) {
    for (std::size_t j = 0; j < centred.size(); ++j) centred[j] = row[j] - mean_[j];
    for (std::size_t c = 0; c < components_.rows; ++c)
      values.push_back(product(components_.row(c), centred));
  });
  return values;
}

std::vector<double> ProjectionModel::inverse(std::span<const double> written) const {
  std::vector<double> row = mean_;
  for (std::size_t c = 0; c < components_.rows; ++c)
    for (std::size_t j = 0; j < row.size(); ++j) row[j] += written[c] * components_.row(c)[j];
  return row;
}

// (‖y‖², ‖Vy‖², y) with ‖y‖ ≤ 1: ℓ2 ≤ √3, ℓ1 ≤ 2 + √d.
Distance ProjectionModel::measure_bound() const {
  return {2 + std::sqrt(static_cast<double>(components_.columns)) * kSlack,
          std::sqrt(3.0) * kSlack};
}

void ProjectionModel::measure(std::span<const double> row, std::span<double> out) const {
  const auto y = out.subspan(2);
  for (std::size_t j = 0; j < y.size(); ++j) y[j] = (row[j] - mean_[j]) / bound_;
  out[0] = std::min(1.0, square_of(y));
  double captured = 0;
  for (std::size_t c = 0; c < components_.rows; ++c) {
    const double z = product(components_.row(c), y);
    captured += z * z;
  }
  out[1] = std::min(1.0, captured);
}

// About the mean of the records, as the variance is: Σ‖y − ȳ‖² = Σ‖y‖² − ‖Σy‖²/n. Noise of
// variance v on each of d sums adds d·v to ‖Σy‖², and k·v to ‖VΣy‖².
Json ProjectionModel::figures(std::span<const double> sums, double rows, double variance) const {
  const auto y = sums.subspan(2);
  double captured = 0;
  for (std::size_t c = 0; c < components_.rows; ++c) {
    const double z = product(components_.row(c), y);
    captured += z * z;
  }
  const double n = std::max(1.0, rows);
  const auto d = static_cast<double>(y.size()), k = static_cast<double>(components_.rows);
  const double all = sums[0] - std::max(0.0, square_of(y) - d * variance) / n;
  const double held = sums[1] - std::max(0.0, captured - k * variance) / n;
  return {{"rows", count(rows)},
          {"explained_variance_ratio",
           all > 0 ? Json(std::clamp(held / all, 0.0, 1.0)) : Json(nullptr)}};
}

std::vector<OutputColumn> feature_columns(const Encoder& encoder) {
  std::vector<OutputColumn> list;
  for (const ColumnEncoder& c : encoder.features()) {
    OutputColumn column{.name = c.column().name};
    if (c.is_categorical())
      column.labels = c.labels();
    else if (c.is_numeric())
      column.bounds = c.column().bounds;
    list.push_back(std::move(column));
  }
  return list;
}

std::vector<double> decoded(const Encoder& encoder, std::span<const double> row) {
  std::vector<double> values;
  const double low = encoder.schema().scaling == Scaling::unit ? 0 : -1;
  for (std::size_t f = 0; f < encoder.features().size(); ++f) {
    const ColumnEncoder& column = encoder.features()[f];
    const Encoder::Run run = encoder.run(f);
    if (column.is_categorical()) {
      const auto part = row.subspan(run.first, run.width);
      values.push_back(
          static_cast<double>(std::max_element(part.begin(), part.end()) - part.begin()));
    } else {
      const double x = row[run.first];
      values.push_back(column.is_numeric() ? column.unscaled(std::clamp(x, low, 1.0))
                                           : std::clamp(x, 0.0, 1.0));
    }
  }
  return values;
}

}  // namespace sotto
