#include "sotto/data/csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <random>

#include "sotto/core/error.hpp"
#include "temporary_file_test.hpp"

namespace sotto::csv_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(CsvReader reader) {
  Rows rows;
  reader.for_each_row([&](std::span<const std::string_view> cells, std::uint64_t row) {
    EXPECT_EQ(row, rows.size() + 1);
    rows.emplace_back(cells.begin(), cells.end());
  });
  return rows;
}
Rows rows_of(const std::string& text, CsvOptions options = {}) {
  return rows_of(CsvReader::from_text(text, std::move(options)));
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const DataError& error) {
    return std::string(error.what()) + " | " + error.hint();
  }
  return "no error";
}
std::string row_error(const std::string& text, CsvOptions options = {}) {
  return error_of([&] { rows_of(text, options); });
}
std::string number_error(const std::string& text, const std::string& column,
                         CsvOptions options = {}) {
  return error_of([&] {
    CsvReader::from_text(text, options).for_each_number(column, [](double, std::uint64_t) {});
  });
}

std::string gzipped(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

TEST(Csv, ReadsRowsAndHeader) {
  CsvReader reader = CsvReader::from_text("a, b ,\"c d\"\n1,2,3\n4,5,6\n");
  EXPECT_THAT(reader.columns(), ElementsAre("a", "b", "c d"));
  EXPECT_EQ(rows_of(std::move(reader)), (Rows{{"1", "2", "3"}, {"4", "5", "6"}}));
}

TEST(Csv, UnderstandsQuotes) {
  EXPECT_EQ(rows_of("a,b\n\"x,y\",\"line1\nline2\"\n\"say \"\"hi\"\"\",\"\"\n"),
            (Rows{{"x,y", "line1\nline2"}, {"say \"hi\"", ""}}));
  EXPECT_EQ(rows_of("a\n\"\"\"\"\n\"\"\"\"\"\"\n\"\"\n"), (Rows{{"\""}, {"\"\""}, {""}}));
}

TEST(Csv, AcceptsEveryLineEndAndAMissingLastOne) {
  const Rows expected{{"1", "x"}, {"2", "y"}};
  EXPECT_EQ(rows_of("a,b\n1,x\n2,y\n"), expected);
  EXPECT_EQ(rows_of("a,b\n1,x\n2,y"), expected);
  EXPECT_EQ(rows_of("a,b\r\n1,x\r\n2,y\r\n"), expected);
  EXPECT_EQ(rows_of("a,b\r\n1,x\r\n2,y"), expected);
  EXPECT_EQ(rows_of("a,b\r\n\"1\",\"x\"\r\n\"2\",\"y\"\r\n"), expected);
  EXPECT_EQ(rows_of("a,b\r\n\"1\",\"x\"\n\"2\",\"y\""), expected);
}

TEST(Csv, SkipsAByteOrderMark) {
  CsvReader reader = CsvReader::from_text(
      "\xef\xbb\xbf"
      "a,b\n1,2\n");
  EXPECT_THAT(reader.columns(), ElementsAre("a", "b"));
  EXPECT_EQ(rows_of(std::move(reader)), (Rows{{"1", "2"}}));
  EXPECT_EQ(rows_of("\xef\xbb\xbf"
                    "1,2\n",
                    {.header = false}),
            (Rows{{"1", "2"}}));
}

TEST(Csv, EmptyLinesAreNotRecords) {
  EXPECT_EQ(rows_of("a,b\n\n1,2\n\r\n\n3,4\n\n"), (Rows{{"1", "2"}, {"3", "4"}}));
  EXPECT_EQ(rows_of("a\n1\n\"\"\n"), (Rows{{"1"}, {""}}));
}

TEST(Csv, WithoutAHeaderColumnsAreNumberedOrNamed) {
  EXPECT_THAT(CsvReader::from_text("1,2\n", {.header = false}).columns(), ElementsAre("1", "2"));
  CsvReader named = CsvReader::from_text("1,2\n3,4\n", {.header = false, .names = {"x", "y"}});
  EXPECT_THAT(named.columns(), ElementsAre("x", "y"));
  EXPECT_EQ(rows_of(std::move(named)), (Rows{{"1", "2"}, {"3", "4"}}));
  EXPECT_THAT(error_of([] { CsvReader::from_text("1,2\n", {.header = false, .names = {"x"}}); }),
              HasSubstr("has 2 columns; 1 names are declared"));
}

TEST(Csv, TakesOtherDelimiters) {
  EXPECT_EQ(rows_of("a;b\n1,5;2\n", {.delimiter = ';'}), (Rows{{"1,5", "2"}}));
  EXPECT_EQ(rows_of("a\tb\n1\t2\n", {.delimiter = '\t'}), (Rows{{"1", "2"}}));
  EXPECT_THROW(rows_of("a\n", {.delimiter = '"'}), InvalidArgument);
}

TEST(Csv, HeaderOnlyHasNoRows) {
  EXPECT_EQ(rows_of("a,b\n"), Rows{});
  EXPECT_EQ(rows_of("a,b"), Rows{});
  EXPECT_EQ(CsvReader::from_text("a,b").count_rows(), 0U);
}

TEST(Csv, CanBePassedOverTwice) {
  CsvReader reader = CsvReader::from_text("a\n1\n2\n", {.block_bytes = 2});
  EXPECT_EQ(reader.count_rows(), 2U);
  double sum = 0;
  reader.for_each_number("a", [&](double x, std::uint64_t) { sum += x; });
  EXPECT_EQ(sum, 3);
}

TEST(Csv, TextColumnIsStreamed) {
  std::vector<std::string> seen;
  CsvReader::from_text("a,b\n1,\"x\"\"y\"\n2,z\n")
      .for_each_text("b", [&](std::string_view text, std::uint64_t) { seen.emplace_back(text); });
  EXPECT_THAT(seen, ElementsAre("x\"y", "z"));
}

TEST(Csv, NumbersMayHaveSpacesSignsAndQuotes) {
  std::vector<double> seen;
  CsvReader::from_text("x\n 1.5 \n+2\n-3e2\n\"4\"\n\t.5\n6.\n1e-400\n0.1\n")
      .for_each_number("x", [&](double x, std::uint64_t) { seen.push_back(x); });
  EXPECT_THAT(seen, ElementsAre(1.5, 2, -300, 4, 0.5, 6, 0, 0.1));
}

TEST(Csv, RefusesWhatIsNotAFiniteNumberByColumnAndRowNeverByValue) {
  for (const std::string cell : {"secret", "1.2.3", "0x10", "1,5", "--1", "1 2", "1e", "NA", "?"}) {
    const std::string error = number_error("id,age\n1,30\n2,\"" + cell + "\"\n", "age");
    EXPECT_THAT(error, HasSubstr("<text>: row 2 (line 3), column 'age': the cell is not a number"));
    EXPECT_EQ(error.find("secret"), std::string::npos);
  }
  for (const std::string cell : {"nan", "NaN", "-nan", "inf", "-Infinity", "1e400", "-1e999"}) {
    EXPECT_THAT(number_error("id,age\n1,30\n2," + cell + "\n", "age"),
                HasSubstr("row 2 (line 3), column 'age': the cell is NaN, infinite or too large"));
  }
  for (const std::string cell : {"", "  ", "\"\""}) {
    EXPECT_THAT(number_error("id,age\n1,30\n2," + cell + "\n", "age"),
                HasSubstr("row 2 (line 3), column 'age': the cell is empty"));
  }
}

TEST(Csv, MissingNumbersBecomeNanWhenAskedFor) {
  std::vector<double> seen;
  CsvReader::from_text("x\n1\n\"\"\nnan\ninf\n?\n2\n -99 \n", {.missing_values = {"?", "-99"}})
      .for_each_number(
          "x", [&](double x, std::uint64_t) { seen.push_back(x); }, MissingNumbers::as_nan);
  ASSERT_EQ(seen.size(), 7U);
  for (const std::size_t i : {1U, 2U, 3U, 4U, 6U}) EXPECT_TRUE(std::isnan(seen[i]));
  EXPECT_EQ(seen[5], 2);
}

TEST(Csv, UnknownColumnSuggestsTheNearest) {
  EXPECT_THAT(number_error("income,age\n1,2\n", "agee"), HasSubstr("no column 'agee'"));
  EXPECT_THAT(number_error("income,age\n1,2\n", "agee"), HasSubstr("did you mean 'age'?"));
  EXPECT_THAT(number_error("income,age\n1,2\n", "zzzzzz"), HasSubstr("columns are: income, age"));
  EXPECT_THAT(number_error("age,age\n1,2\n", "age"), HasSubstr("more than one column 'age'"));
}

TEST(Csv, RefusesMalformedRecordsWithTheirPlace) {
  EXPECT_THAT(row_error("a,b\n1,2\n3\n"),
              HasSubstr("row 2 (line 3): the record has 1 fields; there are 2 columns"));
  EXPECT_THAT(row_error("a,b\n1,2,3\n"), HasSubstr("row 1 (line 2): the record has 3 fields"));
  EXPECT_THAT(row_error("a,b\n\n\"x\ny\",2\n3\n"), HasSubstr("row 2 (line 5): the record has 1"));
  EXPECT_THAT(row_error("a,b\n1,\"2\n3,4\n"),
              HasSubstr("row 1 (line 2), column 'b': a quoted field is not closed"));
  EXPECT_THAT(row_error("a,b\n1,2\"x\n"),
              HasSubstr("row 1 (line 2), column 'b': there is a quote inside"));
  EXPECT_THAT(row_error("a,b\n\"1\"x,2\n"),
              HasSubstr("row 1 (line 2), column 'a': there is text after a closing quote"));
  EXPECT_THAT(row_error("a,b\n\"1\"\r,2\n"), HasSubstr("text after a closing quote"));
  EXPECT_THAT(row_error(std::string("a,b\n1,x\0y\n", 10)),
              HasSubstr("row 1 (line 2), column 'b': the field holds a NUL byte"));
  EXPECT_THAT(row_error("a,b\n1," + std::string(50, 'x') + "\n", {.max_field_bytes = 40}),
              HasSubstr("row 1 (line 2), column 'b': the field is longer than 40 bytes"));
  EXPECT_THAT(row_error("a,b\n1,\"" + std::string(500, 'x') + "\n",
                        {.block_bytes = 8, .max_record_bytes = 100}),
              HasSubstr("row 1 (line 2): the record is longer than 100 bytes"));
  EXPECT_THAT(row_error("\xff\xfe"
                        "a\n"),
              HasSubstr("is UTF-16"));
  EXPECT_THAT(row_error("a,b\r1,2\r"), HasSubstr("carriage return without a line feed"));
}

TEST(Csv, BlankLinesAreRowsOfAFileWithOneColumnOnly) {
  EXPECT_EQ(rows_of("\n\na\n1\n\n\r\n2\n\n"), (Rows{{"1"}, {""}, {""}, {"2"}, {""}}));
  EXPECT_EQ(rows_of("a\n1\n2"), (Rows{{"1"}, {"2"}}));  // the end of the last line is none
  EXPECT_EQ(rows_of("a,b\n1,2\n\n3,4\n\n"), (Rows{{"1", "2"}, {"3", "4"}}));
  EXPECT_EQ(rows_of("\n1,2\n\n3,4\n", {.header = false}), (Rows{{"1", "2"}, {"3", "4"}}));
  for (const std::size_t block : {1u, 2u, 3u, 1024u}) {
    EXPECT_EQ(rows_of("\n\n\n1\n\n2\n", {.header = false, .block_bytes = block}),
              (Rows{{""}, {""}, {""}, {"1"}, {""}, {"2"}}))
        << block;
    EXPECT_EQ(CsvReader::from_text("a\n\n\n\n\n", {.block_bytes = block}).count_rows(), 4u);
  }
  EXPECT_THAT(number_error("a\n1\n\n2\n", "a"),
              HasSubstr("row 2 (line 3), column 'a': the cell is empty"));
  EXPECT_THAT(number_error("a\n1\n\n2\nx\n", "a", {.missing_values = {}, .block_bytes = 1}),
              HasSubstr("row 2 (line 3), column 'a': the cell is empty"));
}

// One row more or less, or one cell emptied, must not decide whether a file without a header is
// accepted.
TEST(Csv, WithoutAHeaderAFileMayBeEmpty) {
  const CsvOptions plain{.header = false}, two{.header = false, .names = {"a", "b"}};
  EXPECT_EQ(rows_of("", plain), Rows{});
  EXPECT_EQ(rows_of("", two), Rows{});
  EXPECT_EQ(rows_of("\n\n", two), Rows{});
  EXPECT_EQ(rows_of("\n\n", plain), (Rows{{""}, {""}}));
  EXPECT_EQ(number_error("", "3", plain), "no error");
  EXPECT_EQ(number_error("", "b", two), "no error");
  EXPECT_THAT(number_error("", "c", two), HasSubstr("has no column 'c'"));
}

TEST(Csv, RefusesEmptyMissingAndUnreadableFiles) {
  EXPECT_THAT(row_error(""), HasSubstr("<text> is empty"));
  EXPECT_THAT(row_error("\xef\xbb\xbf"), HasSubstr("is empty"));
  EXPECT_THAT(row_error("\n\n\n"), HasSubstr("is empty"));
  EXPECT_THAT(error_of([] { CsvReader("/nonexistent/file.csv"); }),
              HasSubstr("/nonexistent/file.csv cannot be opened: No such file"));
  EXPECT_THAT(error_of([] { CsvReader{::testing::TempDir()}; }), HasSubstr("is a directory"));
}

TEST(Csv, ReadsGzipWhateverTheName) {
  const TemporaryFile one(gzipped("a,b\n1,2\n3,4\n"));
  EXPECT_EQ(rows_of(CsvReader(one.path())), (Rows{{"1", "2"}, {"3", "4"}}));
  const TemporaryFile two(gzipped("a,b\n1,2\n3,") + gzipped("4\n"));  // members may be concatenated
  EXPECT_EQ(rows_of(CsvReader(two.path())), (Rows{{"1", "2"}, {"3", "4"}}));
}

TEST(Csv, RefusesDamagedGzip) {
  const std::string packed = gzipped("a,b\n1,2\n3,4\n");
  const TemporaryFile cut(packed.substr(0, packed.size() - 6));
  EXPECT_THAT(error_of([&] { rows_of(CsvReader(cut.path())); }), HasSubstr("ends too early"));
  std::string wrong = packed;
  wrong[packed.size() / 2] ^= 0x55;
  const TemporaryFile damaged(wrong);
  EXPECT_THAT(error_of([&] { rows_of(CsvReader(damaged.path())); }), HasSubstr("gzip stream"));
}

// A file with every kind of field, deterministic.
std::string intricate_csv(std::uint64_t rows) {
  std::mt19937_64 random(7);
  std::string text = "n,text,x\r\n";
  for (std::uint64_t i = 0; i < rows; ++i) {
    text += std::to_string(i) + ",";
    switch (random() % 6) {
      case 0: text += "\"a,b\nc\""; break;
      case 1: text += "\"\"\"quoted\"\"\r\n\n\""; break;
      case 2: text += "\"\""; break;
      case 3: text += std::string(random() % 100, 'z'); break;
      case 4: text += "\"" + std::string(random() % 100, '\n') + "\""; break;
      default: text += "plain"; break;
    }
    text += "," + std::to_string(static_cast<double>(random() % 100000) / 7);
    text += random() % 2 ? "\n" : "\r\n";
    if (random() % 10 == 0) text += "\n";
  }
  return text;
}

TEST(Csv, ResultDependsNeitherOnThreadsNorOnBlockSize) {
  const std::string text = intricate_csv(3000);
  const Rows expected = rows_of(text, {.threads = 1});
  ASSERT_EQ(expected.size(), 3000U);
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(expected[i][0], std::to_string(i));
  for (const unsigned threads : {1U, 2U, 5U}) {
    for (const std::size_t block : {1U, 7U, 64U, 65U, 1000U, 100000U}) {
      EXPECT_EQ(rows_of(text, {.threads = threads, .block_bytes = block}), expected);
    }
  }
}

TEST(Csv, FirstErrorDependsNeitherOnThreadsNorOnBlockSize) {
  std::string text = intricate_csv(2000);
  text += "2000,bad\n2001,\"x\"y,3\n" + intricate_csv(500);
  const std::string expected = row_error(text, {.threads = 1, .block_bytes = 1U << 20});
  EXPECT_THAT(expected, HasSubstr("row 2001"));
  for (const unsigned threads : {1U, 2U, 4U}) {
    for (const std::size_t block : {16U, 100U, 5000U}) {
      EXPECT_EQ(row_error(text, {.threads = threads, .block_bytes = block}), expected);
    }
  }
}

TEST(Csv, AThrowingVisitorStopsThePass) {
  struct Stop {};
  std::uint64_t seen = 0;
  CsvReader reader = CsvReader::from_text(intricate_csv(2000), {.threads = 3, .block_bytes = 256});
  EXPECT_THROW(reader.for_each_row([&](auto, std::uint64_t) {
    if (++seen == 100) throw Stop{};
  }),
               Stop);
  EXPECT_EQ(seen, 100U);
}

TEST(Csv, AMillionRowsAreReadExactly) {
  constexpr std::uint64_t kRows = 1'000'000;
  std::string text = "id,value\n";
  for (std::uint64_t i = 1; i <= kRows; ++i) {
    text += std::to_string(i) + "," + std::to_string(i % 1000) + ".25\n";
  }
  const TemporaryFile file(text);
  CsvReader reader(file.path(), {.threads = 2});
  std::uint64_t next = 1;
  double sum = 0;
  reader.for_each_number("value", [&](double x, std::uint64_t row) {
    ASSERT_EQ(row, next++);
    sum += x;
  });
  EXPECT_EQ(next, kRows + 1);
  EXPECT_EQ(sum, 499.75 * kRows);
}

TEST(Csv, RandomBytesNeverCrashAndNeverDependOnBlocks) {
  std::mt19937_64 random(11);
  const std::string alphabet = "ab,,\"\"\n\n\r 1.";
  for (int trial = 0; trial < 3000; ++trial) {
    std::string text;
    for (std::uint64_t n = random() % 60; n > 0; --n) text += alphabet[random() % alphabet.size()];
    const auto outcome = [&](std::size_t block) {
      std::string seen;
      const std::string error = error_of([&] {
        for (const auto& row : rows_of(text, {.threads = 1, .block_bytes = block})) {
          for (const auto& cell : row) seen += cell + "\x1f";
          seen += "\x1e";
        }
      });
      return error == "no error" ? seen : error;
    };
    const std::string whole = outcome(1U << 16);
    for (const std::size_t block : {1U, 3U, 10U, 33U}) ASSERT_EQ(outcome(block), whole) << text;
  }
}

// --- files as they come ---

TEST(Csv, FindsTheDelimiterInTheHeader) {
  const Rows expected = {{"1", "2", "3"}};
  for (const char d : {',', ';', '\t', '|'}) {
    const std::string s(1, d);
    EXPECT_EQ(rows_of("a" + s + "b" + s + "c\n1" + s + "2" + s + "3\n"), expected) << d;
    EXPECT_EQ(rows_of("\n\r\n\"a,;\t|x;,;,;,\"" + s + "b" + s + "c\n1" + s + "2" + s + "3\n"),
              expected)
        << d;
  }
  EXPECT_EQ(rows_of("a,b;c\n1,2\n"), (Rows{{"1", "2"}}));  // a choice is left: the comma
  EXPECT_EQ(rows_of("a\n1;2\n"), (Rows{{"1;2"}}));
  EXPECT_EQ(rows_of("a;b,c,d\n1;2\n", {.delimiter = ';'}), (Rows{{"1", "2"}}));
}

TEST(Csv, TheDelimiterIsNeverFoundInARow) {
  // Whatever rows hold, the columns are those of the header.
  for (const char* rows : {"1;2;3;4,5\n", "1\t2\t3,4\n", "\"x|y|z|z\",2\n", "", "\n\n;;;;,;;;\n"}) {
    CsvReader reader = CsvReader::from_text(std::string("a,b\n") + rows);
    EXPECT_THAT(reader.columns(), ElementsAre("a", "b"));
    EXPECT_EQ(rows_of(std::move(reader)).size(), *rows == '\0' ? 0U : 1U);
  }
  // Without a header the first line is a row.
  EXPECT_EQ(rows_of("1;2;3\n", {.header = false}), (Rows{{"1;2;3"}}));
}

TEST(Csv, SaysWhatTheHeaderLooksLike) {
  CsvReader reader = CsvReader::from_text("age;income\n1;2\n", {.delimiter = ','});
  EXPECT_THAT(error_of([&] { reader.column("age"); }),
              HasSubstr("the header looks semicolon-separated: use `delimiter` semicolon"));
}

TEST(Csv, ReadsDecimalCommas) {
  const auto numbers = [](const std::string& text, CsvOptions options) {
    std::vector<double> values;
    CsvReader::from_text(text, std::move(options))
        .for_each_number("x", [&](double v, std::uint64_t) { values.push_back(v); });
    return values;
  };
  EXPECT_THAT(numbers("x;y\n1,5;0\n-2,25e1;0\n7;0\n", {.decimal_comma = true}),
              ElementsAre(1.5, -22.5, 7));
  EXPECT_THAT(number_error("x;y\n1.500;0\n", "x", {.decimal_comma = true}),
              HasSubstr("row 1 (line 2), column 'x': the cell is not a number"));
  EXPECT_THAT(number_error("x;y\n1.500,25;0\n", "x", {.decimal_comma = true}),
              HasSubstr("not a number"));
  EXPECT_THAT(number_error("x;y\n1,5;0\n", "x"), HasSubstr("`decimal` comma reads 1,5"));
}

TEST(Csv, ReadsOtherEncodings) {
  EXPECT_EQ(rows_of("na\xefve;b\n\xe9t\xe9;\x80\n", {.encoding = Encoding::windows_1252}),
            (Rows{{"été", "€"}}));
  EXPECT_EQ(rows_of("a;b\n\xff;\xa0\n", {.encoding = Encoding::latin_1}), (Rows{{"ÿ", "\u00a0"}}));
  const std::string little(
      "\xff\xfe"
      "a\0\n\0=\xd8\x00\xde\n\0",
      12);
  EXPECT_EQ(rows_of(little, {.encoding = Encoding::utf_16}), (Rows{{"😀"}}));
  const std::string big("\xfe\xff\0a\0\n\x20\xac\0\n", 10);
  EXPECT_EQ(rows_of(big, {.encoding = Encoding::utf_16}), (Rows{{"€"}}));
  const std::string lone(
      "\xff\xfe"
      "a\0\n\0=\xd8"
      "b\0\n\0",
      12);
  EXPECT_THAT(row_error(lone, {.encoding = Encoding::utf_16}), HasSubstr("is not UTF-16"));
  EXPECT_THAT(row_error(little.substr(0, 11), {.encoding = Encoding::utf_16}),
              HasSubstr("is not UTF-16"));
}

TEST(Csv, NamesFormatsThatItDoesNotRead) {
  EXPECT_THAT(row_error("PAR1\x15\x04"), HasSubstr("is Parquet, which is not read"));
  EXPECT_THAT(row_error("PK\x03\x04"), HasSubstr("spreadsheet"));
  EXPECT_EQ(rows_of("PAR1,x\n1,2\n").size(), 1U);
}

}  // namespace sotto::csv_test
