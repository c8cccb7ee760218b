// Files that are odd, damaged or empty: trained on or refused with the documented code, never with
// a cell's content, never with half a model.
#include <gmock/gmock.h>

#include "command_case_test.hpp"

namespace sotto::cli::hostile_data_test {

using testing::HasSubstr;
using testing::Not;
using namespace std::string_literals;

constexpr const char* kSchema = R"(relation = "add_remove"
rows = 50
[columns.x]
type = "numeric"
bounds = [0, 10]
[columns.c]
type = "categorical"
values = ["a", "b"]
[columns.y]
type = "categorical"
role = "target"
values = ["no", "yes"]
)";

class HostileData : public CommandCase {
 protected:
  Outcome train(const std::string& data, const std::string& schema = kSchema,
                const Words& more = {"--epsilon", "1", "--delta", "1e-6"}) {
    Rng rng = Rng::insecure_seed(1);
    return run_words(Words{"train", "--data", file("d.csv", data), "--schema",
                           file("s.toml", schema), "--out", path("model")} +
                         more,
                     rng, path("model"));
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(directory_),
                                                  std::filesystem::directory_iterator()));
  }
  // Refused as bad input, without a trace of the model and without the word SECRET.
  void expect_refused(const std::string& data, const std::string& message,
                      const std::string& schema = kSchema) {
    const Outcome outcome = train(data, schema);
    EXPECT_EQ(outcome.code, 3) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(message));
    EXPECT_THAT(outcome.err + outcome.out, Not(HasSubstr("SECRET")));
    EXPECT_TRUE(outcome.files.empty());
    EXPECT_EQ(entries(), 2u) << "something was left behind";
  }
  void expect_trained(const std::string& data, const std::string& schema = kSchema,
                      const Words& more = {"--epsilon", "1", "--delta", "1e-6"}) {
    const Outcome outcome = train(data, schema, more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.files.size(), 3u);
  }
};

TEST_F(HostileData, DamagedFilesAreRefusedByRowAndColumnAlone) {
  expect_refused("", "");
  expect_refused("x,c,y\nSECRET,a,no\n", "row 1 (line 2), column 'x'");
  expect_refused("x,c,y\n1,a,no\n2,b,SECRET\n", "row 2 (line 3), column 'y'");
  expect_refused("x,c,y\n1,a,no,SECRET\n", "row 1");
  expect_refused("x,c,y\n1,SECRET\n", "row 1");
  expect_refused("x,c,y\n1,\"SECRET,no\n", "");
  expect_refused("x,c,y\n1,SE\"CRET,no\n", "row 1");
  expect_refused("x,c,y\n,a,no\n", "row 1 (line 2), column 'x'");
  expect_refused("x,c,y\nnan,a,no\n", "row 1 (line 2), column 'x'");
  expect_refused("x,c,y\ninf,a,no\n", "row 1 (line 2), column 'x'");
  expect_refused("x,c,y\n1e999,a,no\n", "row 1 (line 2), column 'x'");
  expect_refused("x,c,z\n1,a,no\n", "'y'");
  expect_refused("x,x,c,y\n1,1,a,no\n", "");
  expect_refused("x,c,y\n1\0SECRET,a,no\n"s, "row 1");
}

TEST_F(HostileData, OddFilesAreData) {
  expect_trained("x,c,y\n");                                     // nothing but the header
  expect_trained("x,c,y\n1,a,no\n");                             // one row
  expect_trained("x,c,y\n1,a,no\n2,b,no\n");                     // one class
  expect_trained("x,c,y\n5,a,no\n5,a,yes\n5,a,no\n");            // constant columns
  expect_trained("x,c,y\n1e308,a,no\n-1e308,zzz,yes\n");         // far beyond the bounds
  expect_trained("\xef\xbb\xbfx,c,y\r\n1,a,no\r\n2,b,yes\r\n");  // byte-order mark, CRLF
  expect_trained("y,\"c\",extra,x\nno,\"a\",?,1\n");  // another order, quotes, more columns
  expect_trained("x,c,y\n1,a,no");                    // no line end
}

TEST_F(HostileData, MissingCellsFollowThePolicyOfTheSchema) {
  std::string tolerant = kSchema;
  tolerant.replace(tolerant.find("bounds = [0, 10]"), 16,
                   "bounds = [0, 10]\nmissing = \"midpoint\"\ninvalid = \"missing\"");
  expect_trained("x,c,y\n,a,no\nnan,b,yes\ninf,,no\nSECRET,a,yes\n1e999,b,no\n", tolerant);
}

TEST_F(HostileData, ManyCategoriesAndFewerRowsThanColumns) {
  std::string values;
  for (int i = 0; i < 10000; ++i) values += (i ? ", \"v" : "\"v") + std::to_string(i) + "\"";
  std::string schema = kSchema;
  schema.replace(schema.find("\"a\", \"b\""), 8, values);
  expect_trained("x,c,y\n1,v7,no\n2,v9999,yes\n3,none of them,no\n", schema);
}

TEST_F(HostileData, RegressionOnAConstantTarget) {
  const std::string schema =
      "relation = \"add_remove\"\nrows = 5\n[columns.x]\ntype = \"numeric\"\nbounds = [0, 1]\n"
      "[columns.t]\ntype = \"numeric\"\nrole = \"target\"\nbounds = [0, 1]\n";
  for (const std::string data : {"x,t\n", "x,t\n0,0\n", "x,t\n1,0.5\n1,0.5\n1,0.5\n"})
    expect_trained(data, schema, {"--model", "linear", "--epsilon", "1", "--delta", "1e-6"});
}

TEST_F(HostileData, WhereTheNumberOfRowsIsPublicItMustBeRight) {
  std::string schema = kSchema;
  schema.replace(schema.find("add_remove"), 10, "replace_one");
  expect_refused("x,c,y\n1,a,no\n", "1 rows; the schema declares 50", schema);
}

TEST_F(HostileData, WithoutAHeaderColumnsComeInTheOrderOfTheSchema) {
  expect_trained("1,a,no\n2,b,yes\n", kSchema,
                 {"--no-header", "--epsilon", "1", "--delta", "1e-6"});
  expect_refused("1,a,no\n2,b,yes\n", "");  // and with one, "1" is no column of the schema
}

TEST_F(HostileData, FlippedBytesOfAnArtifactAreNoticed) {
  Rng rng;
  const std::string data = file("d.csv", "x,c,y\n1,a,no\n9,b,yes\n"),
                    schema = file("s.toml", kSchema);
  ASSERT_EQ(run_words({"train", "--data", data, "--schema", schema, "--epsilon", "1", "--delta",
                       "1e-6", "--out", path("model")},
                      rng)
                .code,
            0);
  ASSERT_EQ(run_words({"verify", path("model")}, rng).code, 0);
  for (const std::string name : {"model.json", "encoder.json", "certificate.json"}) {
    std::ifstream in(path("model/" + name), std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(in), {}};
    const std::size_t step = std::max<std::size_t>(1, whole.size() / 40);
    for (std::size_t at = 0; at < whole.size(); at += step) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ 1);
      file("model/" + name, changed);
      const Outcome outcome = run_words({"verify", path("model")}, rng);
      // The certificate has no digest of its own: a change that lowers no claim can only be refused
      // where it is no certificate any more.
      if (name != "certificate.json") {
        EXPECT_EQ(outcome.code, 5) << name << " byte " << at << ": " << outcome.err;
      } else {
        EXPECT_THAT(outcome.code, testing::AnyOf(0, 3, 5)) << outcome.err;
      }
    }
    file("model/" + name, whole);
  }
}

}  // namespace sotto::cli::hostile_data_test
