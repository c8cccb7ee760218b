#include "sotto/models/pca/detail/leading_eigen.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace sotto {
namespace {

constexpr Eigen::Index kSmall = 48;  // up to here all vectors are as cheap
constexpr int kInverseSteps = 4;
constexpr double kResidual = 0x1p-40;  // of the norm
constexpr double kTiny = 0x1p-52;      // of the norm: what stands for a pivot of zero

LeadingEigen by_the_whole_solver(const Eigen::MatrixXd& symmetric, Eigen::Index count) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(symmetric);
  return {solver.eigenvalues().reverse().head(count),
          solver.eigenvectors().rowwise().reverse().leftCols(count)};
}

struct Tridiagonal {
  Eigen::VectorXd diagonal, beside;

  double norm() const {  // the largest sum of a row: at least every eigenvalue
    double largest = 0;
    for (Eigen::Index i = 0; i < diagonal.size(); ++i)
      largest = std::max(largest, std::fabs(diagonal[i]) + before(i) + after(i));
    return largest;
  }
  Eigen::VectorXd times(const Eigen::VectorXd& v) const {
    Eigen::VectorXd result = diagonal.cwiseProduct(v);
    const Eigen::Index last = diagonal.size() - 1;
    result.head(last) += beside.cwiseProduct(v.tail(last));
    result.tail(last) += beside.cwiseProduct(v.head(last));
    return result;
  }

 private:
  double before(Eigen::Index i) const { return i > 0 ? std::fabs(beside[i - 1]) : 0; }
  double after(Eigen::Index i) const { return i < beside.size() ? std::fabs(beside[i]) : 0; }
};

// T − shift·I as a product, with exchanges of neighbouring rows: up to two numbers beside each
// pivot.
class Factors {
 public:
  Factors(const Tridiagonal& t, double shift, double tiny) : rows_(t.diagonal.size()) {
    const Eigen::Index n = t.diagonal.size();
    double here = t.diagonal[0] - shift, right = n > 1 ? t.beside[0] : 0;
    for (Eigen::Index i = 0; i < n; ++i) {
      Row& row = rows_[static_cast<std::size_t>(i)];
      const bool last = i + 1 == n;
      const double below = last ? 0 : t.beside[i];
      const double below_next = last ? 0 : t.diagonal[i + 1] - shift;
      const double below_right = i + 2 < n ? t.beside[i + 1] : 0;
      row.exchanged = std::fabs(below) > std::fabs(here);
      if (row.exchanged) {
        row.pivot = below, row.next = below_next, row.second = below_right;
        row.factor = here / below;
        here = right - row.factor * below_next;
        right = -row.factor * below_right;
      } else {
        row.pivot = std::fabs(here) > tiny ? here : tiny;
        row.next = right;
        row.factor = below / row.pivot;
        here = below_next - row.factor * right;
        right = below_right;
      }
    }
  }

  void solve(Eigen::VectorXd& v) const {
    const Eigen::Index n = v.size();
    for (Eigen::Index i = 0; i + 1 < n; ++i) {
      const Row& row = rows_[static_cast<std::size_t>(i)];
      if (row.exchanged) std::swap(v[i], v[i + 1]);
      v[i + 1] -= row.factor * v[i];
    }
    for (Eigen::Index i = n - 1; i >= 0; --i) {
      const Row& row = rows_[static_cast<std::size_t>(i)];
      if (i + 1 < n) v[i] -= row.next * v[i + 1];
      if (i + 2 < n) v[i] -= row.second * v[i + 2];
      v[i] /= row.pivot;
    }
  }

 private:
  struct Row {
    double pivot = 0, next = 0, second = 0, factor = 0;
    bool exchanged = false;
  };
  std::vector<Row> rows_;
};

// Numbers between −1 and 1 that are nobody's eigenvector.
void scatter(Eigen::VectorXd& v, std::uint64_t& state) {
  for (double& x : v) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    x = static_cast<double>(state >> 11) * 0x1p-52 - 1;
  }
}

bool make_unit(Eigen::VectorXd& v, const Eigen::Ref<const Eigen::MatrixXd>& earlier) {
  for (int twice = 0; twice < 2; ++twice) {
    const double length = v.norm();
    if (!(length > 0 && std::isfinite(length))) return false;
    v /= length;
    v -= earlier * (earlier.transpose() * v);
  }
  const double length = v.norm();
  if (!(length > 0.5)) return false;  // little was left of it: not orthogonal enough
  v /= length;
  return true;
}

std::optional<Eigen::MatrixXd> inverse_iteration(const Tridiagonal& t,
                                                 const Eigen::VectorXd& values) {
  const Eigen::Index n = t.diagonal.size();
  const double norm = t.norm();
  Eigen::MatrixXd vectors(n, values.size());
  std::uint64_t state = 1;
  for (Eigen::Index c = 0; c < values.size(); ++c) {
    const Factors factors(t, values[c], kTiny * norm);
    Eigen::VectorXd v(n);
    scatter(v, state);
    for (int step = 0; step < kInverseSteps; ++step) {
      if (!make_unit(v, vectors.leftCols(c))) return std::nullopt;
      factors.solve(v);
    }
    if (!make_unit(v, vectors.leftCols(c))) return std::nullopt;
    if (!((t.times(v) - values[c] * v).norm() <= kResidual * norm)) return std::nullopt;
    vectors.col(c) = v;
  }
  return vectors;
}

}  // namespace

LeadingEigen leading_eigen(const Eigen::MatrixXd& symmetric, Eigen::Index count) {
  const Eigen::Index n = symmetric.rows();
  if (n <= kSmall || 4 * count > n) return by_the_whole_solver(symmetric, count);
  const Eigen::Tridiagonalization<Eigen::MatrixXd> form(symmetric);
  const Tridiagonal t{form.diagonal(), form.subDiagonal()};
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
  solver.computeFromTridiagonal(t.diagonal, t.beside, Eigen::EigenvaluesOnly);
  if (solver.info() != Eigen::Success) return by_the_whole_solver(symmetric, count);
  const Eigen::VectorXd values = solver.eigenvalues().reverse().head(count);
  std::optional<Eigen::MatrixXd> vectors = inverse_iteration(t, values);
  if (!vectors) return by_the_whole_solver(symmetric, count);
  vectors->applyOnTheLeft(form.matrixQ());
  return {values, std::move(*vectors)};
}

}  // namespace sotto
