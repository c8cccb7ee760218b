#include "sotto/models/kmeans/detail/lloyd.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "sotto/core/parallel.hpp"
#include "sotto/models/rows/detail/ball_kernels.hpp"
#include "sotto/noise/uniform.hpp"

namespace sotto {
namespace {

constexpr std::size_t kLanes = 8, kPackingTries = 100;
constexpr int kMostSteps = 50;

// Centres as the inner loop wants them: coordinate by coordinate, padded.
struct Arranged {
  std::size_t padded;
  std::vector<float> centres, offsets;

  explicit Arranged(const Matrix& m) : padded((m.rows + kLanes - 1) / kLanes * kLanes) {
    centres.resize(m.columns * padded);
    offsets.assign(padded, std::numeric_limits<float>::infinity());
    for (std::size_t c = 0; c < m.rows; ++c) {
      double square = 0;
      for (std::size_t j = 0; j < m.columns; ++j) {
        const auto x = static_cast<float>(m.row(c)[j]);
        centres[j * padded + c] = x;
        square += static_cast<double>(x) * static_cast<double>(x);
      }
      offsets[c] = static_cast<float>(square / 2 * kBallSteps);
    }
  }
  void nearest(const float* rows, std::size_t count, std::size_t width, std::uint32_t* out) const {
    detail::nearest_centres(rows, count, width, centres.data(), offsets.data(), padded, out);
  }
};

// Post-processing only: nothing private is drawn with it.
double uniform(Rng& rng) { return static_cast<double>(rng.next_u64() >> 11) * 0x1p-53; }
double normal(Rng& rng) {
  const double radius = std::sqrt(-2 * std::log(1 - uniform(rng)));
  return radius * std::cos(2 * std::numbers::pi * uniform(rng));
}

double distance_square(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
  return sum;
}

std::size_t drawn(std::span<const double> weights, Rng& rng) {
  double total = 0;
  for (const double w : weights) total += w;
  double at = uniform(rng) * total;
  for (std::size_t i = 0; i < weights.size(); ++i)
    if ((at -= weights[i]) < 0) return i;
  return weights.size() - 1;
}

Matrix spread_start(const Matrix& points, std::span<const double> weights, std::size_t count,
                    Rng& rng) {
  Matrix centres(count, points.columns);
  std::vector<double> chance(weights.begin(), weights.end()),
      nearest(points.rows, std::numeric_limits<double>::infinity());
  for (std::size_t c = 0; c < count; ++c) {
    const std::size_t chosen = drawn(chance, rng);
    std::copy_n(points.row(chosen).begin(), points.columns, centres.row(c).begin());
    for (std::size_t i = 0; i < points.rows; ++i) {
      nearest[i] = std::min(nearest[i], distance_square(points.row(i), centres.row(c)));
      chance[i] = nearest[i] * weights[i];
    }
  }
  return centres;
}

// Moves centres until they stay; returns the weighted squared distances.
double settle(const Matrix& points, std::span<const double> weights, Matrix& centres) {
  std::vector<std::size_t> of(points.rows, centres.rows);
  double cost = 0;
  for (int step = 0; step < kMostSteps; ++step) {
    bool moved = false;
    cost = 0;
    for (std::size_t i = 0; i < points.rows; ++i) {
      double best = std::numeric_limits<double>::infinity();
      std::size_t at = 0;
      for (std::size_t c = 0; c < centres.rows; ++c) {
        const double d = distance_square(points.row(i), centres.row(c));
        if (d < best) best = d, at = c;
      }
      moved = moved || of[i] != at;
      of[i] = at;
      cost += best * weights[i];
    }
    if (!moved) break;
    Matrix sums(centres.rows, centres.columns);
    std::vector<double> total(centres.rows);
    for (std::size_t i = 0; i < points.rows; ++i) {
      total[of[i]] += weights[i];
      for (std::size_t j = 0; j < points.columns; ++j)
        sums.row(of[i])[j] += weights[i] * points.row(i)[j];
    }
    for (std::size_t c = 0; c < centres.rows; ++c)
      for (std::size_t j = 0; j < centres.columns && total[c] > 0; ++j)
        centres.row(c)[j] = sums.row(c)[j] / total[c];
  }
  return cost;
}

}  // namespace

ClusterSums cluster_sums(const BallRows& rows, const Matrix& centres) {
  const std::size_t d = rows.width(), k = centres.rows;
  const Arranged arranged(centres);
  const unsigned workers = thread_count(0);
  std::vector<ClusterSums> partial(workers);
  const std::size_t blocks = (rows.size() + kBallBlock - 1) / kBallBlock;
  parallel_blocks(blocks, workers, [&](std::size_t b, unsigned thread) {
    ClusterSums& mine = partial[thread];
    mine.points.resize(k * d);
    mine.counts.resize(k);
    const std::size_t first = b * kBallBlock, count = std::min(kBallBlock, rows.size() - first);
    std::vector<std::uint32_t> nearest(count);
    std::vector<double> sums(k * d);  // exact: 2^12 rows of at most 2^16
    arranged.nearest(rows.row(first), count, d, nearest.data());
    detail::add_to_nearest(rows.row(first), count, d, nearest.data(), sums.data());
    for (const std::uint32_t c : nearest) mine.counts[c] += 1;
    for (std::size_t i = 0; i < sums.size(); ++i)
      mine.points[i] += static_cast<std::int64_t>(sums[i]);
    rows.done(first, count);
  });
  ClusterSums total{std::vector<int128>(k * d), std::vector<int128>(k)};
  for (const ClusterSums& part : partial) {
    for (std::size_t i = 0; i < part.points.size(); ++i) total.points[i] += part.points[i];
    for (std::size_t c = 0; c < part.counts.size(); ++c) total.counts[c] += part.counts[c];
  }
  return total;
}

ClusterSums cluster_sums(const BallRows& rows, std::span<const std::uint32_t> which,
                         const Matrix& centres) {
  const std::size_t d = rows.width(), k = centres.rows;
  const Arranged arranged(centres);
  ClusterSums total{std::vector<int128>(k * d), std::vector<int128>(k)};
  for (const std::uint32_t i : which) {
    std::uint32_t c = 0;
    arranged.nearest(rows.row(i), 1, d, &c);
    total.counts[c] += 1;
    for (std::size_t j = 0; j < d; ++j)
      total.points[c * d + j] += static_cast<std::int64_t>(rows.row(i)[j]);
  }
  return total;
}

std::vector<double> random_direction(std::size_t width, Rng& rng) {
  std::vector<double> v(width);
  double square = 0;
  while (!(square > 0)) {
    square = 0;
    for (double& x : v) {
      x = normal(rng);
      square += x * x;
    }
  }
  for (double& x : v) x /= std::sqrt(square);
  return v;
}

Matrix packed_centres(std::size_t count, std::size_t width, double distance, Rng& rng) {
  Matrix best;
  double widest = -1;
  for (std::size_t attempt = 0; attempt < kPackingTries; ++attempt) {
    Matrix m(count, width);
    double closest = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < count; ++c) {
      const std::vector<double> v = random_direction(width, rng);
      // On a line there are two directions: others lie further in.
      const double reach = width == 1 ? distance * 2 * uniform(rng) : distance;
      for (std::size_t j = 0; j < width; ++j) m.row(c)[j] = reach * v[j];
      for (std::size_t other = 0; other < c; ++other)
        closest = std::min(closest, distance_square(m.row(c), m.row(other)));
    }
    if (closest > widest) widest = closest, best = std::move(m);
  }
  return best;
}

Matrix weighted_clusters(const Matrix& points, std::span<const double> weights, std::size_t count,
                         std::size_t restarts, Rng& rng) {
  Matrix best;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t r = 0; r < restarts; ++r) {
    Matrix centres = spread_start(points, weights, count, rng);
    const double cost = settle(points, weights, centres);
    if (best.rows == 0 || cost < least) least = cost, best = std::move(centres);
  }
  return best;
}

}  // namespace sotto
