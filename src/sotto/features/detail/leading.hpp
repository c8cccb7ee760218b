// The leading eigenvectors of a large symmetric matrix.
#pragma once

#include <Eigen/Dense>
#include <cstddef>

namespace sotto::features {

// Orthonormal columns, largest eigenvalue first. Exact for small matrices; for others subspace
// iteration from a fixed start, which finds what carries most.
Eigen::MatrixXd leading(const Eigen::MatrixXf& symmetric, std::size_t count);

}  // namespace sotto::features
