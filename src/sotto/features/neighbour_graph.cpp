#include "sotto/features/neighbour_graph.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "sotto/core/error.hpp"
#include "sotto/core/parallel.hpp"

namespace sotto::features {
namespace {

using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Edge {
  std::uint32_t to;
  float distance;  // squared
};

// The k nearest of every row, block by block.
std::vector<Edge> nearest(const Points& points, std::size_t k, unsigned threads) {
  const auto n = static_cast<Eigen::Index>(points.rows());
  const Eigen::Map<const Rows> x(points.values.data(), n, static_cast<Eigen::Index>(points.width));
  const Eigen::VectorXf squares = x.rowwise().squaredNorm();
  constexpr Eigen::Index kBlock = 128;
  std::vector<Edge> edges(points.rows() * k);
  parallel_blocks(
      static_cast<std::size_t>((n + kBlock - 1) / kBlock), threads, [&](std::size_t b, unsigned) {
        const Eigen::Index first = static_cast<Eigen::Index>(b) * kBlock;
        const Eigen::Index count = std::min(kBlock, n - first);
        const Rows products = x.middleRows(first, count) * x.transpose();
        std::vector<std::pair<float, std::uint32_t>> order(static_cast<std::size_t>(n));
        for (Eigen::Index i = 0; i < count; ++i) {
          for (Eigen::Index j = 0; j < n; ++j)
            order[static_cast<std::size_t>(j)] = {
                j == first + i
                    ? std::numeric_limits<float>::infinity()
                    : std::max(0.F, squares[first + i] + squares[j] - 2 * products(i, j)),
                static_cast<std::uint32_t>(j)};
          std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k) - 1,
                           order.end());
          for (std::size_t e = 0; e < k; ++e)
            edges[static_cast<std::size_t>(first + i) * k + e] = {order[e].second, order[e].first};
        }
      });
  return edges;
}

}  // namespace

NeighbourGraph::NeighbourGraph(const Points& points, std::size_t neighbours, unsigned threads) {
  const std::size_t n = points.rows();
  if (n < 2) throw InvalidArgument("a graph needs two public records or more");
  const std::size_t k = std::min(neighbours, n - 1);
  if (k == 0) throw InvalidArgument("`neighbours` is 0; it must be at least 1");
  const std::vector<Edge> edges = nearest(points, k, threads);
  std::vector<float> distances;
  for (const Edge& e : edges) distances.push_back(e.distance);
  std::nth_element(distances.begin(), distances.begin() + static_cast<std::ptrdiff_t>(n * k / 2),
                   distances.end());
  const float median = std::max(distances[n * k / 2], std::numeric_limits<float>::min());
  // Both directions, each pair once.
  std::vector<std::vector<std::pair<std::uint32_t, float>>> joined(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t e = 0; e < k; ++e) {
      const Edge& edge = edges[i * k + e];
      const float w = std::exp(-edge.distance / median);
      joined[i].emplace_back(edge.to, w);
      joined[edge.to].emplace_back(static_cast<std::uint32_t>(i), w);
    }
  std::vector<double> degree(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    std::sort(joined[i].begin(), joined[i].end());
    joined[i].erase(std::unique(joined[i].begin(), joined[i].end(),
                                [](const auto& a, const auto& b) { return a.first == b.first; }),
                    joined[i].end());
    for (const auto& [to, w] : joined[i]) degree[i] += w;
    degree[i] = std::max(degree[i], 1e-30);
  }
  starts_.push_back(0);
  for (std::size_t i = 0; i < n; ++i) {
    for (const auto& [to, w] : joined[i]) {
      to_.push_back(to);
      weight_.push_back(static_cast<float>(w / std::sqrt(degree[i] * degree[to])));
    }
    starts_.push_back(to_.size());
  }
}

void NeighbourGraph::smooth(std::span<double> values, std::size_t classes, std::size_t steps,
                            double share) const {
  if (values.size() != rows() * classes)
    throw InvalidArgument("what is smoothed is not about the records of the graph");
  std::vector<float> start(values.begin(), values.end()), now = start, next(start.size());
  const auto keep = static_cast<float>(1 - share), mix = static_cast<float>(share);
  for (std::size_t s = 0; s < steps; ++s) {
    for (std::size_t i = 0; i < rows(); ++i) {
      float* const out = next.data() + i * classes;
      for (std::size_t c = 0; c < classes; ++c) out[c] = keep * start[i * classes + c];
      for (std::size_t e = starts_[i]; e < starts_[i + 1]; ++e) {
        const float w = mix * weight_[e];
        const float* const from = now.data() + to_[e] * classes;
        for (std::size_t c = 0; c < classes; ++c) out[c] += w * from[c];
      }
    }
    std::swap(now, next);
  }
  std::copy(now.begin(), now.end(), values.begin());
}

}  // namespace sotto::features
