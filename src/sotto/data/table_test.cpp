#include "sotto/data/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "sotto/core/error.hpp"
#include "sotto/data/npy.hpp"
#include "temporary_file_test.hpp"

namespace sotto::table_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kSchema = R"(relation = "add_remove"
rows = 3
[columns.x]
type = "numeric"
bounds = [0, 10]
[columns.c]
type = "categorical"
values = ["a", "b"]
[columns.g]
type = "boolean"
role = "group"
[columns.y]
type = "categorical"
role = "target"
values = ["no", "yes"]
)";
constexpr const char* kRows = "0,a,1,yes\n10,z,0,no\n5,b,1,yes\n";

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return std::string(error.what()) + " | " + error.hint();
  }
  return "no error";
}

// Records of numbers alone take a way of their own.
TEST(Table, RecordsOfNumbersAreEncodedToTheBitAsTheirColumnsDo) {
  for (const char* scaling : {"", "scaling = \"unit\"\n"}) {
    const Encoder encoder(
        Schema::from_toml("relation = \"add_remove\"\nrows = 500\n" + std::string(scaling) +
                          "[columns.a]\ntype = \"numeric\"\nbounds = [-4, 4]\n"
                          "[columns.b]\ntype = \"numeric\"\nbounds = [0.1, 0.7]\n"));
    std::mt19937 random(3);
    std::normal_distribution<double> normal(0, 3);
    std::string text = "a,b\n-4,0.1\n4,0.7\n-0,.5\n";
    for (int i = 0; i < 500; ++i)
      text +=
          std::to_string(normal(random)) + "," + std::to_string(0.4 + normal(random) / 9) + "\n";
    const TemporaryFile file(text);
    const Table table = load_table(file.path(), encoder, {.csv = {}, .targets = false});
    ASSERT_EQ(table.rows(), 503U);
    std::size_t at = text.find('\n') + 1;
    for (std::size_t i = 0; i < table.rows(); ++i) {
      const std::size_t comma = text.find(',', at), end = text.find('\n', at);
      EXPECT_EQ(table.dense(i)[0], encoder.features()[0].value(text.substr(at, comma - at)));
      EXPECT_EQ(table.dense(i)[1],
                encoder.features()[1].value(text.substr(comma + 1, end - comma - 1)));
      at = end + 1;
    }
  }
}

TEST(Table, LoadsAFile) {
  const Encoder encoder(Schema::from_toml(kSchema));
  const TemporaryFile file(std::string("y,x,unused,c,g\nyes,0,?,a,1\nno,10,?,z,0\nyes,5,?,b,1\n"));
  const Table table =
      load_table(file.path(), encoder, {.csv = {}, .targets = true, .extra_groups = {"c"}});
  ASSERT_EQ(table.rows(), 3U);
  ASSERT_EQ(table.width(), 4U);
  EXPECT_THAT(table.matrix(), ElementsAre(-1, 1, 0, 0, /**/ 1, 0, 0, 1, /**/ 0, 0, 1, 0));
  EXPECT_THAT(table.targets(), ElementsAre(1, 0, 1));
  ASSERT_EQ(table.group_columns(), 2U);
  EXPECT_THAT(table.groups(0), ElementsAre(1, 0, 1));
  EXPECT_THAT(table.groups(1), ElementsAre(0, 2, 1));
}

TEST(Table, WithoutAHeaderColumnsComeInSchemaOrder) {
  const Encoder encoder(Schema::from_toml(kSchema));
  const TemporaryFile file(kRows);
  const Table table = load_table(file.path(), encoder, {.csv = {.header = false}});
  EXPECT_THAT(table.matrix(), ElementsAre(-1, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0));
  const TemporaryFile narrow("1,a\n");
  EXPECT_THAT(error_of([&] { load_table(narrow.path(), encoder, {.csv = {.header = false}}); }),
              HasSubstr("has 2 columns; 4 names are declared"));
}

constexpr const char* kNumbers = R"(relation = "add_remove"
rows = 3
[columns.x]
type = "numeric"
bounds = [0, 10]
missing = "midpoint"
[columns.y]
type = "categorical"
role = "target"
values = ["0", "3"]
[columns.c]
type = "categorical"
values = ["1", "2"]
)";

TEST(Table, AnArrayIsReadLikeAFileWithoutAHeader) {
  const Encoder encoder(Schema::from_toml(kNumbers));
  const TemporaryFile array("");
  write_npy(array.path(), {{3, 3}, {0, 3, 1, 12.5, 0, 7, std::nan(""), 3, 2}});
  const Table table = load_table(array.path(), encoder);
  EXPECT_THAT(table.matrix(), ElementsAre(-1, 1, 0, 0, /**/ 1, 0, 0, 1, /**/ 0, 0, 1, 0));
  EXPECT_THAT(table.targets(), ElementsAre(1, 0, 1));

  const TemporaryFile idx(
      std::string("\0\0\x08\x02\0\0\0\x02\0\0\0\x03\x05\0\x01\x0a\x03\x02", 18));
  const Table bytes = load_table(idx.path(), encoder);
  EXPECT_THAT(bytes.matrix(), ElementsAre(0, 1, 0, 0, /**/ 1, 0, 1, 0));
  EXPECT_THAT(bytes.targets(), ElementsAre(0, 1));
}

TEST(Table, AnArrayForPredictionMayLackTheTarget) {
  const Encoder encoder(Schema::from_toml(kNumbers));
  const TemporaryFile array("");
  write_npy(array.path(), {{2, 2}, {10, 2, 0, 1}});
  EXPECT_THAT(load_table(array.path(), encoder, {.csv = {}, .targets = false}).matrix(),
              ElementsAre(1, 0, 1, 0, /**/ -1, 1, 0, 0));
  EXPECT_THAT(error_of([&] { load_table(array.path(), encoder); }),
              HasSubstr("has 2 columns; 3 names are declared"));
  write_npy(array.path(), {{0, 3}, {}});
  EXPECT_EQ(load_table(array.path(), encoder).rows(), 0U);
  write_npy(array.path(), {{3, 0}, {}});
  EXPECT_THAT(error_of([&] { load_table(array.path(), encoder); }), HasSubstr("holds no column"));
}

TEST(Table, PredictionNeedsNoTarget) {
  const Encoder encoder(Schema::from_toml(kSchema));
  const TemporaryFile file("x,c,g\n1,a,0\n");
  EXPECT_EQ(load_table(file.path(), encoder, {.csv = {}, .targets = false}).rows(), 1U);
  EXPECT_THAT(error_of([&] { load_table(file.path(), encoder); }), HasSubstr("no column 'y'"));
}

TEST(Table, RefusesACellByColumnAndRow) {
  const Encoder encoder(Schema::from_toml(kSchema));
  const auto error = [&](const std::string& rows) {
    const TemporaryFile file("x,c,g,y\n1,a,0,no\n" + rows);
    return error_of([&] { load_table(file.path(), encoder); });
  };
  EXPECT_THAT(error("secret,a,0,no\n"),
              HasSubstr("row 2 (line 3), column 'x': the cell is not a number"));
  EXPECT_THAT(error("1,a,secret,no\n"),
              HasSubstr("row 2 (line 3), column 'g': the cell is neither"));
  EXPECT_THAT(error("1,a,0,secret\n"),
              HasSubstr("row 2 (line 3), column 'y': the cell is not one of the declared"));
  EXPECT_EQ(error("1,a,0,secret\n").find("secret"), std::string::npos);
  EXPECT_THAT(error("1,a,0\n"), HasSubstr("row 2 (line 3): the record has 3 fields"));
}

TEST(Table, APublicNumberOfRowsMustBeRight) {
  std::string replaced = kSchema;
  replaced.replace(replaced.find("add_remove"), 10, "replace_one");
  const TemporaryFile three(std::string("x,c,g,y\n") + kRows),
      four(std::string("x,c,g,y\n") + kRows + "1,a,0,no\n");
  const Encoder public_count(Schema::from_toml(replaced)),
      private_count(Schema::from_toml(kSchema));
  EXPECT_EQ(load_table(three.path(), public_count).rows(), 3U);
  EXPECT_THAT(error_of([&] { load_table(four.path(), public_count); }),
              HasSubstr("has 4 rows; the schema declares 3"));
  EXPECT_EQ(load_table(four.path(), private_count).rows(),
            4U);  // n is private: no check, no message
}

TEST(Table, HeaderOnlyGivesAnEmptyTable) {
  const Encoder encoder(Schema::from_toml(kSchema));
  const TemporaryFile file("x,c,g,y\n");
  EXPECT_EQ(load_table(file.path(), encoder).rows(), 0U);
}

std::string many_rows(std::size_t rows, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string text = "x,c,g,y\n";
  for (std::size_t i = 0; i < rows; ++i) {
    text += std::to_string(static_cast<double>(random() % 1000) / 77) + ",\"" +
            "abz"[random() % 3] + "\"," + (random() % 2 ? "1," : "0,") +
            (random() % 2 ? "yes\n" : "no\n");
  }
  return text;
}

TEST(Table, ThreadsAndBlocksDoNotChangeTheResult) {
  const Encoder encoder(Schema::from_toml(kSchema));
  const TemporaryFile file(many_rows(20'000, 1));
  const Table expected = load_table(file.path(), encoder, {.csv = {.threads = 1}});
  ASSERT_EQ(expected.rows(), 20'000U);
  const Table threaded =
      load_table(file.path(), encoder, {.csv = {.threads = 4, .block_bytes = 1000}});
  EXPECT_EQ(threaded.matrix(), expected.matrix());
  EXPECT_TRUE(std::ranges::equal(threaded.targets(), expected.targets()));
  for (const std::size_t block_rows : {1U, 7U, 1000U, 20'000U, 100'000U}) {
    Table joined(encoder);
    for_each_block(file.path(), encoder, block_rows, [&](const Table& block) {
      EXPECT_LE(block.rows(), block_rows);
      EXPECT_GT(block.rows(), 0U);
      joined.append(block);
    });
    ASSERT_EQ(joined.matrix(), expected.matrix());
    ASSERT_TRUE(std::ranges::equal(joined.groups(0), expected.groups(0)));
  }
}

// --- user level ---

constexpr const char* kUserSchema = R"(relation = "add_remove"
max_contributions = 3
[columns.user]
type = "text"
role = "user"
[columns.x]
type = "numeric"
bounds = [0, 1000]
)";

// The kept records, as a multiset of (scaled) values.
std::multiset<double> kept(const std::vector<std::pair<std::string, int>>& records) {
  std::string text = "user,x\n";
  for (const auto& [user, x] : records) text += user + "," + std::to_string(x) + "\n";
  const TemporaryFile file(text);
  const Encoder encoder(Schema::from_toml(kUserSchema));
  const Table table = load_table(file.path(), encoder, {.csv = {.threads = 2, .block_bytes = 64}});
  const std::vector<double> values = table.matrix();
  return {values.begin(), values.end()};
}

TEST(Table, KeepsAtMostMaxContributionsOfAUser) {
  std::vector<std::pair<std::string, int>> records;
  for (int i = 0; i < 100; ++i) records.emplace_back("u" + std::to_string(i % 7), i);
  EXPECT_EQ(kept(records).size(), 21U);
  EXPECT_EQ(kept({{"a", 1}, {"b", 2}, {"a", 1}}).size(), 3U);
}

TEST(Table, KeptRecordsAreAFunctionOfTheUsersRecordsAsASet) {
  std::mt19937_64 random(9);
  std::vector<std::pair<std::string, int>> records;
  for (int i = 0; i < 200; ++i)
    records.emplace_back("u" + std::to_string(i % 9), static_cast<int>(random() % 40));
  const auto expected = kept(records);
  for (int trial = 0; trial < 10; ++trial) {
    std::shuffle(records.begin(), records.end(), random);
    EXPECT_EQ(kept(records), expected);
  }
}

TEST(Table, RemovingAUserRemovesOnlyThatUsersKeptRecords) {
  std::vector<std::pair<std::string, int>> records, others, own;
  for (int i = 0; i < 200; ++i) records.emplace_back("u" + std::to_string(i % 9), i);
  for (const auto& r : records) (r.first == "u4" ? own : others).push_back(r);
  auto joined = kept(others);
  joined.merge(kept(own));
  EXPECT_EQ(kept(records), joined);
  EXPECT_EQ(kept(own).size(), 3U);
}

TEST(Table, UserLevelStreamsLikeItLoads) {
  std::string text = "user,x\n";
  for (int i = 0; i < 500; ++i)
    text += "u" + std::to_string(i * i % 31) + "," + std::to_string(i) + "\n";
  const TemporaryFile file(text);
  const Encoder encoder(Schema::from_toml(kUserSchema));
  Table joined(encoder);
  for_each_block(file.path(), encoder, 10, [&](const Table& block) { joined.append(block); });
  EXPECT_EQ(joined.matrix(), load_table(file.path(), encoder).matrix());
}

TEST(Table, MappedPartsAreThoseThatLoadGives) {
  std::string text = "user,x\n";
  for (int i = 0; i < 3000; ++i)
    text += "u" + std::to_string(i % 400) + "," + std::to_string(i % 90) + "\n";
  const TemporaryFile file(text);
  const std::string by_record =
      "relation = \"add_remove\"\n[columns.x]\ntype = \"numeric\"\nbounds = [0, 100]\n";
  for (const std::string& schema : {std::string(kUserSchema), by_record}) {
    const Encoder encoder(Schema::from_toml(schema));
    const std::vector<double> expected = load_table(file.path(), encoder).matrix();
    for (const unsigned threads : {1U, 4U}) {
      std::vector<double> joined;
      map_table<std::vector<double>>(
          file.path(), encoder, [](const Table& part) { return part.matrix(); },
          [&](std::vector<double>&& part) {
            joined.insert(joined.end(), part.begin(), part.end());
          },
          {.csv = {.threads = threads, .block_bytes = 512}});
      EXPECT_EQ(joined, expected);
    }
  }
}

TEST(Table, EveryRecordNeedsItsUser) {
  const TemporaryFile file("user,x\na,1\n,2\n");
  const Encoder encoder(Schema::from_toml(kUserSchema));
  EXPECT_THAT(error_of([&] { load_table(file.path(), encoder); }),
              HasSubstr("row 2 (line 3), column 'user': the cell is empty"));
}

TEST(Table, EveryRowGetsItsPredictionWhoeverItsUserIs) {
  std::string text = "x,label\n";
  for (int i = 0; i < 50; ++i) text += std::to_string(i) + ",\"r \"\"" + std::to_string(i) + "\"\n";
  const TemporaryFile file(text);
  const Encoder encoder(Schema::from_toml(kUserSchema));
  std::vector<std::string> ids;
  for_each_block(
      file.path(), encoder, 7,
      [&](const Table& block) { ids.insert(ids.end(), block.ids().begin(), block.ids().end()); },
      {.csv = {.threads = 2, .block_bytes = 32}, .targets = false, .id = "label"});
  ASSERT_EQ(ids.size(), 50U);
  EXPECT_EQ(ids[49], "r \"49");
}

// Records of short numbers take a way of their own: the same numbers with spaces around them, which
// do not take it, are encoded to the same bits, and what is no number is refused at the same place.
TEST(Table, ShortNumbersAreReadAsAnyOthers) {
  constexpr const char* kThreeNumbers = R"(relation = "zero_out"
rows = 200
[columns.a]
type = "numeric"
bounds = [-3, 7]
missing = "midpoint"
[columns.b]
type = "numeric"
bounds = [0, 0.3]
[columns.y]
type = "numeric"
role = "target"
bounds = [-1, 1]
)";
  const Encoder encoder(Schema::from_toml(kThreeNumbers));
  std::mt19937_64 random(8);
  std::string plain = "a,b,y\n", spaced = plain;
  for (int i = 0; i < 200; ++i) {
    const std::string a = std::to_string(static_cast<double>(random() % 20'000) / 1e3 - 8),
                      b = std::to_string(static_cast<double>(random() % 1000) / 3e3),
                      y = std::to_string(static_cast<double>(random() % 3000) / 1e3 - 1.5);
    const bool null = i % 50 == 7;
    plain += null ? ",,\n" : (i % 9 == 3 ? "" : a) + "," + b + ",\"" + y + "\"\n";
    spaced += null ? " , , \n" : " " + (i % 9 == 3 ? "" : a) + ", " + b + " ," + y + " \n";
  }
  const Table one = load_table(TemporaryFile(plain).path(), encoder),
              other = load_table(TemporaryFile(spaced).path(), encoder);
  ASSERT_EQ(one.rows(), 200U);
  EXPECT_TRUE(std::equal(one.targets().begin(), one.targets().end(), other.targets().begin()));
  for (std::size_t i = 0; i < 200; ++i) {
    ASSERT_EQ(one.is_null(i), i % 50 == 7);
    ASSERT_EQ(other.is_null(i), i % 50 == 7);
    if (one.is_null(i)) continue;
    ASSERT_TRUE(std::equal(one.dense(i).begin(), one.dense(i).end(), other.dense(i).begin()));
  }
  plain.replace(plain.find(",\"", 20), 1, "x,");
  EXPECT_THAT(error_of([&] { load_table(TemporaryFile(plain).path(), encoder); }),
              HasSubstr("row 1 (line 2), column 'b': the cell is not a number"));
}

// Also where the schema declares a mark as a value; the empty text it refuses.
TEST(Table, AMissingCellIsNoDeclaredValue) {
  const Encoder encoder(Schema::from_toml(R"(
relation = "add_remove"
missing_values = ["?"]
[columns.x]
type = "categorical"
values = ["a", "?"]
)"));
  const ColumnEncoder& x = encoder.features().front();
  EXPECT_EQ(x.index("a"), 0);
  for (const std::string_view cell : {"", " ", "?", "b"}) {
    EXPECT_FALSE(x.declared(cell)) << cell;
    EXPECT_EQ(x.index(cell), 2) << cell;
  }
}

// -99 is the middle of the bounds, as an empty cell is, and no number at the lower bound.
TEST(Table, ANumberMayMeanMissing) {
  for (const std::string relation : {"add_remove", "zero_out"}) {
    const Encoder encoder(Schema::from_toml("relation = \"" + relation +
                                            R"("
rows = 3
missing_values = ["?", "-99"]
[columns.x]
type = "numeric"
bounds = [-10, 30]
missing = "midpoint"
[columns.y]
type = "numeric"
role = "target"
bounds = [0, 1]
)"));
    const TemporaryFile file("x,y\n-99,1\n-98,0\n ? ,1\n");
    const Table table = load_table(file.path(), encoder);
    ASSERT_EQ(table.rows(), 3U);
    EXPECT_EQ(table.dense(0)[0], 0) << relation;
    EXPECT_EQ(table.dense(1)[0], -1) << relation;
    EXPECT_EQ(table.dense(2)[0], 0) << relation;
  }
}

TEST(Table, ReadsDecimalCommasInNumbersOnly) {
  const TemporaryFile file("x;c\n2,5;a,b\n");
  const Encoder encoder(Schema::from_toml(
      "relation = \"add_remove\"\n[columns.x]\ntype = \"numeric\"\nbounds = [0, 10]\n"
      "[columns.c]\ntype = \"categorical\"\nvalues = [\"a.b\", \"a,b\"]\n"));
  const Table table = load_table(file.path(), encoder, {.csv = {.decimal_comma = true}});
  EXPECT_THAT(table.matrix(), ::testing::ElementsAre(-0.5, 0, 1, 0));
}

// Numbers go the short way, and come to the same table as in a CSV file.
TEST(Table, ArraysOfNumbersAreReadAsTheSameNumbersInText) {
  const Encoder encoder(Schema::from_toml(
      "relation = \"add_remove\"\nrows = 5000\n[columns.a]\ntype = \"numeric\"\n"
      "bounds = [-1, 2]\nmissing = \"midpoint\"\n[columns.b]\ntype = \"boolean\"\n"
      "[columns.k]\ntype = \"categorical\"\nrole = \"target\"\nvalues = [\"0\", \"1\", \"7\"]\n"));
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  NpyArray array{{30000, 3}, {}};
  std::string text = "a,b,k\n";
  constexpr double kClasses[] = {0, 1, 7};
  for (int i = 0; i < 30000; ++i) {
    const double a = i % 97 == 0 ? std::nan("") : normal(random);
    const double b = static_cast<double>(random() % 2), k = kClasses[random() % 3];
    array.values.insert(array.values.end(), {a, b, k});
    char line[80];
    std::snprintf(line, sizeof line, "%.17g,%g,%g\n", a, b, k);
    text += line;
  }
  const TemporaryFile npy(""), csv(text);
  write_npy(npy.path(), array);
  const Table numbers = load_table(npy.path(), encoder), words = load_table(csv.path(), encoder);
  ASSERT_EQ(numbers.rows(), 30000U);
  EXPECT_EQ(numbers.matrix(), words.matrix());
  EXPECT_TRUE(std::equal(numbers.targets().begin(), numbers.targets().end(),
                         words.targets().begin(), words.targets().end()));

  array.values[3 * 20000 + 1] = 2;  // a boolean that is none, by row and column and not by content
  write_npy(npy.path(), array);
  EXPECT_THAT(error_of([&] { load_table(npy.path(), encoder); }),
              HasSubstr("row 20001, column 'b'"));
}

}  // namespace sotto::table_test
