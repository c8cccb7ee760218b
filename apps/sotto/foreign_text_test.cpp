// Text from outside that would give orders to a terminal, forge a line of output, or cannot be
// written as JSON.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "command_case_test.hpp"

namespace sotto::cli::foreign_text_test {

using testing::HasSubstr;

// Everything printed goes through Output::print, whatever it came from: data, header, certificate,
// arguments.
class ForeignText : public CommandCase {
 protected:
  static void expect_harmless(const Outcome& outcome, const std::string& shown) {
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    for (const std::string& text : {outcome.out, outcome.err}) {
      EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
      EXPECT_EQ(text.find('\r'), std::string::npos) << text;
      EXPECT_EQ(text.find("\nforged"), std::string::npos) << text;
    }
    EXPECT_THAT(outcome.out, HasSubstr(shown));
  }
};

TEST_F(ForeignText, OfCategoriesIsEscapedAndPaidForOnlyWithAResult) {
  std::string rows = "city\n";
  for (int i = 0; i < 200; ++i) rows += "\"caf\xe9\x1b[2J\nforged\"\n";
  const std::string data = file("d.csv", rows);
  const Words words = {
      "release",   "histogram", "--data",  data,  "--column", "city", "--unknown-categories",
      "--epsilon", "10",        "--delta", "1e-6"};
  Rng rng = Rng::insecure_seed(1);
  expect_harmless(run_words(words, rng), "caf\\xe9\\u001b[2J\\u000aforged  ");
  const Outcome json = run_words(words + Words{"--json"}, rng);
  expect_harmless(json, "caf\\\\xe9\\u001b[2J\\nforged");
  const auto value = nlohmann::json::parse(json.out).at("value");
  EXPECT_TRUE(value.contains("caf\\xe9\x1b[2J\nforged")) << json.out;
}

TEST_F(ForeignText, OfHeadersIsEscaped) {
  const std::string data = file("d.csv", "\"age\x1b[2J\nforged\",city\n1,2\n");
  Rng rng = Rng::insecure_seed(1);
  expect_harmless(run_words({"schema", "draft", data}, rng), "age\\u001b[2J\\u000aforged");
  expect_harmless(run_words({"schema", "draft", data, "--json"}, rng), "age");
  const std::string schema = file(
      "s.toml",
      "relation = \"add_remove\"\nrows = 5\n[columns.city]\ntype = \"numeric\"\nbounds = [0, 1]\n");
  expect_harmless(run_words({"schema", "check", schema, "--data", data}, rng),
                  "age\\u001b[2J\\u000aforged");
  const Outcome not_text = run_words({"schema", "draft", file("e.csv", "a,caf\xe9\n1,2\n")}, rng);
  EXPECT_EQ(not_text.code, 3);
  EXPECT_THAT(not_text.err, HasSubstr("the name of column 2 is not UTF-8"));
}

TEST_F(ForeignText, OfCertificatesIsEscaped) {
  const std::string data = file("d.csv", "age\n1\n2\n");
  Rng rng = Rng::insecure_seed(1);
  ASSERT_EQ(run_words({"release", "count", "--data", data, "--column", "age\x1b[2J\nforged",
                       "--epsilon", "1", "--certificate", path("c"), "--dry-run"},
                      rng)
                .code,
            0);
  ASSERT_EQ(
      run_words({"release", "count", "--data", data, "--epsilon", "1", "--certificate", path("c")},
                rng)
          .code,
      0);
  std::ifstream in(path("c"));
  auto json = nlohmann::ordered_json::parse(in);
  json["description"] = "x\x1b[2J\nforged";
  json["unit"] = "row\x1b[2J\nforged";
  json["dataset"] = "x\r\x1b]0;t\a";
  const std::string changed = file("changed", json.dump());
  expect_harmless(run_words({"inspect", changed}, rng), "x\\u001b[2J\\u000aforged");
}

TEST_F(ForeignText, OfArgumentsMustBeUtf8BeforeAnythingIsRead) {
  Rng rng = Rng::insecure_seed(1);
  for (const Words& words :
       {Words{"release", "histogram", "--values", "a,caf\xe9", "--column", "c"},
        Words{"release", "count", "--column", "caf\xe9", "--equals", "x"},
        Words{"release", "count", "--certificate", "caf\xe9"}}) {
    const Outcome outcome = run_words(words + Words{"--data", "absent", "--epsilon", "1"}, rng);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("caf\\xe9' is not UTF-8"));
  }
}

}  // namespace sotto::cli::foreign_text_test
