#include "sotto/data/matrix_table.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

void check(const Encoder& encoder, const MatrixView& matrix, std::span<const double> targets) {
  const Schema& schema = encoder.schema();
  if (schema.unit == Unit::user || !encoder.groups().empty()) {
    throw Unsupported("a matrix has no column for users or groups",
                      "write the rows to a file, or leave users and groups out of the schema");
  }
  if (matrix.columns != encoder.inputs().size()) {
    throw InvalidArgument(fmt::format("the matrix has {} columns; the schema has {} features",
                                      matrix.columns, encoder.inputs().size()));
  }
  if (!targets.empty() && targets.size() != matrix.rows) {
    throw InvalidArgument(
        fmt::format("there are {} targets for {} rows", targets.size(), matrix.rows));
  }
  if (!targets.empty() && count_is_public(schema.relation) && schema.rows &&
      *schema.rows != matrix.rows) {
    throw DataError(
        fmt::format("the matrix has {} rows; the schema declares {}", matrix.rows, *schema.rows),
        "the number of rows is public under this relation: declare it as it is");
  }
}

[[noreturn]] void refuse(const CellRefused& refused, const ColumnSchema& column, std::size_t row) {
  throw DataError(fmt::format("row {}, column '{}': {}", row + 1, column.name, refused.what),
                  refused.hint);
}

// What a nulled row leaves: nothing in any cell.
bool is_null(const MatrixView& matrix, std::span<const double> targets, std::size_t row) {
  for (std::size_t c = 0; c < matrix.columns; ++c)
    if (std::isfinite(matrix.at(row, c))) return false;
  return targets.empty() || !std::isfinite(targets[row]);
}

}  // namespace

Schema matrix_schema(const MatrixFacts& facts) {
  Schema schema;
  schema.relation = facts.relation;
  if (facts.rows > 0) schema.rows = facts.rows;
  for (std::size_t c = 0; c < facts.bounds.size(); ++c) {
    ColumnSchema column;
    column.name = fmt::format("x{}", c + 1);
    column.bounds = facts.bounds[c];
    column.missing = Missing::midpoint;
    schema.columns.push_back(std::move(column));
  }
  if (!facts.target_bounds && facts.classes == 0) return schema;
  ColumnSchema target;
  target.name = "y";
  target.role = Role::target;
  target.bounds = facts.target_bounds;
  if (!facts.target_bounds) {
    target.type = ColumnType::categorical;
    for (std::size_t k = 0; k < facts.classes; ++k) target.values.push_back(std::to_string(k));
  }
  schema.columns.push_back(std::move(target));
  return schema;
}

Table matrix_table(const Encoder& encoder, const MatrixView& matrix,
                   std::span<const double> targets) {
  check(encoder, matrix, targets);
  const bool nulls = encoder.schema().relation == Relation::zero_out && !targets.empty();
  Table table(encoder);
  table.reserve(matrix.rows);
  std::vector<double> cells(matrix.columns);
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    const Table::Sink sink = table.add_row();
    if (nulls && is_null(matrix, targets, row)) {
      sink.factor = NAN;
      table.add_target(0);
      continue;
    }
    for (std::size_t c = 0; c < matrix.columns; ++c) cells[c] = matrix.at(row, c);
    std::size_t column = 0;
    try {
      sink.factor = encoder.encode(cells, sink.dense, sink.hot, column);
    } catch (const CellRefused& refused) {
      refuse(refused, encoder.inputs()[column].column, row);
    }
    if (targets.empty()) continue;
    try {
      table.add_target(encoder.encode_target(targets[row]));
    } catch (const CellRefused& refused) {
      refuse(refused, encoder.target().column(), row);
    }
  }
  return table;
}

}  // namespace sotto
