// Detail: what k-means and principal components release about points of a ball, planned once.
//
// A record adds (15/16·y, c) to one of g groups, ‖y‖ ≤ 1 and c² ≤ 1 − (15/16)²: ℓ2 ≤ 1 exactly, in
// steps of 2^−20 (a step of y is 16 of them, 15 of which are taken). ℓ1 ≤ 15/16·s + c for ‖y‖₁ ≤ s.
// replace_one: twice as far; k contributions: k times.
// A histogram of distances from a centre has one count a record: ℓ1 1 or 2, ℓ2 1 or √2.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sotto/learning/facts.hpp"
#include "sotto/mechanisms/lattice_noise.hpp"
#include "sotto/models/rows/detail/ball_rows.hpp"

namespace sotto {

// Sums of points and their number, as they are or noised.
struct PointSums {
  std::vector<double> point;  // Σ y
  double count = 0;
};

class PointSumsPlan {
 public:
  // l1: the largest ‖y‖₁ of a point.
  PointSumsPlan(const Facts& facts, const Budget& budget, std::size_t groups, std::size_t width,
                double l1);

  Event event() const { return noise_.event(); }
  const LatticeNoise& noise() const { return noise_; }
  // Standard deviations of a released Σ y (of a coordinate) and of a released count.
  double point_deviation() const;
  double count_deviation() const;

  // sums: groups × width of whole steps (kBallSteps to 1), counts: of each group.
  std::vector<PointSums> release(std::span<const int128> sums, std::span<const int128> counts,
                                 Rng& rng) const;
  // The same without noise: NOT PRIVATE.
  std::vector<PointSums> exact(std::span<const int128> sums, std::span<const int128> counts) const;

 private:
  std::vector<int128> query(std::span<const int128> sums, std::span<const int128> counts) const;
  std::vector<PointSums> read(const std::vector<int128>& answer) const;

  std::size_t groups_, width_;
  LatticeNoise noise_;
};

// The distance within which a share of the records lies, from a noisy histogram over binary
// magnitudes: eight bins for each factor of two, 64 in all, up to the largest distance possible.
class RadiusPlan {
 public:
  RadiusPlan(const Facts& facts, const Budget& budget);
  Event event() const { return noise_.event(); }
  // noised: false is NOT PRIVATE. Nothing but noise: the largest.
  double run(const EncodedRows& rows, std::span<const double> centre, double largest, double share,
             bool noised, Rng& rng) const;

 private:
  LatticeNoise noise_;
};

// Where records lie: their mean, clipped to the norm bound of the encoder, and how many there are.
struct Location {
  std::vector<double> mean;
  double count = 1;
};
PointSumsPlan location_plan(const Facts& facts, const Budget& budget);
Location locate(const PointSumsPlan& plan, const EncodedRows& rows, double norm_bound, bool noised,
                Rng& rng);

}  // namespace sotto
