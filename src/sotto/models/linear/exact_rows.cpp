#include "sotto/models/linear/exact_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sotto/core/error.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/models/linear/detail/exact_kernels.hpp"

namespace sotto {
namespace {

constexpr std::size_t kChunkRows = 256;  // their floats stay in the cache between two uses

constexpr std::size_t kStagedFloats = std::size_t{1} << 22;  // floats on their way to a file

constexpr double kRowUnit = 1 << ExactRows::kRowBits;

}  // namespace

void ExactRows::reserve(std::size_t rows) {
  if (rows > kRowMemory / dimension_) return;  // they will not stay in memory
  rows_.reserve(rows * dimension_);
  targets_.reserve(rows);
}

void ExactRows::append(const ExactRows& other) {
  if (other.features_ != features_ || other.scale_ != scale_ || other.intercept_ != intercept_)
    invariant_broken("rows of another encoding");
  const std::size_t most = std::max<std::size_t>(1, kStagedFloats / dimension_);
  for (std::size_t first = 0; first < other.size(); first += most) {
    const std::size_t count = std::min(most, other.size() - first);
    rows_.append({other.row(first).data(), count * dimension_});
    targets_.append(other.targets(first, count));
    other.done(first, count);
  }
}

void ExactRows::done(std::size_t first, std::size_t count) const {
  rows_.done(first * dimension_, count * dimension_);
  targets_.done(first, count);
}

void ExactRows::add(std::span<const float> features, float target) {
  if (features.size() != features_) invariant_broken("a record with another number of features");
  const float kept = write(features, target, rows_.extend(dimension_).data());
  targets_.append({&kept, 1});
}

void ExactRows::add_all(std::size_t count, const Reader& read, unsigned threads) {
  constexpr std::size_t kPart = 1024;
  // All at once where memory holds them, else a part of the file at a time.
  const bool fits =
      rows_.in_memory() && (size() + count) * dimension_ * sizeof(float) <= kRowMemory;
  const std::size_t most = fits ? count : std::max<std::size_t>(1, kStagedFloats / dimension_);
  const unsigned workers = thread_count(threads);
  std::vector<std::vector<float>> scratch(workers, std::vector<float>(features_));
  for (std::size_t start = 0; start < count; start += most) {
    const std::size_t records = std::min(most, count - start);
    float* const rows = rows_.extend(records * dimension_).data();
    float* const targets = targets_.extend(records).data();
    parallel_blocks((records + kPart - 1) / kPart, workers, [&](std::size_t part, unsigned thread) {
      const std::size_t end = std::min(records, (part + 1) * kPart);
      for (std::size_t i = part * kPart; i < end; ++i) {
        const float target = read(start + i, scratch[thread]);
        targets[i] = write(scratch[thread], target, rows + i * dimension_);
      }
    });
  }
}

// The record on the grid inside the unit ball; returns the target to keep.
float ExactRows::write(std::span<const float> features, float target, float* row) const {
  const double square = detail::square_of(features.data(), features_), norm = std::sqrt(square);
  if (!std::isfinite(square) || !std::isfinite(target)) {
    std::fill_n(row, dimension_, 0.0f);
    return 0;
  }
  const double shrink = scale_ * (norm > norm_bound_ ? norm_bound_ / norm : 1.0);
  // |row_j| ≤ 2^16 in units, so squares and their sum (≤ dimension·2^32 ≤ 2^53 for up to 2^21
  // coordinates) are exact.
  double exact = detail::to_grid(features.data(), features_, shrink * kRowUnit, row);
  if (intercept_ != 0) {
    const double last = std::trunc(intercept_ * scale_ * kRowUnit);
    row[features_] = static_cast<float>(last / kRowUnit);
    exact += last * last;
  }
  // The arithmetic above is rounded; the norm is checked on the integers that are kept.
  while (exact > kRowUnit * kRowUnit) {
    constexpr auto kUnit = static_cast<float>(1 / kRowUnit);
    exact = 0;
    for (std::size_t j = 0; j < dimension_; ++j) {
      row[j] -= row[j] > 0 ? kUnit : row[j] < 0 ? -kUnit : 0.0f;
      exact += static_cast<double>(row[j]) * row[j] * (kRowUnit * kRowUnit);
    }
  }
  return target;
}

std::vector<int128> ExactRows::weighted_sum(std::span<const double> parameters, std::size_t outputs,
                                            const Slopes& slopes, SlopeGrid grid,
                                            unsigned threads) const {
  const std::size_t blocks = (size() + kBlockRows - 1) / kBlockRows;
  const unsigned workers = thread_count(threads);
  struct Scratch {
    std::vector<double> slopes, margins, sums;
    std::vector<int128> total;
  };
  std::vector<Scratch> scratch(workers);
  const float* all = rows_.data();
  parallel_blocks(blocks, workers, [&](std::size_t block, unsigned thread) {
    Scratch& s = scratch[thread];
    s.total.resize(outputs * dimension_);
    s.sums.assign(outputs * dimension_, 0.0);
    const std::size_t begin = block * kBlockRows, end = std::min(begin + kBlockRows, size());
    for (std::size_t first = begin; first < end; first += kChunkRows) {
      const std::size_t count = std::min(kChunkRows, end - first);
      const float* rows = all + first * dimension_;
      s.margins.resize(outputs * count);
      s.slopes.resize(outputs * count);
      for (std::size_t k = 0; k < outputs; ++k) {  // exact: multiples of 2^-40 below 2^12
        detail::row_products(rows, count, dimension_, parameters.data() + k * dimension_,
                             s.margins.data() + k * count);
      }
      slopes(s.margins, first, count, s.slopes);
      bound_slopes(s.slopes, outputs, grid);
      for (std::size_t k = 0; k < outputs;
           ++k) {  // exact: multiples of 2^-16 of absolute sum at most 2^34
        detail::add_weighted_rows(rows, count, dimension_, s.slopes.data() + k * count,
                                  s.sums.data() + k * dimension_);
      }
    }
    for (std::size_t i = 0; i < s.sums.size(); ++i)
      s.total[i] += static_cast<std::int64_t>(s.sums[i] * kRowUnit);
    done(begin, end - begin);
  });
  std::vector<int128> total(outputs * dimension_);
  for (const Scratch& s : scratch) {
    for (std::size_t i = 0; i < s.total.size(); ++i) total[i] += s.total[i];
  }
  return total;
}

std::vector<int128> ExactRows::second_moments(double share, unsigned threads) const {
  if (share >= 1) return moments(threads).second;
  return moments(threads,
                 [share](std::span<const float> row) {
                   return is_among(detail::hash_of(row.data(), row.size()), share);
                 })
      .second;
}

// Whole numbers of 2^−32, at most 2^32: exact.
std::vector<std::uint32_t> ExactRows::private_squares(unsigned threads) const {
  std::vector<std::uint32_t> squares(size());
  const std::size_t blocks = (size() + kBlockRows - 1) / kBlockRows;
  parallel_blocks(blocks, thread_count(threads), [&](std::size_t block, unsigned) {
    const std::size_t begin = block * kBlockRows, end = std::min(begin + kBlockRows, size());
    for (std::size_t i = begin; i < end; ++i) {
      const double square = detail::square_of(row(i).data(), dimension_);
      squares[i] = static_cast<std::uint32_t>(std::ceil(std::ldexp(square, kSquareBits)));
    }
    done(begin, end - begin);
  });
  return squares;
}

ExactRows::Moments ExactRows::moments(unsigned threads, const Choice& chosen) const {
  const std::size_t blocks = (size() + kBlockRows - 1) / kBlockRows, p = dimension_;
  const unsigned workers = thread_count(threads);
  const std::size_t triangle = p * (p + 1) / 2;
  struct Scratch {
    std::vector<double> targets, cross, second;
    std::vector<float> rows;  // those chosen of a block
    Moments total;
  };
  std::vector<Scratch> scratch(workers);
  const float *all = rows_.data(), *targets = targets_.data();
  parallel_blocks(blocks, workers, [&](std::size_t block, unsigned thread) {
    Scratch& s = scratch[thread];
    s.total.second.resize(triangle);
    s.total.cross.resize(p);
    const std::size_t first = block * kBlockRows, end = std::min(first + kBlockRows, size());
    const float* from = all + first * p;
    s.targets.clear();
    s.rows.clear();
    for (std::size_t i = first; i < end; ++i) {
      if (chosen && !chosen({all + i * p, p})) continue;
      const double y = std::clamp(static_cast<double>(targets[i]), -1.0, 1.0);
      s.targets.push_back(std::trunc(y * kRowUnit));
      if (chosen) s.rows.insert(s.rows.end(), all + i * p, all + (i + 1) * p);
    }
    if (chosen) from = s.rows.data();
    const std::size_t count = s.targets.size();
    // Exact: multiples of 2^-32 of absolute sum at most 2^12, and of 2^-16 of absolute sum at most
    // 2^28.
    s.second.assign(p * p, 0.0);
    s.cross.assign(p, 0.0);
    detail::add_outer_products(from, count, p, s.second.data());
    detail::add_weighted_rows(from, count, p, s.targets.data(), s.cross.data());
    constexpr double kSquare = kRowUnit * kRowUnit;
    std::size_t at = 0;
    for (std::size_t i = 0; i < p; ++i) {
      s.total.cross[i] += static_cast<std::int64_t>(s.cross[i] * kRowUnit);
      for (std::size_t j = i; j < p; ++j)
        s.total.second[at++] += static_cast<std::int64_t>(s.second[i * p + j] * kSquare);
    }
    done(first, end - first);
  });
  Moments total{std::vector<int128>(triangle), std::vector<int128>(p)};
  for (const Scratch& s : scratch) {
    for (std::size_t i = 0; i < s.total.second.size(); ++i) total.second[i] += s.total.second[i];
    for (std::size_t i = 0; i < s.total.cross.size(); ++i) total.cross[i] += s.total.cross[i];
  }
  return total;
}

}  // namespace sotto
