#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/data/detail/toml_tree.hpp"

namespace sotto::detail::toml_test {

using Json = nlohmann::ordered_json;

Json tree(const std::string& text) {
  Positions positions;
  return toml_tree(text, positions);
}
// The value of `x = …`.
Json value(const std::string& text) { return tree("x = " + text).at("x"); }
std::string problem(const std::string& text) {
  try {
    tree(text);
  } catch (const SchemaProblem& p) {
    return p.text("t");
  }
  return "";
}

TEST(Toml, Strings) {
  EXPECT_EQ(value(R"("a\tb\u00e9\U0001F600\"\\")"), "a\tbé😀\"\\");
  EXPECT_EQ(value(R"('c:\x "y"')"), "c:\\x \"y\"");
  EXPECT_EQ(value("\"\"\"\na\r\nb \\\n\n   c\"\" \"\"\"\"\""), "a\nb c\"\" \"\"");
  EXPECT_EQ(value("'''\n'a'\n''''"), "'a'\n'");
  EXPECT_EQ(value("\"\""), "");
  for (const char* bad :
       {"\"", "\"a\n\"", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\U00110000\"", "\"\\", "'",
        "'''a''", "\"\"\"a\"\"", "\"\x01\"", "\"a\"b", "\"\\u+123\""})
    EXPECT_NE(problem(std::string("x = ") + bad), "") << bad;
}

TEST(Toml, Numbers) {
  EXPECT_EQ(value("+1_000"), 1000);
  EXPECT_EQ(value("-0"), 0);
  EXPECT_EQ(value("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(value("0xdead_BEEF"), 0xdeadbeef);
  EXPECT_EQ(value("0o17"), 15);
  EXPECT_EQ(value("0b101"), 5);
  EXPECT_EQ(value("-1.5e+3"), -1500.0);
  EXPECT_EQ(value("1e-5"), 1e-5);
  EXPECT_EQ(value("0.1_2"), 0.12);
  EXPECT_EQ(value("-inf").get<double>(), -INFINITY);
  EXPECT_TRUE(std::isnan(value("nan").get<double>()));
  for (const char* bad :
       {"01",         "1__0",     "_1",   "1_",    "1.",    ".5",  "1e",
        "1.e5",       "0x",       "-0x1", "0b2",   "1e999", "+",   "9223372036854775808",
        "1979-05-27", "07:32:00", "--1",  "1e5.0", "0_1",   "tru", "inf1"})
    EXPECT_NE(problem(std::string("x = ") + bad), "") << bad;
}

TEST(Toml, ListsAndTables) {
  EXPECT_EQ(value("[ 1, # one\n 'two', [true, false],\n ]"),
            Json::parse(R"([1,"two",[true,false]])"));
  EXPECT_EQ(value("{a = 1, b.c = [], 'd e' = {}}"),
            Json::parse(R"({"a":1,"b":{"c":[]},"d e":{}})"));
  EXPECT_EQ(
      tree("z.y = 1\n[b.a]\nx = 2\r\n[b]\n\"\" = 3\n[a]\nb.c = 4\nb.\"d\" = 5\n[a.b.e]\n").dump(),
      R"({"z":{"y":1},"b":{"a":{"x":2},"":3},"a":{"b":{"c":4,"d":5,"e":{}}}})");
  for (const char* bad : {"a", "a =", "a = 1 b = 2", "= 1", "[a", "[]", "[a]x", "[[a]]", "x = [1",
                          "x = [1 2]", "x = {a = 1", "x = {a = 1,}", "x = {a = 1\n}", "x = [,]",
                          "a. = 1", ".a = 1", "\"\"\"a\"\"\" = 1"})
    EXPECT_NE(problem(bad), "") << bad;
}

TEST(Toml, NothingIsDefinedTwice) {
  for (const char* bad :
       {"a = 1\na = 2", "a = 1\n'a' = 2", "[a]\n[a]", "a = 1\n[a]", "a = 1\n[a.b]", "a.b = 1\n[a]",
        "[a.b]\n[a]\nb.c = 1", "[a.b]\n[a]\nb = 1", "a = {}\na.b = 1", "a = {}\n[a.b]",
        "a = {b = 1, b = 2}", "a = {b.c = 1, b = 2}", "a = []\n[a.b]", "a.b = 1\na.b.c = 2"})
    EXPECT_NE(problem(bad).find("is defined twice"), std::string::npos) << bad;
}

TEST(Toml, SaysWhere) {
  Positions positions;
  toml_tree("a = 1\n\n[\"ä\".b]  # c\n  d = 2\n", positions);
  EXPECT_EQ(positions.at("ä.b.d").line, 4U);
  EXPECT_EQ(positions.at("ä.b.d").column, 3U);
  EXPECT_EQ(positions.at("ä.b").column, 6U);  // characters, not bytes
  EXPECT_EQ(problem("a = '''\n\n'''\nb = 'ü' c").substr(0, 12), "t, line 4: n");
}

TEST(Toml, DepthAndControlCharactersAreLimited) {
  const std::string open(100'000, '['), close(100'000, ']');
  EXPECT_NE(problem("x = " + open + close).find("nested more than"), std::string::npos);
  std::string dotted = "a", braces;
  for (int i = 0; i < 100'000; ++i) dotted += ".a", braces += "{a=";
  EXPECT_NE(problem(dotted + " = 1"), "");
  EXPECT_NE(problem("[" + dotted + "]"), "");
  EXPECT_NE(problem("x = " + braces), "");
  for (const std::string& bad :
       {std::string("# \x01"), std::string("a = 1\r"), std::string("\0", 1),
        std::string("x = '\x7f'"), std::string("\xff"), std::string("# \xc3")})
    EXPECT_NE(problem(bad), "") << bad;
}

}  // namespace sotto::detail::toml_test
