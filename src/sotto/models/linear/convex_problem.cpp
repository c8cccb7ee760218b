#include "sotto/models/linear/detail/convex_problem.hpp"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/parallel.hpp"

namespace sotto {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using FloatRows =
    Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
using Eigen::Index;

constexpr std::size_t kBlock = 1024;           // rows in one product
constexpr std::size_t kMaximalChunks = 64;     // partial sums; each is filled by one thread
constexpr std::size_t kChunkMemory = 1 << 28;  // bytes for all partial sums together
constexpr double kHalfUlp = 0x1p-53;           // half a unit in the last place of 1

Index index(std::size_t n) { return static_cast<Index>(n); }

// What one record's target means to its loss.
struct Targets {
  Loss loss;
  std::size_t outputs;

  bool known(double y) const {
    if (outputs > 1) return y >= 0 && y < static_cast<double>(outputs) && y == std::floor(y);
    return loss == Loss::squared ? std::isfinite(y) : y == 1 || y == -1;
  }
  double of(double y, Index output) const {
    if (outputs > 1) return static_cast<Index>(y) == output ? 1 : -1;
    return loss == Loss::squared ? std::clamp(y, -1.0, 1.0) : y;
  }
  bool softmax() const { return outputs > 1 && loss == Loss::logistic; }
};

// Rows of one block as doubles, and their margins, one row per output.
struct HessianBlock {
  Matrix rows, margins;
  std::size_t first = 0;

  void load(const ExactRows& data, std::size_t rows_in_all, std::size_t block) {
    first = block * kBlock;
    const std::size_t count = std::min(kBlock, rows_in_all - first);
    rows = FloatRows(data.row(first).data(), index(count), index(data.dimension())).cast<double>();
  }
  void done(const ExactRows& data) const {
    data.done(first, static_cast<std::size_t>(rows.rows()));
  }
  void multiply(std::span<const double> theta, std::size_t outputs) {
    margins.noalias() =
        Eigen::Map<const Matrix>(theta.data(), index(outputs), rows.cols()) * rows.transpose();
  }
};

// Turns a column of scores into probabilities; returns ln Σ e^z.
template <class Column>
double softmax(Column&& z) {
  const double top = z.maxCoeff();
  z = (z.array() - top).exp();
  const double total = z.sum();
  z /= total;
  return top + std::log(total);
}

// Margins → slopes dℓ/dz, in place. Returns the sum of the losses.
double slopes_in_place(const Targets& targets, const ExactRows& data, HessianBlock& block) {
  double value = 0;
  for (Index i = 0; i < block.margins.cols(); ++i) {
    const double y = data.target(block.first + static_cast<std::size_t>(i));
    auto z = block.margins.col(i);
    if (!targets.known(y)) {
      z.setZero();
    } else if (targets.softmax()) {
      const double own = z[static_cast<Index>(y)];
      value += softmax(z) - own;
      z[static_cast<Index>(y)] -= 1;
    } else {
      for (Index k = 0; k < z.size(); ++k) {
        const double target = targets.of(y, k), margin = z[k];
        value += loss_value(targets.loss, margin, target);
        z[k] = loss_slope(targets.loss, margin, target);
      }
    }
  }
  return value;
}

// Margins → what the Hessian of a record needs: probabilities (softmax) or curvatures, in place.
void curvatures_in_place(const Targets& targets, const ExactRows& data, HessianBlock& block) {
  for (Index i = 0; i < block.margins.cols(); ++i) {
    const double y = data.target(block.first + static_cast<std::size_t>(i));
    auto z = block.margins.col(i);
    if (!targets.known(y)) {
      z.setZero();
    } else if (targets.softmax()) {
      softmax(z);
    } else {
      for (Index k = 0; k < z.size(); ++k)
        z[k] = loss_curvature(targets.loss, z[k], targets.of(y, k));
    }
  }
}

// The largest eigenvalue of a record's Hessian in its margins.
double margin_curvature(Loss loss, std::size_t outputs) {
  return outputs > 1 && loss == Loss::logistic ? 0.5 : curvature_bound(loss);
}

// Each column of a matrix of coordinates times its weight; no weights: as it is.
void weigh(const std::vector<double>& weights, Matrix& m) {
  for (Index j = 0; j < index(weights.size()); ++j)
    m.col(j) *= weights[static_cast<std::size_t>(j)];
}

double norm(std::span<const double> v) {
  return Eigen::Map<const Eigen::VectorXd>(v.data(), index(v.size())).stableNorm();
}

// How many partial sums of `bytes` each there are for so many blocks.
std::size_t chunk_count(std::size_t blocks, std::size_t bytes) {
  const std::size_t affordable =
      std::max<std::size_t>(1, kChunkMemory / std::max<std::size_t>(1, bytes));
  return std::min({blocks, kMaximalChunks, affordable});
}

}  // namespace

double ProblemSize::largest_theta() const {
  // (Λ/2)t² − ‖b‖t ≤ J(θ) ≤ J(0) = n·ℓ(0), as losses are not negative.
  const auto k = static_cast<double>(outputs);
  const double at_zero = outputs == 1             ? std::max(loss_value(loss, 0, 1), 0.5)
                         : loss == Loss::logistic ? std::log(k)
                                                  : k * std::max(loss_value(loss, 0, 1), 0.5);
  const double root = std::sqrt(linear_norm * linear_norm + 2 * ridge * rows * at_zero);
  return 1.01 * (linear_norm + root) / ridge;
}

// From the standard model. Per record: margins are off by (p + 4)u‖θ‖ together, which moves the
// slopes by `curvature` times that; evaluating them costs at most (K + 16)u each; their products
// with the rows are summed over a block (kBlock), the blocks of a chunk and the chunks.
double ProblemSize::gradient_error(double theta_norm) const {
  const auto p = static_cast<double>(dimension), k = static_cast<double>(outputs);
  const double curvature = margin_curvature(loss, outputs);
  const double slope =
      loss == Loss::squared ? (theta_norm + 1) * std::sqrt(k) : slope_norm(loss, outputs);
  const double blocks = std::ceil(rows / kBlock);
  const auto chunks = static_cast<double>(
      std::max<std::size_t>(1, chunk_count(kMaximalChunks, outputs * dimension * sizeof(double))));
  const double additions = kBlock + blocks / chunks + kMaximalChunks + 8;
  const double per_record = curvature * (p + 4) * theta_norm +
                            std::sqrt(k) * (k + 16) * std::max(1.0, slope) + slope * additions;
  const double outside = 4 * (ridge * theta_norm + linear_norm + slope * rows);
  return 2 * kHalfUlp * (rows * per_record + outside);
}

double slope_norm(Loss loss, std::size_t outputs) {
  if (outputs == 1) return lipschitz_bound(loss);
  if (loss == Loss::logistic) return std::nextafter(std::sqrt(2.0), 2.0);
  return lipschitz_bound(loss) * std::sqrt(static_cast<double>(outputs)) * (1 + 0x1p-50);
}

double curvature_trace(Loss loss, std::size_t outputs) {
  const auto k = static_cast<double>(outputs);
  if (outputs == 1) return curvature_bound(loss);
  return loss == Loss::logistic ? 1 - 1 / k + 0x1p-50 : k * curvature_bound(loss);
}

ConvexProblem::ConvexProblem(const ExactRows& rows, Loss loss, std::size_t outputs, double ridge,
                             std::span<const double> linear, unsigned threads,
                             std::size_t most_rows)
    : rows_(&rows),
      count_(std::min(rows.size(), most_rows)),
      loss_(loss),
      outputs_(outputs),
      ridge_(ridge),
      linear_(linear.begin(), linear.end()),
      threads_(threads) {
  if (outputs == 0) throw InvalidArgument("outputs is 0; it must be at least 1");
  if (!(ridge > 0 && std::isfinite(ridge))) {
    throw InvalidArgument(
        fmt::format("the regularisation is {}; it must be a finite number above 0", ridge));
  }
  linear_.resize(linear.empty() ? size() : linear.size());
  if (linear_.size() != size()) invariant_broken("a linear term of another size than the model");
}

void ConvexProblem::weigh_ridge(std::vector<double> weights) {
  if (weights.size() != rows_->dimension()) invariant_broken("a ridge weight for each coordinate");
  for (const double w : weights)
    if (!(w > 0 && std::isfinite(w))) invariant_broken("ridge weights must be above 0");
  weights_ = std::move(weights);
}

double ConvexProblem::smoothness() const {
  return (ridge_ + margin_curvature(loss_, outputs_) * static_cast<double>(count_)) * (1 + 0x1p-40);
}

ConvexProblem ConvexProblem::with_ridge(double ridge) const {
  ConvexProblem other{*rows_, loss_, outputs_, ridge, linear_, threads_, count_};
  other.weights_ = weights_;
  return other;
}

double ConvexProblem::Point::gradient_norm() const { return norm(gradient); }

double ConvexProblem::Point::gradient_bound() const {
  const double rounding = 1 + 4 * kHalfUlp * (static_cast<double>(gradient.size()) + 8);
  return (norm(gradient) + gradient_error) * rounding;
}

// f(partial, first block, one past the last block) once per chunk, chunks spread over threads.
// bytes: size of one partial sum.
template <class Partial, class F>
std::vector<Partial> ConvexProblem::over_chunks(std::size_t bytes, F&& f) const {
  const std::size_t blocks = (count_ + kBlock - 1) / kBlock;
  const std::size_t chunks = chunk_count(blocks, bytes);
  std::vector<Partial> partials(chunks);
  parallel_blocks(chunks, threads_, [&](std::size_t chunk, unsigned) {
    f(partials[chunk], blocks * chunk / chunks, blocks * (chunk + 1) / chunks);
  });
  return partials;
}

ConvexProblem::Point ConvexProblem::evaluate(std::vector<double> theta) const {
  struct Partial {
    Matrix gradient;
    double value = 0;
  };
  const Targets targets{loss_, outputs_};
  const Index k = index(outputs_), p = index(rows_->dimension());
  const auto partials = over_chunks<Partial>(
      size() * sizeof(double), [&](Partial& part, std::size_t begin, std::size_t end) {
        part.gradient = Matrix::Zero(k, p);
        HessianBlock block;
        for (std::size_t b = begin; b < end; ++b) {
          block.load(*rows_, count_, b);
          block.multiply(theta, outputs_);
          part.value += slopes_in_place(targets, *rows_, block);
          part.gradient.noalias() += block.margins * block.rows;
          block.done(*rows_);
        }
      });

  Point point;
  point.gradient.resize(size());
  Eigen::Map<Matrix> gradient(point.gradient.data(), k, p);
  gradient.setZero();
  for (const Partial& part : partials) {
    gradient += part.gradient;
    point.value += part.value;
  }
  const Eigen::Map<const Matrix> t(theta.data(), k, p), b(linear_.data(), k, p);
  Matrix shrunk = ridge_ * t;
  weigh(weights_, shrunk);
  gradient += shrunk + b;
  const double theta_norm = norm(theta), tilt = t.cwiseProduct(b).sum();
  const double penalty =
      weights_.empty() ? ridge_ * theta_norm * theta_norm : t.cwiseProduct(shrunk).sum();
  point.value_error = 64 * kHalfUlp * (point.value + penalty + std::fabs(tilt));
  point.value += 0.5 * penalty + tilt;
  const ProblemSize size{.loss = loss_,
                         .outputs = outputs_,
                         .dimension = rows_->dimension(),
                         .rows = static_cast<double>(count_),
                         .ridge = ridge_,
                         .linear_norm = norm(linear_)};
  point.gradient_error = size.gradient_error(theta_norm);
  point.theta = std::move(theta);
  return point;
}

std::vector<double> ConvexProblem::hessian(std::span<const double> theta) const {
  const Targets targets{loss_, outputs_};
  const Index k = index(outputs_), p = index(rows_->dimension()), d = k * p;
  const auto partials = over_chunks<Matrix>(
      size() * size() * sizeof(double), [&](Matrix& sum, std::size_t begin, std::size_t end) {
        sum = Matrix::Zero(d, d);
        HessianBlock block;
        Matrix weighted;
        for (std::size_t b = begin; b < end; ++b) {
          block.load(*rows_, count_, b);
          block.multiply(theta, outputs_);
          curvatures_in_place(targets, *rows_, block);
          for (Index i = 0; i < k; ++i) {
            for (Index j = i; j < (targets.softmax() ? k : i + 1); ++j) {
              auto weights = block.margins.row(i).array();
              if (!targets.softmax()) {
                weighted = (block.rows.array().colwise() * weights.transpose()).matrix();
              } else {
                const double own = i == j ? 1.0 : 0.0;
                weighted = (block.rows.array().colwise() *
                            (weights * (own - block.margins.row(j).array())).transpose())
                               .matrix();
              }
              if (i == j) {
                sum.block(i * p, i * p, p, p).triangularView<Eigen::Upper>() +=
                    block.rows.transpose() * weighted;
              } else {
                sum.block(i * p, j * p, p, p).noalias() += block.rows.transpose() * weighted;
              }
            }
          }
          block.done(*rows_);
        }
      });

  std::vector<double> result(size() * size());
  Eigen::Map<Matrix> h(result.data(), d, d);
  h.setZero();
  for (const Matrix& part : partials) h += part;
  h.triangularView<Eigen::StrictlyLower>() = h.transpose();
  for (Index i = 0; i < d; ++i)
    h(i, i) += weights_.empty() ? ridge_ : ridge_ * weights_[static_cast<std::size_t>(i % p)];
  return result;
}

std::vector<double> ConvexProblem::hessian_times(std::span<const double> theta,
                                                 std::span<const double> v) const {
  const Targets targets{loss_, outputs_};
  const Index k = index(outputs_), p = index(rows_->dimension());
  const Eigen::Map<const Matrix> direction(v.data(), k, p);
  const auto partials = over_chunks<Matrix>(
      size() * sizeof(double), [&](Matrix& sum, std::size_t begin, std::size_t end) {
        sum = Matrix::Zero(k, p);
        HessianBlock block;
        Matrix along;
        for (std::size_t b = begin; b < end; ++b) {
          block.load(*rows_, count_, b);
          block.multiply(theta, outputs_);
          curvatures_in_place(targets, *rows_, block);
          along.noalias() = direction * block.rows.transpose();
          if (targets.softmax()) {  // (diag(p) − ppᵀ)·a, record by record
            const Eigen::RowVectorXd mean = block.margins.cwiseProduct(along).colwise().sum();
            along.rowwise() -= mean;
          }
          along.array() *= block.margins.array();
          sum.noalias() += along * block.rows;
          block.done(*rows_);
        }
      });
  std::vector<double> result(size());
  Eigen::Map<Matrix> out(result.data(), k, p);
  Matrix shrunk = ridge_ * direction;
  weigh(weights_, shrunk);
  out = shrunk;
  for (const Matrix& part : partials) out += part;
  return result;
}

}  // namespace sotto
