#include "sotto/features/medoids.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <limits>
#include <numeric>

#include "sotto/core/parallel.hpp"
#include "sotto/core/rng.hpp"

namespace sotto::features {
namespace {

using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using View = Eigen::Map<const Rows>;

double uniform(Rng& rng) { return static_cast<double>(rng.next_u64() >> 11) * 0x1p-53; }

Rows seeded(const View& x, std::size_t count) {
  Rng rng = Rng::insecure_seed(1);  // public: nothing is hidden by it
  const auto n = static_cast<std::size_t>(x.rows());
  Rows centres(static_cast<Eigen::Index>(count), x.cols());
  std::vector<double> distance(n, std::numeric_limits<double>::max());
  std::size_t next = static_cast<std::size_t>(uniform(rng) * static_cast<double>(n));
  for (std::size_t c = 0; c < count; ++c) {
    centres.row(static_cast<Eigen::Index>(c)) = x.row(static_cast<Eigen::Index>(next));
    const Eigen::VectorXf d =
        (x.rowwise() - centres.row(static_cast<Eigen::Index>(c))).rowwise().squaredNorm();
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) {
      distance[i] = std::min(distance[i], static_cast<double>(d[static_cast<Eigen::Index>(i)]));
      total += distance[i];
    }
    double left = uniform(rng) * total;
    for (next = 0; next + 1 < n && (left -= distance[next]) > 0;) ++next;
  }
  return centres;
}

// Squared distances up to a constant of each row: ‖c‖² − 2⟨x, c⟩.
Rows relative(const View& x, const Rows& centres, Eigen::Index first, Eigen::Index count) {
  Rows d = -2 * (x.middleRows(first, count) * centres.transpose());
  d.rowwise() += centres.rowwise().squaredNorm().transpose();
  return d;
}

}  // namespace

std::vector<std::size_t> medoids(const Points& points, std::size_t count, std::size_t steps,
                                 unsigned threads) {
  const std::size_t n = points.rows();
  std::vector<std::size_t> chosen;
  if (count >= n) {
    chosen.resize(n);
    std::iota(chosen.begin(), chosen.end(), std::size_t{0});
    return chosen;
  }
  if (count == 0) return chosen;
  const View x(points.values.data(), static_cast<Eigen::Index>(n),
               static_cast<Eigen::Index>(points.width));
  Rows centres = seeded(x, count);
  constexpr Eigen::Index kBlock = 512;
  const std::size_t blocks = (n + kBlock - 1) / kBlock;
  std::vector<std::uint32_t> nearest(n);
  const auto each_block = [&](const auto& f) {
    parallel_blocks(blocks, threads, [&](std::size_t b, unsigned) {
      const Eigen::Index first = static_cast<Eigen::Index>(b) * kBlock;
      const Eigen::Index rows = std::min(kBlock, static_cast<Eigen::Index>(n) - first);
      f(first, relative(x, centres, first, rows));
    });
  };
  for (std::size_t s = 0; s < steps; ++s) {
    each_block([&](Eigen::Index first, const Rows& d) {
      for (Eigen::Index i = 0; i < d.rows(); ++i) {
        Eigen::Index best = 0;
        d.row(i).minCoeff(&best);
        nearest[static_cast<std::size_t>(first + i)] = static_cast<std::uint32_t>(best);
      }
    });
    Rows sums = Rows::Zero(centres.rows(), centres.cols());
    std::vector<float> sizes(count, 0);
    for (std::size_t i = 0; i < n; ++i) {
      sums.row(nearest[i]) += x.row(static_cast<Eigen::Index>(i));
      ++sizes[nearest[i]];
    }
    for (std::size_t c = 0; c < count; ++c)
      if (sizes[c] > 0)
        centres.row(static_cast<Eigen::Index>(c)) =
            sums.row(static_cast<Eigen::Index>(c)) / sizes[c];
  }
  // The nearest record of each centre that is still free.
  Rows all(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(count));
  const Eigen::VectorXf squares = x.rowwise().squaredNorm();
  each_block([&](Eigen::Index first, const Rows& d) {
    all.middleRows(first, d.rows()) = d.colwise() + squares.segment(first, d.rows());
  });
  std::vector<bool> taken(n, false);
  for (std::size_t c = 0; c < count; ++c) {
    std::size_t best = n;
    for (std::size_t i = 0; i < n; ++i) {
      const auto at = static_cast<Eigen::Index>(c);
      if (!taken[i] && (best == n || all(static_cast<Eigen::Index>(i), at) <
                                         all(static_cast<Eigen::Index>(best), at)))
        best = i;
    }
    taken[best] = true;
    chosen.push_back(best);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace sotto::features
