#include "sotto/models/pca/detail/scatter.hpp"

#include <algorithm>

#include "sotto/models/rows/detail/ball_kernels.hpp"

namespace sotto {
namespace {

constexpr std::size_t kChunk = 512;  // rows converted at once

}  // namespace

std::vector<int128> scatter_of(const EncodedRows& rows, std::span<const double> centre,
                               double radius) {
  const std::size_t d = rows.width(), triangle = d * (d + 1) / 2;
  return rows.sum(triangle, [&](std::size_t first, std::size_t count, std::span<int128> total) {
    std::vector<float> points(std::min(kChunk, count) * d);
    std::vector<double> second(d * d);  // exact: 2^12 rows of at most 2^32
    for (std::size_t start = 0; start < count; start += kChunk) {
      const std::size_t some = std::min(kChunk, count - start);
      for (std::size_t i = 0; i < some; ++i)
        to_ball(rows.row(first + start + i), centre, radius, {points.data() + i * d, d});
      detail::add_products(points.data(), some, d, second.data());
    }
    std::size_t at = 0;
    for (std::size_t i = 0; i < d; ++i)
      for (std::size_t j = i; j < d; ++j)
        total[at++] += static_cast<std::int64_t>(second[i * d + j]);
  });
}

Eigen::MatrixXd symmetric(std::span<const int128> triangle, std::size_t width, double diagonal_step,
                          double off_step) {
  const auto d = static_cast<Eigen::Index>(width);
  Eigen::MatrixXd matrix(d, d);
  std::size_t at = 0;
  for (Eigen::Index i = 0; i < d; ++i) {
    for (Eigen::Index j = i; j < d; ++j, ++at)
      matrix(i, j) = matrix(j, i) =
          static_cast<double>(triangle[at]) * (i == j ? diagonal_step : off_step);
  }
  return matrix;
}

}  // namespace sotto
