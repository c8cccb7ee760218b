#include "sotto/models/linear/detail/coded_rows.hpp"

#include <algorithm>
#include <array>

#include "sotto/core/parallel.hpp"
#include "sotto/models/linear/detail/coded_kernels.hpp"

namespace sotto {
namespace {

constexpr std::size_t kCodedChunk = 512;  // margins and slopes of so many stay in the cache
constexpr std::size_t kStagedCodes = std::size_t{1} << 22;
constexpr double kGridUnit = 0x1p-16;

}  // namespace

CodedRows::CodedRows(const Encoder& encoder, double intercept)
    : GradientRows(encoder.width(), encoder.norm_bound(), intercept),
      book_(std::make_shared<CodeBook>(encoder, intercept, scale_)) {}

CodedRows::CodedRows(const CodedRows& alike, std::nullptr_t)
    : GradientRows(alike.features_, alike.norm_bound_, alike.intercept_), book_(alike.book_) {}

void CodedRows::reserve(std::size_t rows) {
  codes_.reserve(rows * book_->columns());
  targets_.reserve(rows);
}

void CodedRows::add_all(const Table& table, TargetOf target_of, unsigned threads) {
  constexpr std::size_t kPart = 2048;
  const std::size_t columns = book_->columns();
  const std::size_t most = std::max<std::size_t>(1, kStagedCodes / columns);
  for (std::size_t start = 0; start < table.rows(); start += most) {
    const std::size_t count = std::min(most, table.rows() - start);
    std::uint16_t* const codes = codes_.extend(count * columns).data();
    float* const targets = targets_.extend(count).data();
    parallel_blocks((count + kPart - 1) / kPart, threads, [&](std::size_t part, unsigned) {
      const std::size_t end = std::min(count, (part + 1) * kPart);
      for (std::size_t i = part * kPart; i < end; ++i) {
        book_->write(table, start + i, {codes + i * columns, columns});
        const float target = target_of(table.targets()[start + i]);
        targets[i] = std::isfinite(target) ? target : 0.0f;
      }
    });
  }
}

void CodedRows::append(const CodedRows& other) {
  const std::size_t columns = book_->columns();
  codes_.append({other.codes_.data(), other.size() * columns});
  targets_.append(other.targets(0, other.size()));
}

std::vector<int128> CodedRows::weighted_sum(std::span<const double> parameters, std::size_t outputs,
                                            const Slopes& slopes, SlopeGrid grid,
                                            unsigned threads) const {
  const std::size_t levels = book_->levels(), columns = book_->columns();
  std::vector<double> tables(outputs * levels);  // what a level adds to a margin
  for (std::size_t k = 0; k < outputs; ++k) {
    for (std::size_t l = 0; l < levels; ++l) {
      double sum = 0;
      for (const CodeBook::Entry& e : book_->entries(l))
        sum += e.value * kGridUnit * parameters[k * dimension_ + e.coordinate];
      tables[k * levels + l] = sum;
    }
  }
  struct Scratch {
    std::vector<double> margins, slopes;
    std::vector<std::int64_t> sums;  // of slopes by level
  };
  const unsigned workers = thread_count(threads);
  std::vector<Scratch> scratch(workers);
  const std::uint16_t* all = codes_.data();
  parallel_blocks(
      (size() + kBlockRows - 1) / kBlockRows, workers, [&](std::size_t block, unsigned thread) {
        Scratch& s = scratch[thread];
        s.sums.resize(outputs * levels);
        const std::size_t begin = block * kBlockRows, end = std::min(begin + kBlockRows, size());
        for (std::size_t first = begin; first < end; first += kCodedChunk) {
          const std::size_t count = std::min(kCodedChunk, end - first);
          const std::uint16_t* codes = all + first * columns;
          s.margins.resize(outputs * count);
          s.slopes.resize(outputs * count);
          for (std::size_t k = 0; k < outputs; ++k)
            detail::code_margins(codes, count, columns, tables.data() + k * levels,
                                 s.margins.data() + k * count);
          slopes(s.margins, first, count, s.slopes);
          bound_slopes(s.slopes, outputs, grid);
          for (std::size_t k = 0; k < outputs; ++k)
            detail::add_by_code(codes, count, columns, s.slopes.data() + k * count,
                                s.sums.data() + k * levels);
        }
        codes_.done(begin * columns, (end - begin) * columns);
        targets_.done(begin, end - begin);
      });
  std::vector<int128> total(outputs * dimension_);
  for (const Scratch& s : scratch) {
    if (s.sums.empty()) continue;
    for (std::size_t k = 0; k < outputs; ++k) {
      for (std::size_t l = 0; l < levels; ++l) {
        const std::int64_t sum = s.sums[k * levels + l];
        if (sum == 0) continue;
        for (const CodeBook::Entry& e : book_->entries(l))
          total[k * dimension_ + e.coordinate] += static_cast<int128>(sum) * e.value;
      }
    }
  }
  return total;
}

// The levels of a record have coordinates of their own, so their squares add up.
std::vector<std::uint32_t> CodedRows::private_squares(unsigned threads) const {
  std::vector<std::uint64_t> of_level(book_->levels());
  for (std::size_t l = 0; l < of_level.size(); ++l) {
    for (const CodeBook::Entry& e : book_->entries(l))
      of_level[l] += static_cast<std::uint64_t>(std::int64_t{e.value} * e.value);
  }
  constexpr int kLess = 2 * kRowBits - kSquareBits;
  const std::size_t columns = book_->columns();
  std::vector<std::uint32_t> squares(size());
  const std::uint16_t* all = codes_.data();
  const std::size_t blocks = (size() + kBlockRows - 1) / kBlockRows;
  parallel_blocks(blocks, thread_count(threads), [&](std::size_t block, unsigned) {
    const std::size_t begin = block * kBlockRows, end = std::min(begin + kBlockRows, size());
    for (std::size_t i = begin; i < end; ++i) {
      std::uint64_t square = 0;
      for (std::size_t c = 0; c < columns; ++c) square += of_level[all[i * columns + c]];
      squares[i] = static_cast<std::uint32_t>((square + (std::uint64_t{1} << kLess) - 1) >> kLess);
    }
    codes_.done(begin * columns, (end - begin) * columns);
  });
  return squares;
}

std::vector<int128> CodedRows::second_moments(double share, unsigned threads) const {
  const std::size_t columns = book_->columns();
  // Counts of pairs of coarse levels, a ≤ b; where those of a pair of columns begin.
  std::vector<std::uint32_t> sizes(columns), first;
  std::size_t cells = 0;
  for (std::size_t c = 0; c < columns; ++c)
    sizes[c] = static_cast<std::uint32_t>(book_->column(c).stands.size());
  for (std::size_t a = 0; a < columns; ++a) {
    for (std::size_t b = a; b < columns; ++b) {
      first.push_back(static_cast<std::uint32_t>(cells));
      cells += std::size_t{sizes[a]} * sizes[b];
    }
  }
  const unsigned workers = thread_count(threads);
  std::vector<std::vector<std::uint32_t>> counts(workers);  // blocks are far below 2^32 records
  std::vector<std::vector<std::uint32_t>> own(workers);
  std::vector<std::int64_t> pairs(cells);
  const std::uint16_t *all = codes_.data(), *coarse = book_->coarse().data();
  const std::size_t most = std::size_t{1} << 28;  // records between two additions to 64 bits
  for (std::size_t start = 0; start < size(); start += most) {
    const std::size_t records = std::min(most, size() - start);
    parallel_blocks((records + kBlockRows - 1) / kBlockRows, workers,
                    [&](std::size_t block, unsigned thread) {
                      counts[thread].resize(cells);
                      own[thread].resize(columns);
                      const std::size_t begin = start + block * kBlockRows;
                      const std::size_t end = std::min(begin + kBlockRows, start + records);
                      for (std::size_t i = begin; i < end; ++i) {
                        const std::uint16_t* codes = all + i * columns;
                        if (share < 1 && !is_among(detail::hash_of_codes(codes, columns), share))
                          continue;
                        for (std::size_t c = 0; c < columns; ++c) own[thread][c] = coarse[codes[c]];
                        detail::count_pairs(own[thread].data(), sizes.data(), first.data(), columns,
                                            counts[thread].data());
                      }
                      codes_.done(begin * columns, (end - begin) * columns);
                    });
    for (std::vector<std::uint32_t>& part : counts) {
      for (std::size_t i = 0; i < part.size(); ++i) pairs[i] += part[i];
      std::fill(part.begin(), part.end(), 0);
    }
  }
  // Row i of the upper triangle begins at i·p − i(i − 1)/2.
  const std::size_t p = dimension_;
  std::vector<int128> total(p * (p + 1) / 2);
  const auto add = [&](std::size_t i, std::size_t j, int128 value) {
    if (i > j) std::swap(i, j);
    total[i * p - i * (i + 1) / 2 + j] += value;
  };
  std::size_t pair = 0;
  for (std::size_t a = 0; a < columns; ++a) {
    for (std::size_t b = a; b < columns; ++b, ++pair) {
      for (std::size_t u = 0; u < sizes[a]; ++u) {
        for (std::size_t v = 0; v < sizes[b]; ++v) {
          const std::int64_t count = pairs[first[pair] + u * sizes[b] + v];
          if (count == 0) continue;
          for (const CodeBook::Entry& x : book_->entries(book_->column(a).stands[u])) {
            for (const CodeBook::Entry& y : book_->entries(book_->column(b).stands[v])) {
              if (a == b && y.coordinate < x.coordinate) continue;  // both orders are one entry
              add(x.coordinate, y.coordinate,
                  static_cast<int128>(count) * (std::int64_t{x.value} * y.value));
            }
          }
        }
      }
    }
  }
  return total;
}

}  // namespace sotto
