// Records as points of a ball about a public centre, on an integer grid.
//
// What       EncodedRows: encoded records, kept as they came, or where they are in memory already
//            only looked at. BallRows: the same records about a
//            centre, clipped to a radius and divided by it, as whole multiples of 2^−16.
// Guarantee  ‖y‖₂ ≤ 1 exactly for every point of a BallRows, hence ‖Σ y‖ moves by at most 1 between
//            add_remove neighbours, ‖Σ y yᵀ‖_F by at most 1, as statements about the program. A
//            null record is in neither.
// Method     Truncated towards 0; the norm is checked on the integers. Sums of 4096 points or of
//            their products are exact in double precision (2^12·2^16 and 2^12·2^32 steps), and are
//            added as 128-bit integers: the same whatever the order and the threads.
// Numerics   Beyond a fixed size rows wait in a temporary file (row_store.hpp): memory does not
//            grow with their number.
// Reference  docs/math/kmeans.md, docs/math/pca.md.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "sotto/core/rng.hpp"
#include "sotto/learning/source.hpp"
#include "sotto/models/linear/row_store.hpp"

namespace sotto {

inline constexpr int kBallBits = 16;
inline constexpr double kBallSteps = 1 << kBallBits;                // the radius
inline constexpr std::size_t kBallBlock = 4096;                     // rows whose sums are exact
inline constexpr std::size_t kBallMemory = std::size_t{128} << 20;  // bytes of rows in memory

class EncodedRows {
 public:
  // One pass over the source, which must outlive this.
  EncodedRows(Source& source, const Encoder& encoder);

  std::size_t size() const { return table_ != nullptr ? table_->rows() : rows_.size() / width_; }
  std::size_t width() const { return width_; }
  // room: where a row of a table in memory is written out.
  const float* row(std::size_t i, std::vector<float>& room) const {
    if (table_ == nullptr) return rows_.data() + i * width_;
    room.resize(width_);
    table_->row(i, room);
    return room.data();
  }

  // add(first, count, sums) for blocks of rows, by all threads, each into sums of its own.
  using AddBlock =
      std::function<void(std::size_t first, std::size_t count, std::span<int128> sums)>;
  std::vector<int128> sum(std::size_t size, const AddBlock& add) const;
  // How many records are how far from a centre: cell[bin_of(‖x − centre‖)].
  std::vector<int128> distances(std::span<const double> centre, std::size_t bins,
                                const std::function<std::size_t(double)>& bin_of) const;

  void done(std::size_t first, std::size_t count) const {
    if (table_ == nullptr) rows_.done(first * width_, count * width_);
  }

 private:
  std::size_t width_;
  const Table* table_ = nullptr;
  RowStore<float> rows_{kBallMemory};
};

// One record in the ball, in steps; returns nothing outside of it.
void to_ball(const float* row, std::span<const double> centre, double radius,
             std::span<float> steps);

class BallRows {
 public:
  BallRows(const EncodedRows& rows, std::span<const double> centre, double radius);

  std::size_t size() const { return rows_.size() / width_; }
  std::size_t width() const { return width_; }
  const float* row(std::size_t i) const { return rows_.data() + i * width_; }
  void done(std::size_t first, std::size_t count) const {
    rows_.done(first * width_, count * width_);
  }

 private:
  std::size_t width_;
  RowStore<float> rows_{kBallMemory};
};

}  // namespace sotto
