#include "sotto/features/kernel_components.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/features/detail/leading.hpp"

namespace sotto::features {
namespace {

using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using View = Eigen::Map<const Rows>;
constexpr Eigen::Index kKernelBlock = 512;
constexpr float kOffset = .5F;
constexpr unsigned kMostDegree = 8;

View view(const Points& p) {
  return {p.values.data(), static_cast<Eigen::Index>(p.rows()), static_cast<Eigen::Index>(p.width)};
}

Rows kernel(const Rows& x, const View& landmarks, unsigned degree) {
  const Rows base = (x * landmarks.transpose()).array() + kOffset;
  Rows power = base;
  for (unsigned i = 1; i < degree; ++i) power.array() *= base.array();
  return power;
}

}  // namespace

KernelComponents KernelComponents::fit(const Points& records, std::size_t components,
                                       std::size_t landmarks, unsigned degree, unsigned threads) {
  const std::size_t n = records.rows(), m = std::min(landmarks, n);
  if (components == 0 || components > m)
    throw InvalidArgument("there must be as many landmarks as components, or more",
                          "ask for fewer components, or give more public records");
  Parts parts{.degree = degree,
              .landmarks = {.width = records.width, .values = {}},
              .projection = std::vector<float>(m * components, 0.0F),
              .centre = std::vector<float>(components, 0.0F)};
  for (std::size_t i = 0; i < m; ++i) {
    const auto row = records.row(i * n / m);
    parts.landmarks.values.insert(parts.landmarks.values.end(), row.begin(), row.end());
  }
  KernelComponents result{std::move(parts)};
  const View marks = view(result.parts_.landmarks);
  const Eigen::MatrixXf between = kernel(Rows(marks), marks, degree);
  Eigen::MatrixXd directions = leading(between, components);
  const Eigen::MatrixXd carried = between.cast<double>() * directions;
  for (Eigen::Index c = 0; c < directions.cols(); ++c) {
    const double value = directions.col(c).dot(carried.col(c));
    Eigen::Index at = 0;
    directions.col(c).cwiseAbs().maxCoeff(&at);
    const double sign = directions(at, c) < 0 ? -1 : 1;
    // What is left of a direction that carries nothing is rounding.
    directions.col(c) *= value > 1e-6 * static_cast<double>(m) ? sign / std::sqrt(value) : 0;
  }
  Eigen::Map<Rows>(result.parts_.projection.data(), marks.rows(), directions.cols()) =
      directions.cast<float>();
  // The mean of the public records before they are scaled.
  const View projection(result.parts_.projection.data(), marks.rows(), directions.cols());
  const std::size_t blocks = (n + kKernelBlock - 1) / kKernelBlock;
  std::vector<Eigen::VectorXd> sums(blocks);
  parallel_blocks(blocks, threads, [&](std::size_t b, unsigned) {
    const auto first = static_cast<Eigen::Index>(b) * kKernelBlock;
    const Eigen::Index count = std::min(kKernelBlock, static_cast<Eigen::Index>(n) - first);
    const Rows y = kernel(view(records).middleRows(first, count), marks, degree) * projection;
    sums[b] = y.cast<double>().colwise().sum();
  });
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(directions.cols());
  for (const auto& s : sums) sum += s;
  for (std::size_t c = 0; c < components; ++c)
    result.parts_.centre[c] =
        static_cast<float>(sum[static_cast<Eigen::Index>(c)] / static_cast<double>(n));
  return KernelComponents(std::move(result.parts_));
}

KernelComponents::KernelComponents(Parts parts) : parts_(std::move(parts)) {
  const auto finite = [](const std::vector<float>& values) {
    return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
  };
  const std::size_t m = parts_.landmarks.rows();
  if (parts_.degree < 1 || parts_.degree > kMostDegree || m == 0 || parts_.centre.empty() ||
      m * parts_.landmarks.width != parts_.landmarks.values.size() ||
      parts_.projection.size() != m * parts_.centre.size() || !finite(parts_.landmarks.values) ||
      !finite(parts_.projection) || !finite(parts_.centre))
    throw InvalidArgument("these numbers are no components of products");
}

Points KernelComponents::apply(const Points& records, unsigned threads) const {
  if (records.width != inputs()) throw InvalidArgument("records of another width");
  Points out{.width = components(), .values = {}};
  out.values.assign(records.rows() * components(), 0.0F);
  const View marks = view(parts_.landmarks);
  const auto narrow = static_cast<Eigen::Index>(components());
  const View projection(parts_.projection.data(), marks.rows(), narrow);
  const Eigen::Map<const Eigen::RowVectorXf> centre(parts_.centre.data(), narrow);
  const std::size_t block = static_cast<std::size_t>(kKernelBlock);
  // Always blocks of one size: what becomes of a record must not depend on its company.
  parallel_blocks((records.rows() + block - 1) / block, threads, [&](std::size_t b, unsigned) {
    const std::size_t first = b * block, count = std::min(block, records.rows() - first);
    Rows x = Rows::Zero(kKernelBlock, marks.cols());
    std::copy_n(records.values.data() + first * records.width, count * records.width, x.data());
    Rows y = kernel(x, marks, parts_.degree) * projection;
    y.rowwise() -= centre;
    for (std::size_t i = 0; i < count; ++i) {
      const auto row = y.row(static_cast<Eigen::Index>(i));
      const double length = std::sqrt(row.cast<double>().squaredNorm());
      if (!(length > 1e-30) || !std::isfinite(length)) continue;
      for (std::size_t c = 0; c < components(); ++c)
        out.row(first + i)[c] =
            std::clamp(static_cast<float>(row[static_cast<Eigen::Index>(c)] / length), -1.F, 1.F);
    }
  });
  return out;
}

}  // namespace sotto::features
