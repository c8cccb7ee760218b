// A table from numbers in memory: rows of a matrix, and one target a row.
//
// A view is a pointer, the size and the two steps between neighbours, so that spans, Eigen matrices
// and tensors are read where they are:
//   MatrixView{x.data(), rows, columns, columns, 1}                          row by row
//   MatrixView{X.data(), X.rows(), X.cols(), X.rowStride(), X.colStride()}   Eigen
//   MatrixView{t.data_ptr<double>(), t.size(0), t.size(1), t.stride(0), t.stride(1)}   LibTorch
//
// The schema says what the numbers are, as for a file: columns are its features in their order;
// a numeric cell is clamped to its bounds, a boolean cell is 0 or 1, a categorical one the position
// of its value in the list. NaN is a missing cell. Nothing is learnt from the numbers.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sotto/data/table.hpp"

namespace sotto {

struct MatrixView {
  const double* values = nullptr;
  std::size_t rows = 0, columns = 0;
  std::ptrdiff_t row_step = 0, column_step = 1;

  double at(std::size_t row, std::size_t column) const {
    return values[static_cast<std::ptrdiff_t>(row) * row_step +
                  static_cast<std::ptrdiff_t>(column) * column_step];
  }
};

// The schema of unnamed numbers: x1, x2, … within these bounds, and a target y that is a number
// within bounds or one of so many classes, called 0, 1, …
struct MatrixFacts {
  std::vector<Bounds> bounds;  // of the columns
  std::optional<Bounds> target_bounds = {};
  std::size_t classes = 0;  // instead of target_bounds; 0 with none of both: no target
  Relation relation = Relation::add_remove;
  std::uint64_t rows = 0;  // declared and public
};
Schema matrix_schema(const MatrixFacts& facts);

// targets: one for each row, or none at all for prediction. Throws InvalidArgument for other sizes,
// DataError for a cell that the schema refuses, Unsupported for a schema with users or groups.
Table matrix_table(const Encoder& encoder, const MatrixView& matrix,
                   std::span<const double> targets = {});

}  // namespace sotto
