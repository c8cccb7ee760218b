#include "sotto/models/synthesis/detail/even_records.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sotto/models/synthesis/detail/systematic.hpp"
#include "sotto/models/synthesis/detail/target_check.hpp"
#include "sotto/noise/uniform.hpp"

namespace sotto {
namespace {

constexpr std::size_t kSampled = 1 << 15;     // records that say what is expected of pairs
constexpr std::uint32_t kFine = 16;           // bins of a column
constexpr std::size_t kMostOfAllBins = 2560;  // of all columns, with those of levels
constexpr std::uint32_t kScales[] = {16, 8, 4, 2};
constexpr std::uint32_t kOfPair = 4;  // bins of each column of a pair, with the target
constexpr std::uint32_t kOfTarget = 8;
constexpr std::size_t kMostPlaces = 1 << 23;  // of records in sets
constexpr double kOfScore = 2;                // how much the rank of the target weighs
constexpr double kMostOperations = 1e8;       // of each of the two
constexpr double kTries = 200;                // of a record, at most

}  // namespace

bool EvenRecords::suits(const CellColumns& columns, const SynthesisModel& model,
                        std::uint64_t rows) {
  if (rows > kMostRecords || columns.columns() > kMostColumns) return false;
  std::size_t bins = 0;
  for (std::size_t j = 0; j < columns.columns(); ++j) {
    const ColumnLevels& c = model.columns[j];
    // A file may say that the cells of a level are anywhere, and each would be a bin of its own.
    std::size_t runs = 1;
    for (std::size_t cell = 1; cell < c.level.size(); ++cell)
      runs += c.level[cell] != c.level[cell - 1] ? 1 : 0;
    const std::size_t own =
        columns.is_numeric(j) ? std::max<std::size_t>(c.levels, runs) : c.levels;
    if (own > kMostLevels) return false;
    bins += own + kFine;
  }
  if (bins > kMostOfAllBins) return false;  // all pairs of them are held
  std::size_t among_themselves = 0;
  const auto simple = [&](const Marginal& m) {
    const bool with_target =
        columns.target() && std::ranges::find(m.columns, *columns.target()) != m.columns.end();
    if (m.columns.size() > 1 && !with_target) ++among_themselves;
    return m.columns.size() <= (with_target ? 3u : 2u);
  };
  return std::ranges::all_of(model.measured, simple) && among_themselves <= columns.columns() / 2;
}

EvenRecords::EvenRecords(const CellColumns& columns, const SynthesisModel& model,
                         const MarkovModel& markov, Rng& rng)
    : columns_(columns),
      model_(model),
      width_(columns.columns()),
      sample_(markov.sample(kSampled, rng)) {
  for (std::size_t j = 0; j < width_; ++j) {
    std::vector<double>& share = share_.emplace_back(model.columns[j].levels);
    for (std::size_t at = j; at < sample_.size(); at += width_)
      share[sample_[at]] += 1 / static_cast<double>(kSampled);
  }
  for (std::size_t j = 0; j < width_; ++j)
    fine_.push_back(bins_of(j, columns.is_numeric(j) ? kFine : kMostLevels, true));
}

// Neighbouring cells of a number with about equal shares of the records; the commonest values of a
// category, and all others.
EvenRecords::Bins EvenRecords::bins_of(std::size_t j, std::uint32_t most,
                                       bool within_levels) const {
  const ColumnLevels& c = model_.columns[j];
  std::vector<double> mass;
  for (std::size_t cell = 0; cell < c.level.size(); ++cell)
    mass.push_back(share_[j][c.level[cell]] * c.share[cell]);
  Bins made{.of_cell = std::vector<std::uint32_t>(mass.size())};
  if (columns_.is_numeric(j)) {
    double before = 0;
    std::uint32_t last = 0, used = 0;
    for (std::size_t cell = 0; cell < mass.size(); ++cell) {
      const double middle = std::clamp(before + mass[cell] / 2, 0.0, 1.0);
      const auto wanted = std::min(most - 1, static_cast<std::uint32_t>(middle * most));
      const bool other = cell > 0 && within_levels && c.level[cell] != c.level[cell - 1];
      if (cell > 0 && (wanted > last || other)) ++used, last = wanted;
      if (cell == 0) last = wanted;
      made.of_cell[cell] = used;
      before += mass[cell];
    }
    made.count = used + 1;
    return made;
  }
  std::vector<std::size_t> order(mass.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return mass[a] > mass[b]; });
  made.count = static_cast<std::uint32_t>(std::min<std::size_t>(most, order.size()));
  for (std::size_t i = 0; i < order.size(); ++i)
    made.of_cell[order[i]] = std::min(static_cast<std::uint32_t>(i), made.count - 1);
  return made;
}

// The share of each bin in each level.
std::vector<double> EvenRecords::in_levels(std::size_t j, const Bins& bins) const {
  const ColumnLevels& c = model_.columns[j];
  std::vector<double> share(std::size_t{c.levels} * bins.count);
  for (std::size_t cell = 0; cell < c.level.size(); ++cell)
    share[std::size_t{c.level[cell]} * bins.count + bins.of_cell[cell]] += c.share[cell];
  return share;
}

// Shares of the combinations of fine bins of two columns.
std::vector<double> EvenRecords::expected(std::size_t a, std::size_t b) const {
  const std::size_t rows = model_.columns[a].levels, width = model_.columns[b].levels;
  std::vector<double> joint(rows * width);
  for (std::size_t at = 0; at < sample_.size(); at += width_)
    joint[sample_[at + a] * width + sample_[at + b]] += 1 / static_cast<double>(kSampled);
  const std::vector<double> of_a = in_levels(a, fine_[a]), of_b = in_levels(b, fine_[b]);
  const std::size_t p = fine_[a].count, q = fine_[b].count;
  std::vector<double> half(rows * q), made(p * q);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < width; ++c)
      for (std::size_t k = 0; k < q; ++k) half[r * q + k] += joint[r * width + c] * of_b[c * q + k];
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t i = 0; i < p; ++i)
      for (std::size_t k = 0; k < q; ++k) made[i * q + k] += of_a[r * p + i] * half[r * q + k];
  return made;
}

void EvenRecords::even_out(std::vector<std::uint32_t>& cells, Rng& rng) const {
  if (cells.size() < 2 * width_) return;
  even_columns(cells, rng);
  if (!columns_.target()) return;
  draw_target(cells, rng);
  even_target(cells, rng);
}

// Given the other columns, which may have been exchanged. Records of which the same is said follow
// each other, and their chances are spread evenly.
void EvenRecords::draw_target(std::vector<std::uint32_t>& cells, Rng& rng) const {
  const std::size_t target = *columns_.target(), rows = cells.size() / width_;
  const ColumnLevels& c = model_.columns[target];
  const TargetPrediction predict(model_, target);
  std::vector<std::vector<double>> p(rows);
  std::vector<double> said(rows);
  std::vector<std::uint32_t> levels(width_);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t j = 0; j < width_; ++j)
      levels[j] = model_.columns[j].level[cells[r * width_ + j]];
    predict(levels, p[r]);
    for (std::size_t k = 0; k < p[r].size(); ++k) said[r] += p[r][k] * static_cast<double>(k);
  }
  std::vector<std::size_t> order(rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = rows; i > 1; --i) std::swap(order[i - 1], order[uniform_below(rng, i)]);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return said[a] < said[b]; });
  const double start = static_cast<double>(rng.next_u64() >> 11) * 0x1p-53;
  std::vector<std::vector<std::size_t>> of(c.levels);
  for (std::size_t i = 0; i < rows; ++i) {
    // Multiples of the golden section: evenly spread in every run of records.
    double at = start + 0.6180339887498949 * static_cast<double>(i);
    at -= std::floor(at);
    const std::vector<double>& chance = p[order[i]];
    std::size_t k = 0;
    while (k + 1 < chance.size() && at >= chance[k]) at -= chance[k++];
    of[k].push_back(order[i]);
  }
  for (std::uint32_t l = 0; l < c.levels; ++l) {
    std::vector<std::uint32_t> own;
    std::vector<double> share;
    for (std::uint32_t cell = 0; cell < c.level.size(); ++cell)
      if (c.level[cell] == l) own.push_back(cell), share.push_back(c.share[cell]);
    const std::vector<std::uint32_t> one(of[l].size());
    spread_evenly(one, 1, share, share.size(), rng, [&](std::size_t r, std::size_t cell) {
      cells[of[l][r] * width_ + target] = own[cell];
    });
  }
}

void EvenRecords::even_columns(std::vector<std::uint32_t>& cells, Rng& rng) const {
  std::vector<std::size_t> own;
  for (std::size_t j = 0; j < width_; ++j)
    if (columns_.target() != j && fine_[j].count > 1) own.push_back(j);
  if (own.size() < 2) return;
  const std::size_t rows = cells.size() / width_, d = own.size();
  std::vector<std::uint32_t> bin(rows * d);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t j = 0; j < d; ++j)
      bin[r * d + j] = fine_[own[j]].of_cell[cells[r * width_ + own[j]]];
  // Of each two columns, in both orders: records more than expected, and what one of them weighs.
  struct Cell {
    double excess, weight;
  };
  std::vector<std::vector<Cell>> table(d * d);
  for (std::size_t a = 0; a < d; ++a) {
    for (std::size_t b = 0; b < d; ++b) {
      if (a == b) continue;
      for (const double share : expected(own[a], own[b])) {
        const double records = share * static_cast<double>(rows);
        table[a * d + b].push_back({-records, 1 / (records + 0.5)});
      }
      for (std::size_t r = 0; r < rows; ++r)
        ++table[a * d + b][bin[r * d + a] * fine_[own[b]].count + bin[r * d + b]].excess;
    }
  }
  const double tries = std::min(kTries * static_cast<double>(rows * d) / 4,
                                kMostOperations / static_cast<double>(8 * d));
  for (double done = 0; done < tries; ++done) {
    const std::size_t j = uniform_below(rng, d), x = uniform_below(rng, rows),
                      y = uniform_below(rng, rows);
    const std::uint32_t from = bin[x * d + j], to = bin[y * d + j];
    if (from == to) continue;
    // x goes from `from` to `to`, y the other way.
    double gained = 0;
    for (std::size_t b = 0; b < d; ++b) {
      const std::uint32_t own_bin = bin[x * d + b], other = bin[y * d + b];
      if (b == j || own_bin == other) continue;
      const std::vector<Cell>& t = table[j * d + b];
      const std::size_t width = fine_[own[b]].count;
      const auto moved = [&](std::size_t row, std::size_t column, double by) {
        const Cell& c = t[row * width + column];
        gained += c.weight * (2 * by * c.excess + 1);
      };
      moved(from, own_bin, -1), moved(to, own_bin, 1), moved(to, other, -1), moved(from, other, 1);
    }
    if (gained >= 0) continue;
    for (std::size_t b = 0; b < d; ++b) {
      const std::uint32_t own_bin = bin[x * d + b], other = bin[y * d + b];
      if (b == j || own_bin == other) continue;
      const std::size_t width = fine_[own[b]].count, height = fine_[own[j]].count;
      const auto moved = [&](std::size_t row, std::size_t column, double by) {
        table[j * d + b][row * width + column].excess += by;
        table[b * d + j][column * height + row].excess += by;
      };
      moved(from, own_bin, -1), moved(to, own_bin, 1), moved(to, other, -1), moved(from, other, 1);
    }
    std::swap(bin[x * d + j], bin[y * d + j]);
    std::swap(cells[x * width_ + own[j]], cells[y * width_ + own[j]]);
  }
}

void EvenRecords::even_target(std::vector<std::uint32_t>& cells, Rng& rng) const {
  const std::size_t target = *columns_.target(), rows = cells.size() / width_;
  const bool number = columns_.is_numeric(target);
  const Bins bins = bins_of(target, number ? kOfTarget : ColumnLevels::kMostCategories);
  if (bins.count < 2) return;
  // Each bin, and for a number its rank, in units of the deviation of a rank.
  const std::size_t parts = bins.count + (number ? 1 : 0);
  std::vector<double> score(bins.count);
  for (std::size_t k = 0; k < score.size(); ++k)
    score[k] = kOfScore * ((static_cast<double>(k) + 0.5) / bins.count - 0.5) * std::sqrt(12.0);
  const std::vector<double> inside = in_levels(target, bins);
  const TargetPrediction predict(model_, target);

  // In which sets of records each is.
  std::vector<std::vector<std::uint32_t>> groups;  // of each record, one set after the other
  std::vector<std::uint32_t> sizes;
  const auto add = [&](std::vector<std::uint32_t> of_records, std::uint32_t count) {
    groups.push_back(std::move(of_records));
    sizes.push_back(count);
  };
  std::vector<std::vector<std::uint32_t>> coarse;
  std::vector<std::uint32_t> coarse_count;
  for (std::size_t j = 0; j < width_; ++j) {
    if (j == target) continue;
    std::uint32_t before = 0;
    for (const std::uint32_t scale : kScales) {
      const Bins b = bins_of(j, scale);
      if (b.count < 2 || b.count == before) continue;
      before = b.count;
      std::vector<std::uint32_t> of(rows);
      for (std::size_t r = 0; r < rows; ++r) of[r] = b.of_cell[cells[r * width_ + j]];
      if (scale == kOfPair || (scale > kOfPair && b.count <= kOfPair)) {
        coarse.push_back(of);
        coarse_count.push_back(b.count);
      }
      add(std::move(of), b.count);
    }
  }
  for (std::size_t a = 0; a < coarse.size(); ++a) {
    for (std::size_t b = a + 1; b < coarse.size(); ++b) {
      if ((groups.size() + 1) * rows > kMostPlaces) break;
      std::vector<std::uint32_t> of(rows);
      for (std::size_t r = 0; r < rows; ++r) of[r] = coarse[a][r] * coarse_count[b] + coarse[b][r];
      add(std::move(of), coarse_count[a] * coarse_count[b]);
    }
  }
  if (groups.empty()) return;
  const std::size_t sets = groups.size();
  std::vector<std::uint32_t> member(rows * sets);  // of each record: the cells it is in
  std::uint32_t size = 0;
  for (std::size_t s = 0; s < sets; ++s) {
    for (std::size_t r = 0; r < rows; ++r) member[r * sets + s] = size + groups[s][r];
    size += sizes[s];
  }
  std::vector<double> weight(size), sum(std::size_t{size} * parts), p;
  std::vector<std::uint32_t> own(rows), levels(width_);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t j = 0; j < width_; ++j)
      levels[j] = model_.columns[j].level[cells[r * width_ + j]];
    own[r] = bins.of_cell[cells[r * width_ + target]];
    predict(levels, p);
    std::vector<double> left(parts);
    for (std::size_t l = 0; l < p.size(); ++l)
      for (std::size_t k = 0; k < bins.count; ++k) left[k] -= p[l] * inside[l * bins.count + k];
    left[own[r]] += 1;
    if (number)
      for (std::size_t k = 0; k < bins.count; ++k) left[bins.count] += left[k] * score[k];
    for (std::size_t s = 0; s < sets; ++s) {
      const std::size_t cell = member[r * sets + s];
      ++weight[cell];
      for (std::size_t k = 0; k < parts; ++k) sum[cell * parts + k] += left[k];
    }
  }
  for (double& w : weight) w = w > 0 ? 1 / w : 0;

  const double tries =
      std::min(kTries * static_cast<double>(rows), kMostOperations / static_cast<double>(8 * sets));
  for (double done = 0; done < tries; ++done) {
    const std::size_t x = uniform_below(rng, rows), y = uniform_below(rng, rows);
    const std::uint32_t from = own[x], to = own[y];
    if (from == to) continue;
    const double step = number ? score[to] - score[from] : 0, square = 2 + step * step;
    double gained = 0;
    for (std::size_t s = 0; s < sets; ++s) {
      const std::size_t in_x = member[x * sets + s], in_y = member[y * sets + s];
      if (in_x == in_y) continue;
      const auto along = [&](std::size_t cell) {
        const double* of = sum.data() + cell * parts;
        return of[to] - of[from] + (number ? of[bins.count] * step : 0);
      };
      gained +=
          weight[in_x] * (2 * along(in_x) + square) + weight[in_y] * (square - 2 * along(in_y));
    }
    if (gained >= 0) continue;
    for (std::size_t s = 0; s < sets; ++s) {
      const auto move = [&](std::size_t cell, double by) {
        double* of = sum.data() + cell * parts;
        of[to] += by, of[from] -= by;
        if (number) of[bins.count] += by * step;
      };
      move(member[x * sets + s], 1), move(member[y * sets + s], -1);
    }
    std::swap(own[x], own[y]);
    std::swap(cells[x * width_ + target], cells[y * width_ + target]);
  }
}

}  // namespace sotto
