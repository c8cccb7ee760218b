#include "sotto/local/server/sparse_regression.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/core/numeric/mills.hpp"

namespace sotto::local {
namespace {

constexpr int kMostRounds = 20'000;
constexpr double kStill = 1e-12;

// min ½‖W(y − Xβ)‖² + Σ penalty_s β_s over β ≥ 0, by descent along one coordinate after the other.
class Descent {
 public:
  explicit Descent(const SparseDesign& design) : design_(design) {
    for (const double v : design.variance) weight_.push_back(1 / v);
    residual_ = design.observed;
    for (const auto& column : design.columns) {
      double sum = 0;
      for (const std::uint32_t row : column) sum += weight_[row];
      square_.push_back(sum);
    }
    beta_.assign(design.columns.size(), 0.0);
  }

  void run(const std::vector<std::size_t>& allowed, double penalty_deviations) {
    for (int round = 0; round < kMostRounds; ++round) {
      double moved = 0, largest = 0;
      for (const std::size_t s : allowed) {
        if (square_[s] <= 0) continue;
        double slope = 0;
        for (const std::uint32_t row : design_.columns[s]) slope += weight_[row] * residual_[row];
        const double penalty = penalty_deviations * std::sqrt(square_[s]);
        const double next = std::max(0.0, beta_[s] + (slope - penalty) / square_[s]);
        const double step = next - beta_[s];
        if (step != 0)
          for (const std::uint32_t row : design_.columns[s]) residual_[row] -= step;
        beta_[s] = next;
        moved = std::max(moved, std::abs(step)), largest = std::max(largest, next);
      }
      if (moved <= kStill * largest) break;
    }
  }
  std::vector<std::size_t> positive() const {
    std::vector<std::size_t> result;
    for (std::size_t s = 0; s < beta_.size(); ++s)
      if (beta_[s] > 0) result.push_back(s);
    return result;
  }
  const std::vector<double>& beta() const { return beta_; }
  const std::vector<double>& weight() const { return weight_; }

 private:
  const SparseDesign& design_;
  std::vector<double> weight_, residual_, square_, beta_;
};

// The inverse of a symmetric matrix, by Cholesky; nothing where it has none.
std::vector<double> inverse(std::vector<double> a, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) {
    double d = a[j * n + j];
    const double whole = d;
    for (std::size_t k = 0; k < j; ++k) d -= a[j * n + k] * a[j * n + k];
    if (!(d > 1e-9 * whole)) return {};
    a[j * n + j] = std::sqrt(d);
    for (std::size_t i = j + 1; i < n; ++i) {
      double s = a[i * n + j];
      for (std::size_t k = 0; k < j; ++k) s -= a[i * n + k] * a[j * n + k];
      a[i * n + j] = s / a[j * n + j];
    }
  }
  // Column c of the inverse: forward, then backward substitution.
  std::vector<double> result(n * n, 0.0);
  for (std::size_t c = 0; c < n; ++c) {
    double* x = result.data() + c * n;
    for (std::size_t i = c; i < n; ++i) {
      double s = i == c ? 1 : 0;
      for (std::size_t k = c; k < i; ++k) s -= a[i * n + k] * x[k];
      x[i] = s / a[i * n + i];
    }
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t k = i + 1; k < n; ++k) x[i] -= a[k * n + i] * x[k];
      x[i] /= a[i * n + i];
    }
  }
  return result;
}

std::vector<double> gram(const SparseDesign& design, const std::vector<std::size_t>& chosen,
                         const std::vector<double>& weight) {
  const std::size_t n = chosen.size();
  std::vector<std::vector<std::uint32_t>> in_row(design.observed.size());
  for (std::size_t i = 0; i < n; ++i)
    for (const std::uint32_t row : design.columns[chosen[i]])
      in_row[row].push_back(static_cast<std::uint32_t>(i));
  std::vector<double> result(n * n, 0.0);
  for (std::size_t row = 0; row < in_row.size(); ++row)
    for (const std::uint32_t i : in_row[row])
      for (const std::uint32_t j : in_row[row]) result[i * n + j] += weight[row];
  return result;
}

// The variances of the chosen coefficients. β̂ = L y with L = (XᵀWX)⁻¹XᵀW, and y = Xβ of the
// clients of each group + noise.
class Scatter {
 public:
  Scatter(const SparseDesign& design, const std::vector<std::size_t>& chosen,
          const Descent& descent)
      : design_(design), chosen_(chosen), weight_(descent.weight()) {
    inverse_ = inverse(gram(design, chosen, weight_), chosen.size());
    for (const std::size_t s : chosen) share_.push_back(std::min(1.0, descent.beta()[s]));
  }

  std::vector<double> variances() const {
    const std::size_t n = chosen_.size();
    std::vector<double> result(n, std::numeric_limits<double>::infinity());
    if (inverse_.empty()) return result;
    for (std::size_t i = 0; i < n; ++i) {
      if (design_.groups.empty()) {
        result[i] = inverse_[i * n + i];
      } else {
        result[i] = of_groups(i);
      }
    }
    return result;
  }

 private:
  // Of coefficient i: the noise of its row of L, and which clients are in which group. With v_j =
  // (L X)_j of group j, whose sum over groups is the unit vector e_i, and K = diag β − ββᵀ, the
  // latter is Σ v_jᵀ K v_j / n_j − e_iᵀ K e_i / n: groups are drawn without putting back.
  double of_groups(std::size_t i) const {
    const std::size_t n = chosen_.size();
    std::vector<double> own(design_.observed.size(), 0.0);  // the row of L
    for (std::size_t s = 0; s < n; ++s)
      for (const std::uint32_t row : design_.columns[chosen_[s]])
        own[row] += inverse_[i * n + s] * weight_[row];
    double variance = 0;
    for (std::size_t row = 0; row < own.size(); ++row)
      variance += own[row] * own[row] * design_.noise[row];
    // Σ_s β_s v_s² and Σ_s β_s v_s, for each group.
    std::vector<double> squares(design_.group_sizes.size(), 0.0), sums = squares, part = squares;
    for (std::size_t s = 0; s < n; ++s) {
      const auto& rows = design_.columns[chosen_[s]];
      for (const std::uint32_t row : rows) part[design_.groups[row]] += own[row];
      for (const std::uint32_t row : rows) {
        double& v = part[design_.groups[row]];
        squares[design_.groups[row]] += share_[s] * v * v;
        sums[design_.groups[row]] += share_[s] * v;
        v = 0;
      }
    }
    double all = 0, drawn = 0;
    for (std::size_t j = 0; j < squares.size(); ++j) {
      all += design_.group_sizes[j];
      drawn += std::max(0.0, squares[j] - sums[j] * sums[j]) / design_.group_sizes[j];
    }
    return variance + std::max(0.0, drawn - share_[i] * (1 - share_[i]) / all);
  }

  const SparseDesign& design_;
  const std::vector<std::size_t>& chosen_;
  const std::vector<double>& weight_;
  std::vector<double> inverse_, share_;
};

}  // namespace

std::vector<Explained> explain(const SparseDesign& design, double alpha) {
  std::vector<std::size_t> all(design.columns.size());
  for (std::size_t s = 0; s < all.size(); ++s) all[s] = s;
  Descent descent(design);
  descent.run(all, 1);
  std::vector<std::size_t> chosen = descent.positive();
  descent.run(chosen, 0);
  chosen = descent.positive();
  const std::vector<double> variance = Scatter(design, chosen, descent).variances();
  std::vector<Explained> result(design.columns.size());
  const double level = alpha / static_cast<double>(std::max<std::size_t>(1, result.size()));
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    Explained& e = result[chosen[i]];
    e.coefficient = descent.beta()[chosen[i]];
    e.standard_error = std::sqrt(variance[i]);
    e.p_value = normal_sf(e.coefficient / e.standard_error);
    e.significant = e.p_value < level;
  }
  return result;
}

}  // namespace sotto::local
