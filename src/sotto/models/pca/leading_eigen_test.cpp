#include "sotto/models/pca/detail/leading_eigen.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <random>

namespace sotto::leading_eigen_test {

Eigen::MatrixXd random_symmetric(Eigen::Index n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Eigen::MatrixXd a(n, n);
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = i; j < n; ++j) a(i, j) = a(j, i) = normal(random);
  return a;
}

// Values of the whole solver, orthonormal vectors, and every one an eigenvector.
void expect_leading(const Eigen::MatrixXd& a, Eigen::Index count) {
  const LeadingEigen found = leading_eigen(a, count);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> whole(a, Eigen::EigenvaluesOnly);
  const double norm = std::max(a.norm(), 1e-300);
  ASSERT_EQ(found.values.size(), count);
  ASSERT_EQ(found.vectors.cols(), count);
  EXPECT_LE((found.values - whole.eigenvalues().reverse().head(count)).cwiseAbs().maxCoeff(),
            1e-12 * norm);
  EXPECT_LE((found.vectors.transpose() * found.vectors - Eigen::MatrixXd::Identity(count, count))
                .cwiseAbs()
                .maxCoeff(),
            1e-12);
  EXPECT_LE((a * found.vectors - found.vectors * found.values.asDiagonal()).norm(), 1e-11 * norm);
}

TEST(LeadingEigen, IsWhatTheWholeSolverFinds) {
  for (const Eigen::Index n : {1, 2, 48, 49, 90})
    for (const Eigen::Index count : {Eigen::Index{1}, std::min<Eigen::Index>(10, n), n})
      expect_leading(random_symmetric(n, static_cast<std::uint64_t>(n)), count);
}

TEST(LeadingEigen, ManyEqualValuesAndMatricesThatFallApart) {
  constexpr Eigen::Index n = 100;
  const Eigen::MatrixXd zero = Eigen::MatrixXd::Zero(n, n), one = Eigen::MatrixXd::Identity(n, n);
  const Eigen::VectorXd v = random_symmetric(n, 3).col(0);
  expect_leading(zero, 10);
  expect_leading(one, 10);
  expect_leading(-one, 10);
  expect_leading(v * v.transpose(), 10);
  expect_leading(Eigen::MatrixXd::Ones(n, n), 5);
  Eigen::MatrixXd diagonal = zero;
  for (Eigen::Index i = 0; i < n; ++i)
    diagonal(i, i) = i % 7 == 0 ? 5.0 : static_cast<double>(1 + i % 3);
  expect_leading(diagonal, 20);
  // The same values turned about: 15 of 5, then 1 of many.
  const Eigen::MatrixXd q =
      Eigen::HouseholderQR<Eigen::MatrixXd>(random_symmetric(n, 4)).householderQ();
  const Eigen::MatrixXd turned = q * diagonal * q.transpose();
  expect_leading((turned + turned.transpose()) / 2, 20);
  Eigen::MatrixXd blocks = zero;  // each value twice
  blocks.topLeftCorner(50, 50) = blocks.bottomRightCorner(50, 50) = random_symmetric(50, 5);
  expect_leading(blocks, 12);
}

// Wilkinson's matrix: pairs of eigenvalues that agree in all digits.
TEST(LeadingEigen, PairsThatCannotBeToldApart) {
  constexpr Eigen::Index n = 101;
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    a(i, i) = std::abs(static_cast<double>(i - n / 2));
    if (i + 1 < n) a(i, i + 1) = a(i + 1, i) = 1;
  }
  expect_leading(a, 10);
  expect_leading(a * 1e12, 10);
  expect_leading(a * 1e-12, 10);
}

}  // namespace sotto::leading_eigen_test
