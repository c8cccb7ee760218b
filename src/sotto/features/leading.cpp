#include "sotto/features/detail/leading.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>

namespace sotto::features {
namespace {

constexpr std::size_t kSketchRounds = 4, kSketchExtra = 32;

}  // namespace

Eigen::MatrixXd leading(const Eigen::MatrixXf& symmetric, std::size_t count) {
  const Eigen::Index n = symmetric.rows();
  const auto wanted = static_cast<Eigen::Index>(count);
  if (n <= 600 || 2 * wanted >= n) {
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(symmetric.cast<double>());
    return solver.eigenvectors().rowwise().reverse().leftCols(wanted);
  }
  const Eigen::Index width = std::min<Eigen::Index>(n, wanted + kSketchExtra);
  Eigen::MatrixXf q(n, width);
  std::uint64_t state = 1;
  for (Eigen::Index j = 0; j < width; ++j)
    for (Eigen::Index i = 0; i < n; ++i) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      q(i, j) = static_cast<float>(static_cast<double>(state >> 11) * 0x1p-52 - 1);
    }
  for (std::size_t r = 0; r < kSketchRounds; ++r) {
    const Eigen::MatrixXf moved = symmetric * q;
    const Eigen::HouseholderQR<Eigen::MatrixXf> qr(moved);
    q = qr.householderQ() * Eigen::MatrixXf::Identity(n, width);
  }
  const Eigen::MatrixXf small = q.transpose() * (symmetric * q);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(small.cast<double>());
  return (q.cast<double>() * solver.eigenvectors()).rowwise().reverse().leftCols(wanted);
}

}  // namespace sotto::features
