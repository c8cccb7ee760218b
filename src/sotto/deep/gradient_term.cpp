#include "sotto/deep/gradient_term.hpp"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sotto/deep/detail/equal_tokens.hpp"
#include "sotto/deep/detail/kernels.hpp"

namespace sotto::deep {
namespace {

// ‖a‖² and ‖b‖²; beyond them c·b may vanish or overflow as a float while c·b·a does not, and a
// record leaves this weight alone.
constexpr double kLargestInput = 0x1p80, kLargestSlope = 0x1p120;

void add_to(std::vector<double>& sum, const std::vector<double>& terms) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += terms[i];
}

// Zeros, by all threads: a table is large and little of it is written to.
void clear(torch::Tensor& table) {
  auto* const bytes = static_cast<char*>(table.data_ptr());
  at::parallel_for(0, static_cast<std::int64_t>(table.nbytes()), 1 << 18,
                   [&](std::int64_t first, std::int64_t last) {
                     std::memset(bytes + first, 0, static_cast<std::size_t>(last - first));
                   });
}

// out = beta·out + Σ_i factors[i]·gradients[i].
void sum_written(const torch::Tensor& gradients, const torch::Tensor& factors, torch::Tensor& out,
                 double beta) {
  auto flat = out.view({-1});
  if (out.scalar_type() == torch::kFloat) {
    at::addmv_out(flat, flat, gradients.t(), factors, beta, 1);
    return;
  }
  if (beta == 0) flat.zero_();
  const std::int64_t records = gradients.size(0), n = gradients.size(1);
  const float *g = gradients.data_ptr<float>(), *c = factors.data_ptr<float>();
  double* sum = flat.data_ptr<double>();
  at::parallel_for(0, n, 1024, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = 0; i < records; ++i)
      if (c[i] != 0) add_scaled(sum + first, g + i * n + first, c[i], last - first);
  });
}

// matrix += Σ (c·b) aᵀ in double, some rows at a time: only so many are turned into doubles at
// once.
void add_double_product(const torch::Tensor& a, const torch::Tensor& b,
                        const torch::Tensor& factors, torch::Tensor& matrix) {
  constexpr std::int64_t kRows = 512;
  const std::int64_t step = std::max<std::int64_t>(1, kRows / a.size(1));
  for (std::int64_t first = 0; first < a.size(0); first += step) {
    const std::int64_t count = std::min(step, a.size(0) - first);
    const auto c = factors.size(0) == 1 ? factors : factors.narrow(0, first, count);
    const auto scaled = b.narrow(0, first, count).to(torch::kDouble).mul_(c);
    const auto inputs = a.narrow(0, first, count).to(torch::kDouble);
    matrix.addmm_(scaled.view({-1, b.size(2)}).t(), inputs.view({-1, a.size(2)}));
  }
}

// matrix = Σ (c·b) aᵀ of single terms, or += : chunks of kFloatChunk rows in floats, and what they
// give in double. A record touches its own chunk only. A block of the matrix at a time, so that a
// product is still in the cache when it is added; blocks follow from the shape of the matrix alone.
void add_chunks(const torch::Tensor& a, const torch::Tensor& b, const torch::Tensor& factors,
                torch::Tensor& matrix, bool overwrite) {
  const auto scaled = b * factors;
  const std::int64_t records = a.size(0), d = a.size(1), p = b.size(1);
  const auto part_of = [](std::int64_t n, std::int64_t most) {
    return (n + (n + most - 1) / most - 1) / ((n + most - 1) / most);
  };
  const std::int64_t rows = part_of(p, 64), columns = part_of(d, 512),
                     across = (d + columns - 1) / columns;
  const float *pa = a.data_ptr<float>(), *pb = scaled.data_ptr<float>();
  double* const sum = matrix.data_ptr<double>();
  // Little work is not worth another thread.
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 21) / (rows * columns * records));
  at::parallel_for(
      0, (p + rows - 1) / rows * across, grain, [&](std::int64_t from, std::int64_t to) {
        std::vector<float> part(static_cast<std::size_t>(rows * columns));
        for (std::int64_t block = from; block < to; ++block) {
          const std::int64_t r = block / across * rows, c = block % across * columns;
          const std::int64_t high = std::min(rows, p - r), wide = std::min(columns, d - c);
          for (std::int64_t first = 0; first < records; first += kFloatChunk) {
            small_product(high, wide, std::min(kFloatChunk, records - first),
                          {pb + first * p + r, p, true}, {pa + first * d + c, d}, part.data());
            for (std::int64_t i = 0; i < high; ++i) {
              double* const out = sum + (r + i) * d + c;
              if (overwrite && first == 0) std::fill(out, out + wide, 0.0);
              add_floats(out, part.data() + i * wide, wide);
            }
          }
        }
      });
}

// matrix = beta·matrix + scaledᵀ·a in floats, in blocks that threads share without waiting for each
// other, so small that BLAS takes its kernels without packing. Blocks follow from the shapes alone.
void add_float_blocks(const torch::Tensor& a, const torch::Tensor& scaled, torch::Tensor& matrix,
                      double beta) {
  constexpr std::int64_t kHigh = 32, kWide = 64, kDeep = 256;
  const std::int64_t records = a.size(0), d = a.size(1), p = scaled.size(1);
  const std::int64_t across = (d + kWide - 1) / kWide, down = (p + kHigh - 1) / kHigh;
  const float *pa = a.data_ptr<float>(), *pb = scaled.data_ptr<float>();
  float* const sum = matrix.data_ptr<float>();
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 20) / (kHigh * kWide * records));
  at::parallel_for(0, down * across, grain, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t block = from; block < to; ++block) {
      const std::int64_t r = block / across * kHigh, c = block % across * kWide;
      for (std::int64_t first = 0; first < records; first += kDeep)
        add_product({pb + first * p + r, p}, {pa + first * d + c, d}, std::min(kHigh, p - r),
                    std::min(kWide, d - c), std::min(kDeep, records - first), sum + r * d + c, d,
                    first == 0 ? static_cast<float>(beta) : 1);
    }
  });
}

// (B, T, n) that lies in memory as (T, B, n).
bool terms_first(const torch::Tensor& x) {
  return x.size(1) > 1 && x.transpose(0, 1).is_contiguous();
}

}  // namespace

OuterTerm::OuterTerm(torch::Tensor a, torch::Tensor b, std::vector<double> a_squares)
    : a_(std::move(a)), b_(std::move(b)), a_squares_(std::move(a_squares)) {
  if (terms_first(a_) && terms_first(b_)) return;
  a_ = a_.contiguous();
  b_ = b_.contiguous();
}

void OuterTerm::add_squared_norms(std::vector<double>& squares, NormRoom& room) {
  if (a_.size(1) == 1) {
    const auto a = a_squares_.empty() ? row_squares(a_) : std::move(a_squares_);
    const auto b = row_squares(b_);
    for (std::size_t i = 0; i < squares.size(); ++i) {
      squares[i] += a[i] * b[i];
      if (!(a[i] <= kLargestInput && b[i] <= kLargestSlope))
        huge_.push_back(static_cast<std::int64_t>(i));
    }
    return;
  }
  const auto way =
      cheapest_norm({room.rows_for(a_.size(0)), a_.size(1), a_.size(2), b_.size(2)}, room);
  if (way != NormWay::keep) room.terms = std::max(room.terms, a_.size(1));
  if (way == NormWay::ghost) {
    add_to(squares, ghost_squares(a_, b_));
    return;
  }
  std::vector<double> own;
  written_ = outer_products(a_, b_, way == NormWay::keep, &own);
  add_to(squares, own);
  if (way == NormWay::keep) {
    room.take(written_.size(0), static_cast<std::size_t>(written_.size(1)) * sizeof(float));
    a_ = b_ = torch::Tensor();
  }
}

void OuterTerm::weighted_sum(const torch::Tensor& factors, torch::Tensor& out, double beta) {
  if (written_.defined()) return sum_written(written_, factors, out, beta);
  // Rows in the order of the memory, the same for both.
  const bool swap = terms_first(a_);
  const auto a = swap ? a_.transpose(0, 1) : a_, b = swap ? b_.transpose(0, 1) : b_;
  auto own = factors;
  if (!huge_.empty()) own = factors.index_fill(0, torch::tensor(huge_, torch::kLong), 0);
  const auto c = swap ? own.view({1, -1, 1}) : own.view({-1, 1, 1});
  auto matrix = out.view({b.size(2), a.size(2)});
  if (out.scalar_type() == torch::kDouble) {
    if (a_.size(1) == 1)
      return add_chunks(a.squeeze(1), b.squeeze(1), own.unsqueeze(1), matrix, beta == 0);
    if (beta == 0) matrix.zero_();
    return add_double_product(a, b, c, matrix);
  }
  const auto scaled = b * c;
  if (a_.size(1) == 1) {
    const auto flat_a = a.reshape({-1, a.size(2)}), flat_b = scaled.view({-1, b.size(2)});
    if (flat_a.is_contiguous() && flat_b.is_contiguous())
      return add_float_blocks(flat_a, flat_b, matrix, beta);
  }
  at::addmm_out(matrix, matrix, scaled.view({-1, b.size(2)}).t(), a.reshape({-1, a.size(2)}), beta,
                1);
}

torch::Tensor OuterTerm::per_sample() {
  if (!written_.defined()) written_ = outer_products(a_, b_, true, nullptr);
  return written_;
}

void OuterTerm::drop(const torch::Tensor& records) {
  for (auto* tensor : {&a_, &b_, &written_})
    if (tensor->defined()) *tensor = tensor->index_fill(0, records, 0);
}

bool OuterTerm::join(GradientTerm& other) {
  auto* same = dynamic_cast<OuterTerm*>(&other);
  if (same == nullptr || !(same->rows == rows)) return false;
  a_ = torch::cat({a_, same->a_}, 1).contiguous();
  b_ = torch::cat({b_, same->b_}, 1).contiguous();
  return true;
}

DirectTerm::DirectTerm(torch::Tensor gradients) : gradients_(gradients.contiguous()) {}

void DirectTerm::add_squared_norms(std::vector<double>& squares, NormRoom&) {
  add_to(squares, row_squares(gradients_));
}

void DirectTerm::weighted_sum(const torch::Tensor& factors, torch::Tensor& out, double beta) {
  sum_written(gradients_, factors, out, beta);
}

void DirectTerm::drop(const torch::Tensor& records) {
  gradients_ = gradients_.index_fill(0, records, 0);
}

bool DirectTerm::join(GradientTerm& other) {
  auto* same = dynamic_cast<DirectTerm*>(&other);
  if (same == nullptr || !(same->rows == rows)) return false;
  gradients_ = gradients_ + same->gradients_;
  return true;
}

GatherTerm::GatherTerm(torch::Tensor indices, torch::Tensor b, std::int64_t table_rows,
                       std::int64_t padding)
    : indices_(indices.contiguous()),
      b_(b.contiguous()),
      table_rows_(table_rows),
      padding_(padding) {}

void GatherTerm::add_squared_norms(std::vector<double>& squares, NormRoom& room) {
  const std::int64_t t = indices_.size(1), n = b_.size(2);
  room.terms = std::max(room.terms, t);
  const auto* index = indices_.data_ptr<std::int64_t>();
  const auto* b = b_.data_ptr<float>();
  for_records(indices_.size(0), [&](std::int64_t first, std::int64_t last) {
    EqualTokens equal(t);
    std::vector<double> row(static_cast<std::size_t>(n));
    for (std::int64_t i = first; i < last; ++i) {
      equal.find(index + i * t, padding_);
      double sum = 0;
      // Tokens that occur once and stand side by side are one piece of memory.
      std::int64_t from = 0, to = 0;
      for (const std::int64_t head : equal.heads()) {
        if (equal.next(head) < 0) {
          if (head != to) {
            sum += squares_of(b + (i * t + from) * n, (to - from) * n);
            from = head;
          }
          to = head + 1;
          continue;
        }
        std::fill(row.begin(), row.end(), 0);
        double mass = 0;
        for (std::int64_t s = head; s >= 0; s = equal.next(s)) {
          add_floats(row.data(), b + (i * t + s) * n, n);
          mass += std::sqrt(squares_of(b + (i * t + s) * n, n));
        }
        for (const double v : row) sum += v * v;
        sum += TermNorms::kMassShare * mass * mass;  // the table gets the terms one by one
      }
      sum += squares_of(b + (i * t + from) * n, (to - from) * n);
      squares[static_cast<std::size_t>(i)] += sum;
    }
  });
}

void GatherTerm::weighted_sum(const torch::Tensor& factors, torch::Tensor& out, double beta) {
  if (beta == 0) clear(out);
  const std::int64_t records = indices_.size(0), t = indices_.size(1), n = b_.size(2);
  const Gathered from{indices_.data_ptr<std::int64_t>(),
                      b_.data_ptr<float>(),
                      factors.data_ptr<float>(),
                      records,
                      t,
                      n,
                      padding_};
  // Each thread has its own columns, so no two write to one place.
  at::parallel_for(0, n, std::max<std::int64_t>(16, 65536 / std::max<std::int64_t>(records * t, 1)),
                   [&](std::int64_t first, std::int64_t last) {
                     if (out.scalar_type() == torch::kDouble)
                       add_gathered(from, first, last, out.data_ptr<double>());
                     else
                       add_gathered(from, first, last, out.data_ptr<float>());
                   });
}

torch::Tensor GatherTerm::per_sample() {
  const std::int64_t records = indices_.size(0), n = b_.size(2);
  auto all = torch::zeros({records, table_rows_, n}, b_.options());
  const auto kept = b_ * indices_.ne(padding_).unsqueeze(2);
  all.scatter_add_(1, indices_.unsqueeze(2).expand({-1, -1, n}), kept);
  return all.view({records, -1});
}

void GatherTerm::drop(const torch::Tensor& records) { b_ = b_.index_fill(0, records, 0); }

bool GatherTerm::join(GradientTerm& other) {
  auto* same = dynamic_cast<GatherTerm*>(&other);
  if (same == nullptr || !(same->rows == rows) || same->padding_ != padding_) return false;
  indices_ = torch::cat({indices_, same->indices_}, 1);
  b_ = torch::cat({b_, same->b_}, 1);
  return true;
}

std::unique_ptr<GradientTerm> bias_term(const torch::Tensor& b) {
  return std::make_unique<DirectTerm>(b.size(1) == 1 ? b.reshape({b.size(0), b.size(2)})
                                                     : b.sum(1));
}

}  // namespace sotto::deep
