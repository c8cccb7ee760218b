#include "sotto/models/pca/detail/scatter.hpp"

#include "sotto/models/rows/detail/product_sums.hpp"

namespace sotto {

std::vector<int128> scatter_of(const EncodedRows& rows, std::span<const double> centre,
                               double radius) {
  const std::size_t d = rows.width(), triangle = d * (d + 1) / 2;
  return rows.sum(triangle, [&](std::size_t first, std::size_t count, std::span<int128> total) {
    std::vector<float> point(d), room;
    detail::ProductSums second(d);  // exact: 2^12 rows of at most 2^32
    for (std::size_t i = first; i < first + count; ++i) {
      to_ball(rows.row(i, room), centre, radius, point);
      second.add(point.data());
    }
    second.finish();
    std::size_t at = 0;
    for (std::size_t i = 0; i < d; ++i)
      for (std::size_t j = i; j < d; ++j)
        total[at++] += static_cast<std::int64_t>(second.sum(i, j));
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
