// Models of sequences, held to what families_test.cpp asks of every family: their columns share one
// list of values, so the table of that test does not fit them.
#include <gmock/gmock.h>

#include "command_case_test.hpp"
#include "sotto/core/certified_directory.hpp"
#include "sotto/core/relation.hpp"

namespace sotto::cli::sequences_test {

using testing::HasSubstr;
using testing::Not;

const std::string kRows = "a,b,a\nb,b,c\nc,a,a\na,b,a\nb,c,c\n";
const std::string kLast = "c,c,c\n";
const std::vector<std::string> kOdd = {"a,a,a\n", "zebra,b,\n", "zebra,zebra,zebra\n"};

class Sequences : public CommandCase {
 protected:
  std::string csv(const std::string& name, const std::string& rows) const {
    return file(name, "p,q,r\n" + rows);
  }
  void schema(Relation relation, std::size_t rows) const {
    std::string text =
        "relation = \"" + std::string(name(relation)) + "\"\nrows = " + std::to_string(rows) + "\n";
    for (const char* const column : {"p", "q", "r"})
      text += std::string("[columns.") + column +
              "]\ntype = \"categorical\"\nvalues = [\"a\", \"b\", \"c\"]\n";
    file("schema.toml", text);
  }
  Words train(const std::string& data, const Words& more = {}) const {
    return Words{"train",     "--schema",  path("schema.toml"),
                 "--data",    data,        "--model",
                 "sequence",  "--context", "2",
                 "--hidden",  "4",         "--steps",
                 "2",         "--batch",   "3",
                 "--epsilon", "1",         "--delta",
                 "1e-6",      "--out",     path("model"),
                 "--json",    "--quiet"} +
           more;
  }
  Outcome run_once(const Words& words) {
    Rng rng = Rng::insecure_seed(1);
    return run_words(words, rng);
  }
};

TEST_F(Sequences, ReplayOnNeighboursUnderEveryRelation) {
  for (const std::string& row : kOdd) {
    SCOPED_TRACE(row);
    schema(Relation::add_remove, 5);
    EXPECT_EQ(
        difference(train(csv("a.csv", kRows)), train(csv("b.csv", kRows + row)), path("model")),
        "");
    schema(Relation::replace_one, 6);
    EXPECT_EQ(difference(train(csv("a.csv", kRows + kLast)), train(csv("b.csv", kRows + row)),
                         path("model")),
              "");
    schema(Relation::zero_out, 6);
    EXPECT_EQ(difference(train(csv("a.csv", kRows + row)), train(csv("b.csv", kRows + ",,\n")),
                         path("model")),
              "");
  }
}

TEST_F(Sequences, TheReplayCatchesFilesThatAreNoNeighbours) {
  schema(Relation::add_remove, 5);
  std::string far = kRows;
  for (int i = 0; i < 8; ++i) far += kLast;
  EXPECT_NE(difference(train(csv("a.csv", kRows)), train(csv("b.csv", far)), path("model")), "");
}

TEST_F(Sequences, ADryRunReadsNothingAndCostsAtMostTheBudget) {
  for (const Relation relation :
       {Relation::add_remove, Relation::replace_one, Relation::zero_out}) {
    schema(relation, 6);
    const Outcome plan = run_once(train("/nonexistent", {"--dry-run"}));
    EXPECT_EQ(plan.code, 0) << plan.err;
    EXPECT_THAT(plan.out, HasSubstr("\"event\""));
  }
}

TEST_F(Sequences, OddFilesTrainAndDamagedOnesAreRefusedWithoutAWordOfTheirCells) {
  schema(Relation::add_remove, 5);
  for (const std::string& rows : {std::string(), kLast, kLast + kLast, kOdd[1] + kOdd[2]}) {
    Rng rng = Rng::insecure_seed(1);
    const Outcome outcome = run_words(train(csv("odd.csv", rows)), rng, path("model"));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    std::filesystem::remove_all(path("model"));
  }
  for (const std::string row : {"a,SECRET\n", "a,b,c,SECRET\n"}) {
    const Outcome outcome = run_once(train(csv("bad.csv", kRows + row)));
    EXPECT_EQ(outcome.code, 3) << outcome.err;
    EXPECT_THAT(outcome.err + outcome.out, Not(HasSubstr("SECRET")));
    EXPECT_FALSE(std::filesystem::exists(path("model")));
  }
}

TEST_F(Sequences, AnArtifactVerifiesIsAppliedAndEvaluated) {
  schema(Relation::add_remove, 5);
  const std::string data = csv("data.csv", kRows);
  Rng rng;  // an artifact of a fixed seed does not verify
  ASSERT_EQ(run_words(train(data), rng).code, 0);
  EXPECT_EQ(read_certified(path("model")).certificate.family, "network");
  EXPECT_EQ(run_once({"verify", path("model")}).code, 0);
  EXPECT_THAT(run_once({"inspect", path("model")}).out, HasSubstr("differentially private"));
  const Outcome said = run_once({"transform", "--model", path("model"), "--data", data});
  EXPECT_EQ(std::count(said.out.begin(), said.out.end(), '\n'), 6) << said.err;
  EXPECT_THAT(run_once({"evaluate", "--model", path("model"), "--data", data, "--json"}).out,
              HasSubstr("\"perplexity\""));
}

}  // namespace sotto::cli::sequences_test
