#include "sotto/audit/reconstruction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "sotto/core/error.hpp"

namespace sotto::audit {
namespace {

constexpr std::size_t kMostCells = std::size_t{1} << 26;
constexpr int kGradientSteps = 150, kPrimalDualSteps = 600, kPowerSteps = 30;

// Rows and answers relative to their means.
class Centred {
 public:
  Centred(const Subsets& subsets, const std::vector<double>& answers)
      : rows_(subsets.count), columns_(subsets.records), cells_(rows_ * columns_) {
    std::vector<float> mean(columns_);
    for (std::size_t q = 0; q < rows_; ++q)
      for (std::size_t i = 0; i < columns_; ++i) mean[i] += subsets.has(q, i) ? 1.0F : 0.0F;
    for (float& m : mean) m /= static_cast<float>(rows_);
    for (std::size_t q = 0; q < rows_; ++q)
      for (std::size_t i = 0; i < columns_; ++i)
        cells_[q * columns_ + i] = (subsets.has(q, i) ? 1.0F : 0.0F) - mean[i];
    const double middle =
        std::accumulate(answers.begin(), answers.end(), 0.0) / static_cast<double>(rows_);
    for (const double b : answers) answers_.push_back(b - middle);
  }
  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  const std::vector<double>& answers() const { return answers_; }

  std::vector<double> times(const std::vector<double>& x) const {
    const std::vector<float> single(x.begin(), x.end());
    std::vector<double> out(rows_);
    for (std::size_t q = 0; q < rows_; ++q) {
      const float* row = &cells_[q * columns_];
      // Eight sums side by side, so that the compiler may use wide registers.
      float sums[8] = {};
      std::size_t i = 0;
      for (; i + 8 <= columns_; i += 8)
        for (std::size_t k = 0; k < 8; ++k) sums[k] += row[i + k] * single[i + k];
      double sum = 0;
      for (const float s : sums) sum += s;
      for (; i < columns_; ++i) sum += row[i] * single[i];
      out[q] = sum;
    }
    return out;
  }
  std::vector<double> transposed_times(const std::vector<double>& y) const {
    std::vector<float> sums(columns_);
    for (std::size_t q = 0; q < rows_; ++q) {
      const float* row = &cells_[q * columns_];
      const auto factor = static_cast<float>(y[q]);
      for (std::size_t i = 0; i < columns_; ++i) sums[i] += factor * row[i];
    }
    return {sums.begin(), sums.end()};
  }
  // A little more than the largest singular value.
  double norm() const {
    std::mt19937_64 engine(1);
    std::normal_distribution<> normal;
    std::vector<double> v(columns_);
    for (double& x : v) x = normal(engine);
    double size = 1;
    for (int step = 0; step < kPowerSteps; ++step) {
      v = transposed_times(times(v));
      size = std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
      if (!(size > 0)) return 1;
      for (double& x : v) x /= size;
    }
    return 1.05 * std::sqrt(size);
  }

 private:
  std::size_t rows_, columns_;
  std::vector<float> cells_;
  std::vector<double> answers_;
};

std::vector<double> least_squares(const Centred& a) {
  const double rate = 1 / (a.norm() * a.norm());
  std::vector<double> x(a.columns(), 0.5), ahead = x;
  double momentum = 1;
  for (int step = 0; step < kGradientSteps; ++step) {
    std::vector<double> residual = a.times(ahead);
    for (std::size_t q = 0; q < residual.size(); ++q) residual[q] -= a.answers()[q];
    const std::vector<double> gradient = a.transposed_times(residual);
    const double next = (1 + std::sqrt(1 + 4 * momentum * momentum)) / 2,
                 share = (momentum - 1) / next;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double moved = std::clamp(ahead[i] - rate * gradient[i], 0.0, 1.0);
      ahead[i] = moved + share * (moved - x[i]);
      x[i] = moved;
    }
    momentum = next;
  }
  return x;
}

std::vector<double> least_absolute(const Centred& a) {
  // A step of the bits is worth one of the answers' weights where their sizes are alike.
  const double norm = a.norm(),
               balance =
                   std::sqrt(static_cast<double>(a.rows()) / static_cast<double>(a.columns())),
               primal = 0.95 / norm / balance, dual = 0.95 / norm * balance;
  std::vector<double> x(a.columns(), 0.5), ahead = x, y(a.rows());
  for (int step = 0; step < kPrimalDualSteps; ++step) {
    const std::vector<double> fit = a.times(ahead);
    for (std::size_t q = 0; q < y.size(); ++q)
      y[q] = std::clamp(y[q] + dual * (fit[q] - a.answers()[q]), -1.0, 1.0);
    const std::vector<double> gradient = a.transposed_times(y);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double moved = std::clamp(x[i] - primal * gradient[i], 0.0, 1.0);
      ahead[i] = 2 * moved - x[i];
      x[i] = moved;
    }
  }
  return x;
}

}  // namespace

Subsets random_subsets(std::size_t records, std::size_t count, std::uint64_t seed) {
  if (records == 0 || count == 0 || records > kMostCells / count)
    throw InvalidArgument(fmt::format("{} counts over {} records", count, records),
                          "at least one of each, and at most 2^26 for their product: try fewer "
                          "counts, or a part of the records");
  std::mt19937_64 engine(seed);
  Subsets subsets{records, count, std::vector<std::uint8_t>(records * count)};
  for (std::uint8_t& cell : subsets.contains) cell = engine() >> 63 != 0 ? 1 : 0;
  return subsets;
}

std::vector<double> exact_counts(const Subsets& subsets, const std::vector<bool>& secrets) {
  std::vector<double> counts(subsets.count);
  for (std::size_t q = 0; q < subsets.count; ++q)
    for (std::size_t i = 0; i < subsets.records; ++i)
      counts[q] += subsets.has(q, i) && secrets[i] ? 1 : 0;
  return counts;
}

std::string_view name(Solver solver) {
  return solver == Solver::least_squares ? "least_squares" : "linear_programming";
}

Solver parse_solver(std::string_view text) {
  for (const Solver s : {Solver::least_squares, Solver::linear_programming})
    if (text == name(s)) return s;
  throw InvalidArgument(fmt::format("there is no solver '{}'", text),
                        "least_squares or linear_programming");
}

std::vector<double> reconstruct(const Subsets& subsets, const std::vector<double>& answers,
                                Solver solver) {
  if (answers.size() != subsets.count)
    throw InvalidArgument(fmt::format("{} answers to {} counts", answers.size(), subsets.count));
  const Centred a(subsets, answers);
  return solver == Solver::least_squares ? least_squares(a) : least_absolute(a);
}

}  // namespace sotto::audit
