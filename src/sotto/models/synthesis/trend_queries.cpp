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

TrendQueries::Side TrendQueries::side_of(bool number, std::vector<double> share) {
  Side side{.number = number, .share = std::move(share)};
  double before = 0;
  for (const double p : side.share) {
    const double middle = std::clamp(before + p / 2, 1e-4, 1 - 1e-4);
    side.score.push_back(std::log(middle / (1 - middle)));
    side.sign.push_back(middle < 0.5 ? -1 : 1);
    before += p;
  }
  return side;
}

TrendQueries::TrendQueries(const CellColumns& columns, const SynthesisModel& model)
    : columns_(columns), total_(model.total), target_(*columns.target()) {
  for (std::size_t j = 0; j < columns.columns(); ++j) {
    level_.push_back(model.columns[j].level);
    sides_.push_back(side_of(columns.is_numeric(j), level_shares(model.measured[j], model.total)));
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

std::vector<std::vector<double>> TrendQueries::shrunken(std::span<const double> sums,
                                                        double deviation) const {
  const auto free = [](const Side& side) {
    return static_cast<double>(side.number ? 1 : side.width() - 1);
  };
  const Side& t = sides_[target_];
  const double variance = deviation * deviation;
  std::vector<std::vector<double>> left(sides_.size());
  double square = 0, freedom = 0;
  for (std::size_t j = 0; j < sides_.size(); ++j) {
    if (j == target_) continue;
    left[j] = residual(sides_[j], sums.subspan(offset_[j], sides_[j].width() * t.width()));
    square += squares(left[j]);
    freedom += free(sides_[j]) * free(t);
  }
  const double together = square > 0 ? 1 - std::max(1.0, freedom - 2) * variance / square : 0;
  for (std::size_t j = 0; j < sides_.size(); ++j) {
    const double own = squares(left[j]), alone = 1 - free(sides_[j]) * free(t) * variance / own;
    const double kept = own > 0 ? std::max(together, alone) : 0;
    if (sides_[j].share.size() < 2 || t.share.size() < 2 || !(kept > 0)) left[j].clear();
    for (double& x : left[j]) x *= kept;
  }
  return left;
}

TrendQueries::Reading TrendQueries::reading(std::size_t j, const SynthesisModel& now) const {
  const Side &then = sides_[j],
             own = side_of(then.number, level_shares(now.measured[j], now.total));
  const ColumnLevels& c = now.columns[j];
  const std::size_t levels = c.levels;
  Reading made{.share = own.share,
               .entry = std::vector<double>(then.width() * levels),
               .score = {},
               .entries = then.width()};
  for (std::size_t cell = 0; cell < c.level.size(); ++cell) {
    const std::uint32_t old = level_[j][cell];
    made.entry[(then.number ? 0 : old) * levels + c.level[cell]] +=
        c.share[cell] * (then.number ? then.sign[old] : 1);
  }
  made.score = then.number ? own.score : made.entry;
  if (!then.number)
    for (std::size_t i = 0; i < made.score.size(); ++i) made.score[i] /= then.share[i / levels];
  return made;
}

// The table that has the wanted sums, in their direction.
std::vector<double> TrendQueries::table(std::size_t column, const std::vector<double>& wanted,
                                        const SynthesisModel& now) const {
  const bool before = column < target_;
  const Reading s = reading(column, now), t = reading(target_, now);
  const std::size_t rows = s.share.size(), width = t.share.size();
  // Σ of the wanted sums, each times what its entries are in the two levels.
  const auto combined = [&](const std::vector<double>& of_rows,
                            const std::vector<double>& of_columns) {
    std::vector<double> made(rows * width);
    for (std::size_t e = 0; e < wanted.size(); ++e)
      for (std::size_t i = 0; i < made.size(); ++i)
        made[i] += wanted[e] * of_rows[e / t.entries * rows + i / width] *
                   of_columns[e % t.entries * width + i % width];
    return made;
  };
  std::vector<double> score = combined(s.score, t.score);
  const std::vector<double> along = combined(s.entry, t.entry);
  double largest = 0;
  for (const double x : score) largest = std::max(largest, std::abs(x));
  for (double& x : score) x = largest > 0 ? x / largest : 0;
  // How far the table's own sums go in the direction of those that are wanted.
  const auto reached = [&](const std::vector<double>& table) {
    double far = 0;
    for (std::size_t i = 0; i < table.size(); ++i)
      far += now.total * (table[i] - s.share[i / width] * t.share[i % width]) * along[i];
    return far;
  };
  const double goal = squares(wanted);
  double low = 0, high = kSteepest;
  for (int step = 0; step < kBisections; ++step) {
    const double middle = (low + high) / 2;
    (reached(tilted(s.share, t.share, score, middle)) < goal ? low : high) = middle;
  }
  std::vector<double> table = tilted(s.share, t.share, score, low);
  if (before) return table;
  std::vector<double> turned;
  for (std::size_t c = 0; c < width; ++c)
    for (std::size_t r = 0; r < rows; ++r) turned.push_back(table[r * width + c]);
  return turned;
}

}  // namespace sotto
