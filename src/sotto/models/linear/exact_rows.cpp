#include "sotto/models/linear/exact_rows.hpp"

#include <Eigen/Core>
#include <cmath>
#include <cstring>

#include "sotto/core/error.hpp"
#include "sotto/core/parallel.hpp"

namespace sotto {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using FloatRows =
    Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

constexpr double kRowUnit = 1 << ExactRows::kRowBits;
constexpr double kParameterUnit = 1 << ExactRows::kParameterBits;

// Clips the slopes of every record (a column of k outputs) to the norm and truncates them to whole units.
void bound_slopes(RowMajor& slopes, ExactRows::SlopeGrid grid) {
  const double units = std::ldexp(1.0, grid.bits), limit = grid.norm * units;
  const Eigen::Index k = slopes.rows();
  for (Eigen::Index i = 0; i < slopes.cols(); ++i) {
    double square = 0;
    for (Eigen::Index j = 0; j < k; ++j) square += slopes(j, i) * slopes(j, i);
    if (!std::isfinite(square)) {
      slopes.col(i).setZero();  // a record that cannot be evaluated contributes nothing
      continue;
    }
    const double factor =
        units * (square > grid.norm * grid.norm ? grid.norm / std::sqrt(square) : 1.0);
    for (Eigen::Index j = 0; j < k; ++j) slopes(j, i) = std::trunc(slopes(j, i) * factor);
    // The clipping above was rounded; the integers decide (exact: each at most 2^22, hence their squares at most 2^44).
    for (;;) {
      double exact = 0;
      for (Eigen::Index j = 0; j < k; ++j) exact += slopes(j, i) * slopes(j, i);
      if (exact <= limit * limit) break;
      for (Eigen::Index j = 0; j < k; ++j)
        slopes(j, i) -= slopes(j, i) > 0 ? 1 : slopes(j, i) < 0 ? -1 : 0;
    }
  }
}

}  // namespace

ExactRows::ExactRows(std::size_t features, double norm_bound, double intercept)
    : features_(features),
      dimension_(features + (intercept != 0 ? 1 : 0)),
      norm_bound_(norm_bound),
      intercept_(intercept) {
  if (!(norm_bound > 0) || !std::isfinite(norm_bound))
    throw InvalidArgument("the norm bound of the features must be a finite number above 0");
  scale_ = 1 / std::hypot(norm_bound, intercept);
}

void ExactRows::reserve(std::size_t rows) {
  rows_.reserve(rows * dimension_);
  targets_.reserve(rows);
}

void ExactRows::add(std::span<const float> features, float target) {
  if (features.size() != features_) invariant_broken("a record with another number of features");
  double square = 0;
  for (float v : features) square += static_cast<double>(v) * v;
  const bool usable = std::isfinite(square) && std::isfinite(target);
  const double norm = std::sqrt(square);
  const double shrink = scale_ * (norm > norm_bound_ ? norm_bound_ / norm : 1.0);

  const std::size_t start = rows_.size();
  rows_.resize(start + dimension_, 0.0f);
  targets_.push_back(usable ? target : 0.0f);
  if (!usable) return;
  float* row = rows_.data() + start;
  for (std::size_t j = 0; j < features_; ++j)
    row[j] = static_cast<float>(std::trunc(features[j] * shrink * kRowUnit));
  if (intercept_ != 0)
    row[features_] = static_cast<float>(std::trunc(intercept_ * scale_ * kRowUnit));
  // The arithmetic above is rounded; the norm is checked on the integers that are kept. |row_j| ≤ 2^16, so squares and their sum
  // (≤ dimension·2^32 ≤ 2^53 for up to 2^21 coordinates) are exact.
  for (;;) {
    double exact = 0;
    for (std::size_t j = 0; j < dimension_; ++j) exact += static_cast<double>(row[j]) * row[j];
    if (exact <= kRowUnit * kRowUnit) break;
    for (std::size_t j = 0; j < dimension_; ++j)
      row[j] -= row[j] > 0 ? 1.0f : row[j] < 0 ? -1.0f : 0.0f;
  }
  for (std::size_t j = 0; j < dimension_; ++j) row[j] /= static_cast<float>(kRowUnit);
}

void ExactRows::admit(std::span<double> parameters, std::size_t outputs) {
  const std::size_t dimension = parameters.size() / outputs;
  for (std::size_t k = 0; k < outputs; ++k) {
    auto part = parameters.subspan(k * dimension, dimension);
    double largest = 0, square = 0;
    for (double& v : part) {
      if (!std::isfinite(v)) v = 0;
      largest = std::max(largest, std::fabs(v));
    }
    for (double v : part) square += largest > 0 ? (v / largest) * (v / largest) : 0.0;
    const double norm =
        largest * std::sqrt(square);  // may be infinite: then everything shrinks to 0
    // Room below the limit for rounding every coordinate to the grid.
    const double limit = kMaximalNorm * (1 - 1e-6);
    const double shrink = norm > limit ? limit / norm : 1.0;
    for (double& v : part) v = std::nearbyint(v * shrink * kParameterUnit) / kParameterUnit;
  }
}

std::vector<int128> ExactRows::weighted_sum(std::span<const double> parameters, std::size_t outputs,
                                            const Slopes& slopes, SlopeGrid grid,
                                            unsigned threads) const {
  const std::size_t blocks = (size() + kBlockRows - 1) / kBlockRows;
  const unsigned workers = thread_count(threads);
  const auto p = static_cast<Eigen::Index>(dimension_);
  const auto k = static_cast<Eigen::Index>(outputs);
  const Eigen::Map<const RowMajor> theta(parameters.data(), k, p);

  struct Scratch {
    RowMajor rows, margins, slopes, sums;
    std::vector<int128> total;
  };
  std::vector<Scratch> scratch(workers);
  parallel_blocks(blocks, workers, [&](std::size_t block, unsigned thread) {
    Scratch& s = scratch[thread];
    s.total.resize(outputs * dimension_);
    const std::size_t first = block * kBlockRows, count = std::min(kBlockRows, size() - first);
    const auto n = static_cast<Eigen::Index>(count);
    s.rows = FloatRows(rows_.data() + first * dimension_, n, p).cast<double>();
    s.margins.noalias() = theta * s.rows.transpose();  // exact: multiples of 2^-40 below 2^12
    s.slopes.resize(k, n);
    slopes({s.margins.data(), static_cast<std::size_t>(s.margins.size())}, first, count,
           {s.slopes.data(), static_cast<std::size_t>(s.slopes.size())});
    bound_slopes(s.slopes, grid);
    s.rows *= kRowUnit;
    s.sums.noalias() = s.slopes * s.rows;  // exact: integers, absolute sum at most 2^49
    for (Eigen::Index i = 0; i < s.sums.size(); ++i)
      s.total[static_cast<std::size_t>(i)] += static_cast<std::int64_t>(s.sums.data()[i]);
  });
  std::vector<int128> total(outputs * dimension_);
  for (const Scratch& s : scratch) {
    for (std::size_t i = 0; i < s.total.size(); ++i) total[i] += s.total[i];
  }
  return total;
}

ExactRows::Moments ExactRows::moments(unsigned threads) const {
  const std::size_t blocks = (size() + kBlockRows - 1) / kBlockRows, p = dimension_;
  const unsigned workers = thread_count(threads);
  const std::size_t triangle = p * (p + 1) / 2;
  struct Scratch {
    RowMajor rows, second;
    Eigen::VectorXd targets, cross;
    Moments total;
  };
  std::vector<Scratch> scratch(workers);
  parallel_blocks(blocks, workers, [&](std::size_t block, unsigned thread) {
    Scratch& s = scratch[thread];
    s.total.second.resize(triangle);
    s.total.cross.resize(p);
    const std::size_t first = block * kBlockRows, count = std::min(kBlockRows, size() - first);
    const auto n = static_cast<Eigen::Index>(count);
    s.rows = FloatRows(rows_.data() + first * p, n, static_cast<Eigen::Index>(p)).cast<double>() *
             kRowUnit;
    s.targets.resize(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      s.targets[i] =
          std::trunc(std::clamp(static_cast<double>(targets_[first + static_cast<std::size_t>(i)]),
                                -1.0, 1.0) *
                     kRowUnit);
    }
    s.second.noalias() =
        s.rows.transpose() * s.rows;  // exact: integers, absolute sum at most 2^12·2^32
    s.cross.noalias() = s.rows.transpose() * s.targets;
    std::size_t at = 0;
    for (Eigen::Index i = 0; i < s.second.rows(); ++i) {
      s.total.cross[static_cast<std::size_t>(i)] += static_cast<std::int64_t>(s.cross[i]);
      for (Eigen::Index j = i; j < s.second.cols(); ++j)
        s.total.second[at++] += static_cast<std::int64_t>(s.second(i, j));
    }
  });
  Moments total{std::vector<int128>(triangle), std::vector<int128>(p)};
  for (const Scratch& s : scratch) {
    for (std::size_t i = 0; i < s.total.second.size(); ++i) total.second[i] += s.total.second[i];
    for (std::size_t i = 0; i < s.total.cross.size(); ++i) total.cross[i] += s.total.cross[i];
  }
  return total;
}

}  // namespace sotto
