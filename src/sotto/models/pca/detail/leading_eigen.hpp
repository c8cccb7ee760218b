// Detail: the largest eigenvalues of a symmetric matrix and their eigenvectors.
//
// What       The first few, largest first; vectors orthonormal, of arbitrary sign.
// Guarantee  None: post-processing of a released matrix. It always answers.
// Method     Householder's tridiagonal form, all its eigenvalues by QR steps, and the vectors asked
//            for by inverse iteration, each kept orthogonal to those before. That is a fraction of
//            the work for all vectors. What inverse iteration leaves with a residual above
//            2^−40·‖A‖ is computed by the whole solver instead, and so are small matrices.
// Numerics   As the whole solver: errors of a small multiple of 2^−53·‖A‖.
#pragma once

#include <Eigen/Core>

namespace sotto {

struct LeadingEigen {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;  // column by column
};

LeadingEigen leading_eigen(const Eigen::MatrixXd& symmetric, Eigen::Index count);

}  // namespace sotto
