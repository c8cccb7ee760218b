#include "sotto/models/kernel/detail/pair_scan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

namespace sotto {
namespace {

static_assert(PairScan::kUnit * (1 << kResidualBits) == 1);
constexpr std::size_t kMostColumns = 32, kMostSums = std::size_t{1} << 18;
constexpr double kCredible = 3, kSure = 5;  // standard deviations of noise alone

std::size_t part_of(const ColumnScale& scale, const BinnedColumns::Cell& cell) {
  const double u = std::clamp(scale.at(cell), 0.0, 1.0);
  return std::min(static_cast<std::size_t>(u * static_cast<double>(PairScan::kCuts)),
                  PairScan::kCuts - 1);
}

// Σ of squares of G_ab − q_b·G_a − p_a·G_b + p_a·q_b·G, G with one index or none being sums over
// the others: what is left when each column says something alone. Cells `stride` apart.
double squares_of_the_rest(const double* table, std::size_t stride, const PairScan::Shares& p,
                           const PairScan::Shares& q) {
  constexpr std::size_t k = PairScan::kCuts;
  PairScan::Shares first = {}, second = {};
  double all = 0, squares = 0;
  for (std::size_t a = 0; a < k; ++a) {
    for (std::size_t b = 0; b < k; ++b) {
      const double x = table[(a * k + b) * stride];
      first[a] += x;
      second[b] += x;
      all += x;
    }
  }
  for (std::size_t a = 0; a < k; ++a) {
    for (std::size_t b = 0; b < k; ++b) {
      const double x =
          table[(a * k + b) * stride] - q[b] * first[a] - p[a] * second[b] + p[a] * q[b] * all;
      squares += x * x;
    }
  }
  return squares;
}

// ‖I − p·1ᵀ‖²: what the above makes of noise along one column. kCuts − 1 for even shares.
double freedom_of(const PairScan::Shares& p) {
  double squares = 0;
  for (const double x : p) squares += x * x;
  return static_cast<double>(PairScan::kCuts) * (1 + squares) - 2;
}

// Even steps, and a bowl, on kCuts parts: of length one, orthogonal to each other and to what is
// even.
constexpr std::size_t kShapes = 2;
const std::array<PairScan::Shares, kShapes>& shapes() {
  static const std::array<PairScan::Shares, kShapes> made = [] {
    std::array<PairScan::Shares, kShapes> result = {};
    constexpr double middle = (PairScan::kCuts - 1) / 2.0;
    double mean = 0;
    for (std::size_t a = 0; a < PairScan::kCuts; ++a) {
      const double x = static_cast<double>(a) - middle;
      result[0][a] = x;
      result[1][a] = x * x;
      mean += x * x / static_cast<double>(PairScan::kCuts);
    }
    for (double& x : result[1]) x -= mean;
    for (PairScan::Shares& shape : result) {
      double squares = 0;
      for (const double x : shape) squares += x * x;
      for (double& x : shape) x /= std::sqrt(squares);
    }
    return result;
  }();
  return made;
}

// A shape less its mean over the shares: how it sees a table from which each column's own part is
// taken away.
PairScan::Shares seen_by(const PairScan::Shares& shape, const PairScan::Shares& p) {
  double mean = 0;
  for (std::size_t a = 0; a < shape.size(); ++a) mean += p[a] * shape[a];
  PairScan::Shares result = shape;
  for (double& x : result) x -= mean;
  return result;
}

// Σ over products of shapes of what a table says of them beyond noise and chance, in squares of the
// noise `unit`; only those that stand out by `least` standard deviations. With x and y as seen by
// the shares, Σ x_a·y_b·G_ab has variance |x|²·|y|² of noise, and of chance at most n times the
// mean of x²·y² over records.
double credit_of_shapes(const double* table, std::size_t stride, const PairScan::Shares& p,
                        const PairScan::Shares& q, double unit, double rows, double least) {
  constexpr std::size_t k = PairScan::kCuts;
  double credit = 0;
  for (const PairScan::Shares& first : shapes()) {
    const PairScan::Shares x = seen_by(first, p);
    for (const PairScan::Shares& second : shapes()) {
      const PairScan::Shares y = seen_by(second, q);
      double sum = 0, xx = 0, yy = 0, chance_x = 0, chance_y = 0;
      for (std::size_t a = 0; a < k; ++a) {
        xx += x[a] * x[a];
        yy += y[a] * y[a];
        chance_x += p[a] * x[a] * x[a];
        chance_y += q[a] * y[a] * y[a];
        for (std::size_t b = 0; b < k; ++b) sum += x[a] * y[b] * table[(a * k + b) * stride];
      }
      const double variance = xx * yy + rows * chance_x * chance_y / (unit * unit);
      const double square = sum * sum / (unit * unit);
      // Shapes of length one: what is seen longer is no more worth.
      if (square > least * least * variance) credit += (square - variance) / (xx * yy);
    }
  }
  return credit;
}

// What noise alone exceeds about once in four scans with so many looks: the normal tail.
double credible_among(double looks) {
  const double rare = std::log(4 * looks);
  return std::sqrt(2 * rare - std::log(4 * std::numbers::pi * rare));
}

}  // namespace

std::size_t PairScan::columns_of(std::size_t d, std::size_t outputs) {
  std::size_t columns = std::min(d, kMostColumns);
  while (columns > 1 && pairs_of(columns) * kCells * outputs > kMostSums) --columns;
  return columns;
}

PairScan::PairScan(const std::vector<ColumnScale>& scales, const std::vector<double>& uses,
                   std::size_t wanted, std::size_t outputs)
    : scales_(scales), columns_(scales.size()), outputs_(outputs) {
  std::iota(columns_.begin(), columns_.end(), 0u);
  std::stable_sort(columns_.begin(), columns_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return uses[a] > uses[b]; });
  columns_.resize(wanted);
  std::sort(columns_.begin(), columns_.end());
  for (const std::uint32_t column : columns_) {
    Shares& shares = shares_.emplace_back();
    const ColumnScale& scale = scales[column];
    for (std::uint32_t l = 0; l < scale.share.size(); ++l)
      shares[part_of(scale, {l, 0.5f})] += scale.share[l];
  }
}

std::vector<int128> PairScan::sums(const BinnedRows& records, std::span<const float> margins,
                                   MarginLoss loss, double clip) const {
  const std::size_t size = pairs_of(columns_.size()) * kCells * outputs_;
  std::vector<std::vector<std::int64_t>> partial(thread_count(0));
  records.for_parts([&](std::size_t begin, std::size_t end, unsigned thread) {
    std::vector<std::int64_t>& sums = partial[thread];
    sums.resize(size);
    std::vector<BinnedColumns::Cell> cells(scales_.size());
    std::vector<std::size_t> part(columns_.size());
    std::vector<double> own(outputs_), r(outputs_);
    for (std::size_t i = begin; i < end; ++i) {
      records.read(i, cells);
      for (std::size_t c = 0; c < part.size(); ++c)
        part[c] = part_of(scales_[columns_[c]], cells[columns_[c]]);
      std::copy_n(margins.begin() + static_cast<std::ptrdiff_t>(i * outputs_), outputs_,
                  own.begin());
      residuals(loss, clip, own, records.target(i), r);
      to_residual_steps(r, outputs_);
      std::int64_t* to = sums.data();
      for (std::size_t a = 0; a < part.size(); ++a) {
        for (std::size_t b = a + 1; b < part.size(); ++b, to += kCells * outputs_) {
          std::int64_t* const cell = to + (part[a] * kCuts + part[b]) * outputs_;
          for (std::size_t k = 0; k < outputs_; ++k) cell[k] += static_cast<std::int64_t>(r[k]);
        }
      }
    }
  });
  std::vector<int128> total(size);
  for (const std::vector<std::int64_t>& sums : partial)
    for (std::size_t i = 0; i < sums.size(); ++i) total[i] += sums[i];
  return total;
}

std::vector<PairCredit> PairScan::credits(std::span<const double> noisy, double noise,
                                          double rows) const {
  const double unit = std::max(noise, kUnit), of_chance = rows / (unit * unit);
  const double least =
      credible_among(static_cast<double>(pairs_of(columns_.size()) * kShapes * kShapes * outputs_));
  std::vector<PairCredit> by_cells, by_both;
  bool sure = false;  // that some pair stands out in its cells
  const double* table = noisy.data();
  for (std::size_t a = 0; a < columns_.size(); ++a) {
    for (std::size_t b = a + 1; b < columns_.size(); ++b, table += kCells * outputs_) {
      double squares = 0, of_shapes = 0;
      for (std::size_t k = 0; k < outputs_; ++k) {
        squares += squares_of_the_rest(table + k, outputs_, shares_[a], shares_[b]);
        of_shapes +=
            credit_of_shapes(table + k, outputs_, shares_[a], shares_[b], unit, rows, least);
      }
      const double freedom =
          freedom_of(shares_[a]) * freedom_of(shares_[b]) * static_cast<double>(outputs_);
      const double expected = freedom + of_chance, credit = squares / (unit * unit) - expected,
                   deviation = std::sqrt(2 / freedom) * expected;
      sure = sure || credit > kSure * deviation;
      const double found = credit > kCredible * deviation ? credit : 0;
      if (found > 0) by_cells.push_back({columns_[a], columns_[b], found});
      if (found + of_shapes > 0)
        by_both.push_back({columns_[a], columns_[b], std::max(found, of_shapes)});
    }
  }
  return sure ? by_cells : by_both;
}

}  // namespace sotto
