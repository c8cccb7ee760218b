#include "sotto/features/principal.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/features/detail/leading.hpp"

namespace sotto::features {
namespace {

using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
constexpr Eigen::Index kPrincipalBlock = 512;

}  // namespace

PublicComponents PublicComponents::fit(const Points& records, std::size_t components,
                                       std::size_t channel, unsigned threads) {
  const std::size_t n = records.rows(), d = records.width;
  if (n < 2 || components == 0 || components > d)
    throw InvalidArgument("components need two public records or more, and at most one a column");
  if (channel == 0 || d % channel != 0)
    throw InvalidArgument("the columns do not fall into channels of this size");
  Parts result;
  std::vector<double> sum(d, 0.0), square(d, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < d; ++j) sum[j] += records.row(i)[j];
  for (std::size_t j = 0; j < d; ++j)
    result.mean.push_back(static_cast<float>(sum[j] / static_cast<double>(n)));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < d; ++j) {
      const double x = records.row(i)[j] - result.mean[j];
      square[j] += x * x;
    }
  for (std::size_t c = 0; c < d; c += channel) {
    double variance = 0;
    for (std::size_t j = c; j < c + channel; ++j) variance += square[j];
    variance /= static_cast<double>(n * channel);
    const double inverse = variance > 1e-20 ? 1 / std::sqrt(variance) : 0;
    result.inverse_deviation.insert(result.inverse_deviation.end(), channel,
                                    static_cast<float>(inverse));
  }
  // Partial covariances of blocks, one for each thread.
  const auto wide = static_cast<Eigen::Index>(d);
  const unsigned workers = thread_count(threads);
  std::vector<Eigen::MatrixXf> partial(workers);
  parallel_blocks(
      (n + kPrincipalBlock - 1) / kPrincipalBlock, workers, [&](std::size_t b, unsigned thread) {
        const std::size_t first = b * kPrincipalBlock,
                          count = std::min<std::size_t>(kPrincipalBlock, n - first);
        Rows x(static_cast<Eigen::Index>(count), wide);
        for (std::size_t i = 0; i < count; ++i)
          for (std::size_t j = 0; j < d; ++j)
            x(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) =
                (records.row(first + i)[j] - result.mean[j]) * result.inverse_deviation[j];
        if (partial[thread].size() == 0) partial[thread] = Eigen::MatrixXf::Zero(wide, wide);
        partial[thread].selfadjointView<Eigen::Lower>().rankUpdate(x.transpose());
      });
  Eigen::MatrixXf covariance = Eigen::MatrixXf::Zero(wide, wide);
  for (const auto& p : partial)
    if (p.size() > 0) covariance += p;
  covariance = Eigen::MatrixXf(covariance.selfadjointView<Eigen::Lower>()) / static_cast<float>(n);
  Eigen::MatrixXd directions = leading(covariance, components);
  for (Eigen::Index c = 0; c < directions.cols(); ++c) {
    Eigen::Index at = 0;
    directions.col(c).cwiseAbs().maxCoeff(&at);
    if (directions(at, c) < 0) directions.col(c) *= -1;
  }
  result.directions.resize(d * components);
  Eigen::Map<Rows>(result.directions.data(), wide, static_cast<Eigen::Index>(components)) =
      directions.cast<float>();
  return PublicComponents(std::move(result));
}

PublicComponents::PublicComponents(Parts parts) : parts_(std::move(parts)) {
  const std::size_t d = parts_.mean.size();
  const auto finite = [](const std::vector<float>& values) {
    return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
  };
  if (d == 0 || parts_.inverse_deviation.size() != d || parts_.directions.empty() ||
      parts_.directions.size() % d != 0 || parts_.directions.size() / d > d ||
      !finite(parts_.mean) || !finite(parts_.inverse_deviation) || !finite(parts_.directions))
    throw InvalidArgument("these numbers are no components");
}

Points PublicComponents::apply(const Points& records, unsigned threads) const {
  if (records.width != inputs()) throw InvalidArgument("records of another width");
  Points out{.width = components(), .values = {}};
  out.values.assign(records.rows() * components(), 0.0F);
  const auto wide = static_cast<Eigen::Index>(inputs());
  const auto narrow = static_cast<Eigen::Index>(components());
  const Eigen::Map<const Rows> directions(parts_.directions.data(), wide, narrow);
  // Always blocks of one size: what becomes of a record must not depend on its company.
  parallel_blocks(
      (records.rows() + kPrincipalBlock - 1) / kPrincipalBlock, threads,
      [&](std::size_t b, unsigned) {
        const std::size_t first = b * kPrincipalBlock,
                          count = std::min<std::size_t>(kPrincipalBlock, records.rows() - first);
        Rows x = Rows::Zero(kPrincipalBlock, wide);
        for (std::size_t i = 0; i < count; ++i)
          for (std::size_t j = 0; j < inputs(); ++j)
            x(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) =
                (records.row(first + i)[j] - parts_.mean[j]) * parts_.inverse_deviation[j];
        const Rows y = x * directions;
        for (std::size_t i = 0; i < count; ++i) {
          const auto row = y.row(static_cast<Eigen::Index>(i));
          const double length = std::sqrt(row.cast<double>().squaredNorm());
          if (!(length > 1e-30) || !std::isfinite(length)) continue;
          for (std::size_t c = 0; c < components(); ++c)
            out.row(first + i)[c] = std::clamp(
                static_cast<float>(row[static_cast<Eigen::Index>(c)] / length), -1.F, 1.F);
        }
      });
  return out;
}

}  // namespace sotto::features
