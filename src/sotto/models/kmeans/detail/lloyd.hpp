// Detail: the steps of k-means on points of the unit ball: exact sums of the records nearest to
// each centre, and what can be done with centres once they are public.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sotto/core/rng.hpp"
#include "sotto/learning/unsupervised_model.hpp"
#include "sotto/models/rows/detail/ball_rows.hpp"

namespace sotto {

// Σ y (in steps) and the number of the records nearest to each centre. Which centre is nearest to a
// record is a function of the record and the centres alone.
struct ClusterSums {
  std::vector<int128> points, counts;
};
ClusterSums cluster_sums(const BallRows& rows, const Matrix& centres);
// The same for some of the rows, on this thread.
ClusterSums cluster_sums(const BallRows& rows, std::span<const std::uint32_t> which,
                         const Matrix& centres);

// Centres that know nothing of the data: directions as far apart as the best of many tries, at this
// distance from the origin.
Matrix packed_centres(std::size_t count, std::size_t width, double distance, Rng& rng);
// A direction, uniform on the sphere.
std::vector<double> random_direction(std::size_t width, Rng& rng);

// k-means++ with restarts on weighted points: the best of them. Not for private points.
Matrix weighted_clusters(const Matrix& points, std::span<const double> weights, std::size_t count,
                         std::size_t restarts, Rng& rng);

}  // namespace sotto
