#include "sotto/data/matrix_table.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/data/temporary_file_test.hpp"

namespace sotto::matrix_table_test {

Schema schema_of(const std::string& first_lines) {
  return Schema::from_toml(first_lines +
                           "[columns.age]\ntype = \"numeric\"\nbounds = [0, 100]\n"
                           "missing = \"midpoint\"\n"
                           "[columns.city]\ntype = \"categorical\"\nvalues = [\"a\", \"b\"]\n"
                           "missing = \"other\"\n"
                           "[columns.smoker]\ntype = \"boolean\"\nmissing = \"midpoint\"\n"
                           "[columns.ill]\ntype = \"boolean\"\nrole = \"target\"\n");
}

// Row by row: age, city, smoker.
const std::vector<double> kCells = {30, 0, 1, -5, 1, 0, 250, NAN, NAN, NAN, 7, 1};
const std::vector<double> kTargets = {1, 0, 1, 0};
const MatrixView kMatrix{kCells.data(), 4, 3, 3, 1};

TEST(MatrixTable, IsTheTableOfTheSameFile) {
  const Encoder encoder(schema_of("feature_norm = 1.2\n"));
  const TemporaryFile file("age,city,smoker,ill\n30,a,1,1\n-5,b,0,0\n250,,,1\n,elsewhere,1,0\n");
  const Table read = load_table(file.path(), encoder);
  const Table made = matrix_table(encoder, kMatrix, kTargets);
  ASSERT_EQ(made.rows(), read.rows());
  EXPECT_EQ(made.matrix(), read.matrix());
  EXPECT_EQ(std::vector(made.targets().begin(), made.targets().end()),
            std::vector(read.targets().begin(), read.targets().end()));
}

TEST(MatrixTable, ReadsColumnsInAnyLayout) {
  const Encoder encoder(schema_of(""));
  std::vector<double> by_columns;
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t r = 0; r < 4; ++r) by_columns.push_back(kMatrix.at(r, c));
  EXPECT_EQ(matrix_table(encoder, {by_columns.data(), 4, 3, 1, 4}).matrix(),
            matrix_table(encoder, kMatrix).matrix());
}

TEST(MatrixTable, ANulledRowIsNullUnderZeroOut) {
  const Encoder encoder(schema_of("relation = \"zero_out\"\nrows = 2\n"));
  const std::vector<double> cells = {NAN, NAN, NAN, 30, 0, 1}, targets = {NAN, 1};
  const Table table = matrix_table(encoder, {cells.data(), 2, 3, 3, 1}, targets);
  EXPECT_TRUE(table.is_null(0));
  EXPECT_FALSE(table.is_null(1));
}

TEST(MatrixTable, RefusesWhatTheSchemaRefuses) {
  const Encoder encoder(schema_of(""));
  const auto with_target = [&](double target) {
    const std::vector<double> targets = {1, 0, target, 0};
    return matrix_table(encoder, kMatrix, targets);
  };
  EXPECT_THROW(with_target(2), DataError);
  EXPECT_THROW(with_target(NAN), DataError);
  EXPECT_THROW(matrix_table(encoder, kMatrix, std::vector<double>{1}), InvalidArgument);
  EXPECT_THROW(matrix_table(encoder, {kCells.data(), 6, 2, 2, 1}), InvalidArgument);
  const Encoder counted(schema_of("relation = \"replace_one\"\nrows = 5\n"));
  EXPECT_THROW(matrix_table(counted, kMatrix, kTargets), DataError);
}

TEST(MatrixTable, ASchemaFollowsFromBoundsAndClasses) {
  const Schema schema =
      matrix_schema({.bounds = {Bounds(0, 1), Bounds(-1, 1)}, .classes = 3, .rows = 100});
  EXPECT_EQ(Schema::from_toml(schema.to_toml()), schema) << "it is a schema like any";
  EXPECT_EQ(schema.target()->values.size(), 3u);
}

}  // namespace sotto::matrix_table_test
