// Detail: Σ y yᵀ over points of a ball, as exact integers.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <span>
#include <vector>

#include "sotto/models/rows/detail/ball_rows.hpp"

namespace sotto {

inline constexpr double kScatterStep = 0x1p-32;
// Weights of the noised triangle, in steps of 2^−39: 1 on the diagonal, 181/128 off it.
inline constexpr double kTriangleStep = 0x1p-39;
inline constexpr std::int64_t kDiagonal = 128, kOffDiagonal = 181;

// Upper triangle, row by row, in steps of 2^−32, of records about a centre within a radius.
std::vector<int128> scatter_of(const EncodedRows& rows, std::span<const double> centre,
                               double radius);

// A triangle in natural units as a symmetric matrix; `off` divides what is off the diagonal.
Eigen::MatrixXd symmetric(std::span<const int128> triangle, std::size_t width, double diagonal_step,
                          double off_step);

}  // namespace sotto
