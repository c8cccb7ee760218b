#include "sotto/features/ridge_scores.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"

namespace sotto::features {
namespace {

using RidgeRows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
constexpr std::size_t kRidgeBlock = 1024;

// Some rows, with the constant.
template <class Pick>
RidgeRows rows_with(const Points& all, std::size_t count, float constant, Pick&& pick) {
  RidgeRows x(static_cast<Eigen::Index>(count), static_cast<Eigen::Index>(all.width + 1));
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = all.row(pick(i));
    std::copy(row.begin(), row.end(), x.row(static_cast<Eigen::Index>(i)).data());
    x(static_cast<Eigen::Index>(i), x.cols() - 1) = constant;
  }
  return x;
}

}  // namespace

std::vector<double> ridge_scores(const Points& all, std::span<const std::size_t> known,
                                 std::span<const double> targets, std::size_t classes,
                                 double ridge) {
  if (known.empty() || classes == 0 || targets.size() != known.size() * classes || !(ridge > 0) ||
      std::any_of(known.begin(), known.end(), [&](std::size_t i) { return i >= all.rows(); }))
    throw InvalidArgument("scores by least squares need known rows, and targets of them");
  if (all.width > kMostRidgeColumns)
    throw InvalidArgument("there are too many columns for scores by least squares", "at most 5000");
  double square = 0;
  for (const float v : all.values) square += static_cast<double>(v) * v;
  square /= static_cast<double>(all.rows());
  const double unit = square > 0 ? square : 1;
  const auto constant = static_cast<float>(std::sqrt(unit));
  const auto wide = static_cast<Eigen::Index>(all.width + 1);
  const auto narrow = static_cast<Eigen::Index>(classes);
  Eigen::MatrixXf products = Eigen::MatrixXf::Zero(wide, wide);
  Eigen::MatrixXf sums = Eigen::MatrixXf::Zero(wide, narrow);
  for (std::size_t first = 0; first < known.size(); first += kRidgeBlock) {
    const std::size_t count = std::min(kRidgeBlock, known.size() - first);
    const RidgeRows x =
        rows_with(all, count, constant, [&](std::size_t i) { return known[first + i]; });
    RidgeRows t(x.rows(), narrow);
    for (std::size_t i = 0; i < count * classes; ++i)
      t.data()[i] = static_cast<float>(targets[first * classes + i]);
    products.selfadjointView<Eigen::Lower>().rankUpdate(x.transpose());
    sums += x.transpose() * t;
  }
  Eigen::MatrixXd a = Eigen::MatrixXf(products.selfadjointView<Eigen::Lower>()).cast<double>();
  a.diagonal().array() += ridge * unit;
  const Eigen::MatrixXf w = a.llt().solve(sums.cast<double>()).cast<float>();
  std::vector<double> scores(all.rows() * classes);
  for (std::size_t first = 0; first < all.rows(); first += kRidgeBlock) {
    const std::size_t count = std::min(kRidgeBlock, all.rows() - first);
    const RidgeRows y =
        rows_with(all, count, constant, [&](std::size_t i) { return first + i; }) * w;
    for (std::size_t i = 0; i < count * classes; ++i) {
      const auto v = static_cast<double>(y.data()[i]);
      scores[first * classes + i] = std::isfinite(v) ? v : 0;
    }
  }
  return scores;
}

}  // namespace sotto::features
