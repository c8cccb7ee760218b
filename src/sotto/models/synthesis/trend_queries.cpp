#include "sotto/models/synthesis/detail/trend_queries.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sotto/models/synthesis/detail/pair_queries.hpp"
#include "sotto/models/synthesis/detail/pair_shrinkage.hpp"

namespace sotto {
namespace {

constexpr int kBisections = 30;
constexpr double kSteepest = 12;  // η, where the largest score is 1

std::size_t most_entries(const CellColumns& columns, std::size_t j) {
  return columns.is_numeric(j)
             ? 1
             : std::min<std::size_t>(columns.cells(j), ColumnLevels::kMostCategories);
}

// p·q·exp(η·d) times factors of rows and columns that make p and q its margins.
std::vector<double> tilted(const std::vector<double>& p, const std::vector<double>& q,
                           const std::vector<double>& d, double eta) {
  std::vector<double> table(d.size());
  for (std::size_t i = 0; i < d.size(); ++i)
    table[i] = p[i / q.size()] * q[i % q.size()] * std::exp(eta * d[i]);
  return with_margins(std::move(table), p, q);
}

double squares(const std::vector<double>& x) {
  return std::inner_product(x.begin(), x.end(), x.begin(), 0.0);
}

}  // namespace

double TrendQueries::Side::mean_sign() const {
  double mean = 0;
  for (std::size_t l = 0; l < share.size(); ++l) mean += share[l] * sign[l];
  return mean;
}

TrendQueries::TrendQueries(const CellColumns& columns, const SynthesisModel& model)
    : columns_(columns), total_(model.total), target_(*columns.target()) {
  for (std::size_t j = 0; j < columns.columns(); ++j) {
    level_.push_back(model.columns[j].level);
    Side side{.number = columns.is_numeric(j),
              .share = level_shares(model.measured[j], model.total)};
    double before = 0;
    for (const double p : side.share) {
      const double middle = std::clamp(before + p / 2, 1e-4, 1 - 1e-4);
      side.score.push_back(std::log(middle / (1 - middle)));
      side.sign.push_back(middle < 0.5 ? -1 : 1);
      before += p;
    }
    sides_.push_back(std::move(side));
  }
  for (std::size_t j = 0; j < columns.columns(); ++j) {
    offset_.push_back(size_);
    if (j != target_) size_ += sides_[j].width() * sides_[target_].width();
  }
}

std::size_t TrendQueries::most(const CellColumns& columns) {
  std::size_t sum = 0;
  for (std::size_t j = 0; j < columns.columns(); ++j)
    if (j != *columns.target())
      sum += most_entries(columns, j) * most_entries(columns, *columns.target());
  return sum;
}

std::vector<int128> TrendQueries::sums(Source& source) const {
  const auto add = [&](const Table& block, std::span<int128> total) {
    std::vector<std::uint32_t> read(columns_.columns());
    const Side& t = sides_[target_];
    for (std::size_t i = 0; i < block.rows(); ++i) {
      if (block.is_null(i)) continue;
      columns_.read(block, i, read);
      const std::uint32_t own = level_[target_][read[target_]];
      for (std::size_t j = 0; j < read.size(); ++j) {
        if (j == target_) continue;
        const Side& s = sides_[j];
        const std::uint32_t level = level_[j][read[j]];
        const std::size_t row = s.number ? 0 : level, column = t.number ? 0 : own;
        total[offset_[j] + row * t.width() + column] +=
            (s.number ? s.sign[level] : 1) * (t.number ? t.sign[own] : 1);
      }
    }
  };
  return source.sum(size_, add);
}

// What is left of the sums of a block without what the columns say by themselves.
std::vector<double> TrendQueries::residual(const Side& s, std::span<const double> sums) const {
  const Side& t = sides_[target_];
  std::vector<double> left(sums.begin(), sums.end());
  const std::size_t width = t.width();
  if (s.number && t.number) {
    left[0] -= total_ * s.mean_sign() * t.mean_sign();
    return left;
  }
  if (!t.number) {
    for (std::size_t r = 0; r < s.width(); ++r) {
      double all = 0;
      for (std::size_t c = 0; c < width; ++c) all += left[r * width + c];
      for (std::size_t c = 0; c < width; ++c) left[r * width + c] -= t.share[c] * all;
    }
  }
  if (!s.number) {
    for (std::size_t c = 0; c < width; ++c) {
      double all = 0;
      for (std::size_t r = 0; r < s.width(); ++r) all += left[r * width + c];
      for (std::size_t r = 0; r < s.width(); ++r) left[r * width + c] -= s.share[r] * all;
    }
  }
  return left;
}

std::vector<std::vector<double>> TrendQueries::tables(std::span<const double> sums,
                                                      double deviation) const {
  const auto free = [](const Side& side) {
    return static_cast<double>(side.number ? 1 : side.width() - 1);
  };
  const double variance = deviation * deviation;
  std::vector<std::vector<double>> left(sides_.size()), made(sides_.size());
  double square = 0, freedom = 0;
  for (std::size_t j = 0; j < sides_.size(); ++j) {
    if (j == target_) continue;
    left[j] =
        residual(sides_[j], sums.subspan(offset_[j], sides_[j].width() * sides_[target_].width()));
    square += squares(left[j]);
    freedom += free(sides_[j]) * free(sides_[target_]);
  }
  const double together = square > 0 ? 1 - std::max(1.0, freedom - 2) * variance / square : 0;
  for (std::size_t j = 0; j < sides_.size(); ++j) {
    const double own = squares(left[j]);
    if (j == target_ || !(own > 0) || sides_[j].share.size() < 2 ||
        sides_[target_].share.size() < 2)
      continue;
    const double alone = 1 - free(sides_[j]) * free(sides_[target_]) * variance / own;
    const double kept = std::max(together, alone);
    if (!(kept > 0)) continue;
    for (double& x : left[j]) x *= kept;
    std::vector<double> table = this->table(sides_[j], left[j]);
    if (j < target_) {
      made[j] = std::move(table);
    } else {
      const std::size_t width = sides_[target_].share.size(), rows = sides_[j].share.size();
      for (std::size_t c = 0; c < width; ++c)
        for (std::size_t r = 0; r < rows; ++r) made[j].push_back(table[r * width + c]);
    }
  }
  return made;
}

// The table of the column's levels with the target's that has the wanted sums, in their direction.
std::vector<double> TrendQueries::table(const Side& s, const std::vector<double>& wanted) const {
  const Side& t = sides_[target_];
  const std::size_t rows = s.share.size(), width = t.share.size(), entries = t.width();
  std::vector<double> score(rows * width);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < width; ++c) {
      const double sum = wanted[(s.number ? 0 : r) * entries + (t.number ? 0 : c)];
      score[r * width + c] =
          sum * (s.number ? s.score[r] : 1 / s.share[r]) * (t.number ? t.score[c] : 1 / t.share[c]);
    }
  }
  double largest = 0;
  for (const double x : score) largest = std::max(largest, std::abs(x));
  for (double& x : score) x = largest > 0 ? x / largest : 0;
  // How far the table's own sums go in the direction of those that are wanted.
  const auto reached = [&](const std::vector<double>& table) {
    double far = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < width; ++c) {
        const double apart = table[r * width + c] - s.share[r] * t.share[c];
        for (std::size_t e = 0; e < wanted.size(); ++e)
          far += total_ * apart * wanted[e] * s.sign_at(e / entries, r) * t.sign_at(e % entries, c);
      }
    }
    return far;
  };
  const double goal = squares(wanted);
  double low = 0, high = kSteepest;
  for (int step = 0; step < kBisections; ++step) {
    const double middle = (low + high) / 2;
    (reached(tilted(s.share, t.share, score, middle)) < goal ? low : high) = middle;
  }
  return tilted(s.share, t.share, score, low);
}

}  // namespace sotto
