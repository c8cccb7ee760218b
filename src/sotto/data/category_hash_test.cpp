#include "sotto/data/category_hash.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/data/draft.hpp"
#include "sotto/data/encoder.hpp"

namespace sotto::category_hash_test {

using ::testing::HasSubstr;

Schema with_zip(const std::string& lines) {
  return Schema::from_toml(
      "relation = \"add_remove\"\nmissing_values = [\"?\"]\n[columns.zip]\ntype = "
      "\"categorical\"\n" +
      lines);
}

std::string error_of(const std::string& lines) {
  try {
    with_zip(lines);
  } catch (const DataError& error) {
    return std::string(error.what()) + " | " + error.hint();
  }
  return "no error";
}

ColumnEncoder reader(const std::string& lines) {
  return Encoder(with_zip(lines)).features().front();
}

std::string refusal(const ColumnEncoder& column, std::string_view cell) {
  try {
    column.index(cell);
  } catch (const CellRefused& refused) {
    return refused.what;
  }
  return "read";
}

// From the reference implementation of the authors: key 00 01 … 0f, texts 00 01 02 ….
TEST(Siphash, GivesTheKnownAnswers) {
  const std::uint64_t first = 0x0706050403020100, second = 0x0f0e0d0c0b0a0908;
  std::string text;
  EXPECT_EQ(siphash(text, first, second), 0x726fdb47dd0e0e31U);
  for (char c = 0; c < 8; ++c) text += c;
  EXPECT_EQ(siphash(text, first, second), 0x93f5f5799a932462U);
  for (char c = 8; c < 15; ++c) text += c;
  EXPECT_EQ(siphash(text, first, second), 0xa129ca6149be45e5U);
}

TEST(CategoryBuckets, AreFilledEvenlyAndAnewByAnotherKey) {
  const CategoryBuckets one({.buckets = 50, .key = "one"}), two({.buckets = 50, .key = "two"});
  std::vector<double> counts(50);
  int alike = 0;
  for (int i = 0; i < 50000; ++i) {
    const std::string value = "value " + std::to_string(i);
    const std::uint32_t bucket = one.of(value);
    ASSERT_LT(bucket, 50U);
    EXPECT_EQ(bucket, one.of(value));
    ++counts[bucket];
    alike += bucket == two.of(value) ? 1 : 0;
  }
  double chi_square = 0;
  for (const double c : counts) chi_square += (c - 1000) * (c - 1000) / 1000;
  EXPECT_LT(chi_square, 49 + 5 * std::sqrt(98.0));  // fixed texts: the same figure in every run
  EXPECT_NEAR(alike, 1000, 160);
}

TEST(HashedColumn, HasACoordinateForEachBucketAndOneForMissingCells) {
  const Encoder encoder(with_zip("buckets = 10\nkey = \"k\"\n"));
  EXPECT_EQ(encoder.width(), 11U);
  EXPECT_EQ(encoder.feature_names().front(), "zip=#0");
  EXPECT_EQ(encoder.feature_names().back(), "zip=other");
  EXPECT_LE(encoder.norm_bound(), 1.0000001);
  const ColumnEncoder& column = encoder.features().front();
  EXPECT_EQ(column.index("10115"), column.index("  10115 "));
  EXPECT_LT(column.index("never seen before"), 10U);
  EXPECT_EQ(column.index(""), 10U);
  EXPECT_EQ(column.index("?"), 10U);
  EXPECT_TRUE(column.is_missing(" ? "));
  // A bucket's own name is a value like any.
  EXPECT_EQ(column.index("#3"), CategoryBuckets({.buckets = 10, .key = "k"}).of("#3"));
}

TEST(HashedColumn, ReadsNumbersInMemoryAsInAFile) {
  const ColumnEncoder column = reader("buckets = 1000\nkey = \"k\"\n");
  EXPECT_EQ(column.index(10115.0), column.index("10115"));
  EXPECT_EQ(column.index(0.5), column.index("0.5"));
  EXPECT_EQ(column.index(std::nan("")), 1000U);
}

TEST(HashedColumn, RefusesMissingCellsWhereThatIsDeclared) {
  const ColumnEncoder column = reader("buckets = 10\nmissing = \"refuse\"\n");
  EXPECT_EQ(column.labels().size(), 10U);
  EXPECT_EQ(refusal(column, "anything"), "read");
  EXPECT_THAT(refusal(column, "?"), HasSubstr("missing"));
}

TEST(HashedColumn, IsDeclaredWithBucketsAndAKey) {
  const Schema schema = with_zip("buckets = 64\nkey = \"a \\\"quoted\\\" key\"\n");
  EXPECT_EQ(schema.column("zip").category, (CategoryHash{64, "a \"quoted\" key"}));
  EXPECT_EQ(Schema::from_toml(schema.to_toml()), schema);
  EXPECT_EQ(schema_from_json(to_json(schema)), schema);
  EXPECT_EQ(with_zip("buckets = 64\n").column("zip").category.key, "zip");
  const Schema many = Schema::from_toml(
      "relation = \"add_remove\"\n[columns.\"c{1..3}\"]\ntype = \"categorical\"\nbuckets = 4\n");
  EXPECT_EQ(many.column("c3").category, (CategoryHash{4, "c3"}));
  EXPECT_NE(Encoder(many).features()[0].index("a") * 16 + Encoder(many).features()[0].index("b"),
            Encoder(many).features()[1].index("a") * 16 + Encoder(many).features()[1].index("b"));
}

TEST(HashedColumn, BadDeclarationsAreRefused) {
  EXPECT_THAT(error_of(""), HasSubstr("has no values"));
  EXPECT_THAT(error_of(""), HasSubstr("buckets"));
  EXPECT_THAT(error_of("buckets = 4\nvalues = [\"a\"]\n"), HasSubstr("beside values"));
  EXPECT_THAT(error_of("buckets = 1\n"), HasSubstr("from 2 to 65535"));
  EXPECT_THAT(error_of("buckets = 65536\n"), HasSubstr("from 2 to 65535"));
  EXPECT_THAT(error_of("buckets = \"many\"\n"), HasSubstr("whole number"));
  EXPECT_THAT(error_of("buckets = 4\nkey = \"\"\n"), HasSubstr("1 to 256 bytes"));
  EXPECT_THAT(error_of("buckets = 4\nkey = 7\n"), HasSubstr("must be a string"));
  EXPECT_THAT(error_of("values = [\"a\"]\nkey = \"k\"\n"), HasSubstr("with buckets only"));
  EXPECT_THAT(error_of("buckets = 4\nwords = 2\n"), HasSubstr("text columns only"));
  for (const char* role : {"target", "group"})
    EXPECT_THAT(error_of(std::string("buckets = 4\nrole = \"") + role + "\"\n"),
                HasSubstr("list its values"));
  EXPECT_THROW(with_zip("buckets = 4\n").with_target("zip"), DataError);
  EXPECT_THROW(Encoder(with_zip("buckets = 4\n")).group("zip"), DataError);
}

TEST(HashedColumn, IsDraftedWithoutAnyValue) {
  const std::vector<std::string> names = {"zip", "y"};
  const DraftOptions options{
      .rows = 10, .target = "y", .types = {{"zip", ColumnType::categorical}}, .hashed = {"zip"}};
  const std::string draft = draft_schema(names, options);
  EXPECT_THAT(draft, HasSubstr("type = \"categorical\"\nbuckets = 256\nkey = \"zip\"\n"));
  DraftOptions of_target = options;
  of_target.target = "zip";
  EXPECT_THROW(draft_schema(names, of_target), DataError);
}

}  // namespace sotto::category_hash_test
