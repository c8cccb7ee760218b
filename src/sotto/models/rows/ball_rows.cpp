#include "sotto/models/rows/detail/ball_rows.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/parallel.hpp"
#include "sotto/models/rows/detail/ball_kernels.hpp"

namespace sotto {
namespace {

bool has_null(const Table& table) {
  for (std::size_t i = 0; i < table.rows(); ++i)
    if (table.is_null(i)) return true;
  return false;
}

}  // namespace

EncodedRows::EncodedRows(Source& source, const Encoder& encoder) : width_(encoder.width()) {
  if (const Table* table = source.in_memory(); table != nullptr && !has_null(*table)) {
    table_ = table;
    return;
  }
  source.map<std::vector<float>>(
      [&](const Table& block) {
        std::vector<float> part;
        part.reserve(block.rows() * width_);
        for (std::size_t i = 0; i < block.rows(); ++i) {
          if (block.is_null(i)) continue;
          part.resize(part.size() + width_);
          block.row(i, std::span(part).last(width_));
        }
        return part;
      },
      [&](std::vector<float>&& part) { rows_.append(part); });
}

std::vector<int128> EncodedRows::sum(std::size_t size, const AddBlock& add) const {
  const unsigned workers = thread_count(0);
  std::vector<std::vector<int128>> partial(workers);
  const std::size_t blocks = (this->size() + kBallBlock - 1) / kBallBlock;
  parallel_blocks(blocks, workers, [&](std::size_t b, unsigned thread) {
    partial[thread].resize(size);
    const std::size_t first = b * kBallBlock, count = std::min(kBallBlock, this->size() - first);
    add(first, count, partial[thread]);
    done(first, count);
  });
  std::vector<int128> total(size);
  for (const std::vector<int128>& part : partial)
    for (std::size_t i = 0; i < part.size(); ++i) total[i] += part[i];
  return total;
}

std::vector<int128> EncodedRows::distances(std::span<const double> centre, std::size_t bins,
                                           const std::function<std::size_t(double)>& bin_of) const {
  return sum(bins, [&](std::size_t first, std::size_t count, std::span<int128> cells) {
    std::vector<float> room;
    for (std::size_t i = first; i < first + count; ++i) {
      const double square = detail::squared_distance(row(i, room), centre.data(), width_);
      cells[std::min(bins - 1, bin_of(std::sqrt(square)))] += 1;
    }
  });
}

void to_ball(const float* row, std::span<const double> centre, double radius,
             std::span<float> steps) {
  const std::size_t d = centre.size();
  const double norm = std::sqrt(detail::squared_distance(row, centre.data(), d));
  const double factor = kBallSteps / std::max(radius, norm);
  if (!std::isfinite(factor) || !std::isfinite(norm)) {
    std::fill(steps.begin(), steps.end(), 0.0f);
    return;
  }
  // No coordinate is longer than the row: at most 2^16 and a rounding. Whole numbers up to d·2^32.
  double exact = detail::truncated_steps(row, centre.data(), d, factor, steps.data());
  // The arithmetic above is rounded; the norm is checked on the integers that are kept.
  while (exact > kBallSteps * kBallSteps) {
    exact = 0;
    for (float& v : steps) {
      v -= v > 0 ? 1.0f : v < 0 ? -1.0f : 0.0f;
      exact += static_cast<double>(v) * static_cast<double>(v);
    }
  }
}

BallRows::BallRows(const EncodedRows& rows, std::span<const double> centre, double radius)
    : width_(rows.width()) {
  const std::size_t staged = std::max<std::size_t>(1, (std::size_t{1} << 24) / width_);
  for (std::size_t start = 0; start < rows.size(); start += staged) {
    const std::size_t count = std::min(staged, rows.size() - start);
    float* const out = rows_.extend(count * width_).data();
    parallel_blocks(
        (count + kBallBlock - 1) / kBallBlock, thread_count(0), [&](std::size_t b, unsigned) {
          const std::size_t end = std::min(count, (b + 1) * kBallBlock);
          std::vector<float> room;
          for (std::size_t i = b * kBallBlock; i < end; ++i)
            to_ball(rows.row(start + i, room), centre, radius, {out + i * width_, width_});
        });
    rows.done(start, count);
  }
}

}  // namespace sotto
