// Edges of training (families_test.cpp has the rest), evaluation and drafting through the command
// line on neighbouring CSV files with one tape of randomness: no noised query may move by more than
// it declares, and nothing else that leaves the process (text, messages, files) may differ at all.
#include <gmock/gmock.h>

#include <regex>

#include "family_offers_test.hpp"

namespace sotto::cli::tabular_replay_test {

using testing::HasSubstr;

const std::string kHeader = "who,age,city,smoker,ill,cost,grade\n";
const std::string kRows =
    "a,25,Turin,0,no,100,B\nb,62,Milan,1,yes,900,C\nc,45,Turin,1,no,450,A\nd,33,Oslo,0,no,90,B\n"
    "e,80,Milan,,yes,1000,C\nf,51,,1,yes,700,A\ng,17,Turin,0,no,0,B\nh,90,Milan,1,yes,999,C\n";
// At and beyond the bounds, missing, unreadable, undeclared.
const std::vector<std::string> kExtremes = {
    "z,1e300,Milan,1,yes,1000,A\n", "z,-1e300,Turin,0,no,0,B\n", "z,,Atlantis,,no,1e9,C\n",
    "z,nan,,1,yes,-5,A\n", "z,seventeen,Milan,0,yes,500,B\n"};

class TabularReplay : public CommandCase {
 protected:
  std::string schema(const std::string& relation, std::size_t rows, const std::string& top = "") {
    return file("schema.toml", "relation = \"" + relation + "\"\nrows = " + std::to_string(rows) +
                                   "\n" + top + kColumns);
  }
  std::string csv(const std::string& name, const std::string& rows) const {
    return file(name, kHeader + rows);
  }

  // Everything that can be planned.
  std::vector<Offer> runs(const std::string& schema) const {
    std::vector<Offer> all;
    for (const Family* family : hosted()) {
      for (const Kind& kind : family->kinds) {
        for (const Offer& offer : offers_of(*family, kind)) {
          Rng rng = Rng::insecure_seed(1);
          if (run_words(words(offer, schema, "absent.csv") + Words{"--dry-run"}, rng).code == 0)
            all.push_back(offer);
        }
      }
    }
    return all;
  }
  Words words(const Offer& run, const std::string& schema, const std::string& data) const {
    return run.train(schema, path("model")) + Words{"--data", data, "--json"};
  }
  // Of one file with each of the others; its run is recorded once.
  void expect_neighbours(const std::string& schema, const std::string& a,
                         const std::vector<std::string>& others) {
    const std::vector<Offer> all = runs(schema);
    ASSERT_GE(all.size(), 12u);
    for (const Offer& run : all) {
      const RecordedRun first = record_run(words(run, schema, a), path("model"), 1);
      for (const std::string& b : others)
        EXPECT_EQ(difference(first, words(run, schema, b), path("model")), "") << run.text() << b;
    }
  }
};

TEST_F(TabularReplay, TrainingOnNothingIsLikeTrainingOnOneRow) {
  expect_neighbours(schema("add_remove", 8), csv("a.csv", ""), {csv("b.csv", kExtremes[0])});
}

// A nulled row is one whose cells are all missing, whatever the schema does with missing cells
// elsewhere.
TEST_F(TabularReplay, TrainingWithOneRowNulled) {
  const std::string strict =
      std::regex_replace(std::string(kColumns), std::regex("missing = \"midpoint\"\n"), "");
  const std::string complete = std::regex_replace(kRows, std::regex("Milan,,"), "Milan,0,");
  for (const std::string& columns : {std::string(kColumns), strict}) {
    const std::string s = file("schema.toml", "relation = \"zero_out\"\nrows = 9\n" + columns);
    expect_neighbours(
        s, csv("a.csv", complete + ",,,,,,\n"),
        {csv("b.csv", complete + kExtremes[0]), csv("c.csv", complete + kExtremes[1])});
  }
}

TEST_F(TabularReplay, TrainingWithOneUserNulled) {
  const std::string s = file("schema.toml", std::string("relation = \"zero_out\"\nrows = 10\n"
                                                        "max_contributions = 2\n") +
                                                kColumns + kUserColumn);
  const std::vector<Offer> all = runs(s);
  ASSERT_GE(all.size(), 2u);
  const std::string user = kExtremes[0] + kExtremes[1] + kExtremes[2], null = "z,,,,,,\n";
  for (const Offer& run : all)
    EXPECT_EQ(difference(words(run, s, csv("a.csv", kRows + user)),
                         words(run, s, csv("b.csv", kRows + null + null + null)), path("model")),
              "")
        << run.text();
}

TEST_F(TabularReplay, TrainingWithOneUserMoreOrLess) {
  std::string many;
  for (const std::string& row : kExtremes) many += row;  // one user, five rows, two of them kept
  const std::string s = file("schema.toml", std::string("relation = \"add_remove\"\nrows = 8\n"
                                                        "max_contributions = 2\n") +
                                                kColumns + kUserColumn);
  const std::vector<Offer> all = runs(s);
  ASSERT_GE(all.size(), 2u);
  for (const Offer& run : all)
    EXPECT_EQ(difference(words(run, s, csv("a.csv", kRows)),
                         words(run, s, csv("b.csv", many + kRows)), path("model")),
              "")
        << run.text();
}

TEST_F(TabularReplay, CatchesFilesThatAreNoNeighbours) {
  const std::string s = schema("add_remove", 8);
  const Offer run{
      &families().front(), "linear", "cost", "auto", {"--epsilon", "1", "--delta", "1e-6"}};
  std::string far = kRows;
  for (int i = 0; i < 4; ++i) far += kExtremes[0];
  EXPECT_THAT(difference(words(run, s, csv("a.csv", kRows)), words(run, s, csv("b.csv", far)),
                         path("model")),
              HasSubstr("moved by"));
}

class EvaluationReplay : public TabularReplay {
 protected:
  // A model made without noise from public rows.
  std::string train(const std::string& model, const std::string& target,
                    const std::string& schema) {
    Rng rng = Rng::insecure_seed(1);
    std::filesystem::remove_all(path("public"));
    const Outcome outcome =
        run_words({"train", "--data", csv("public.csv", kRows), "--schema", schema, "--model",
                   model, "--target", target, "--method", "none", "--out", path("public")},
                  rng);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return path("public");
  }
  Words evaluate(const std::string& data, const Words& more) {
    return Words{"evaluate", "--model", path("public"),  "--data",
                 data,       "--json",  "--certificate", path("certificate")} +
           more;
  }
};

TEST_F(EvaluationReplay, WithABudgetOnNeighbouringFiles) {
  for (const std::string relation : {"add_remove", "replace_one", "zero_out"}) {
    const std::string other = relation == "add_remove"    ? ""
                              : relation == "replace_one" ? "z,40,Turin,0,no,500,C\n"
                                                          : ",,,,,,\n";
    for (const auto& [model, target] : {std::pair<std::string, std::string>("logistic", "ill"),
                                        {"logistic", "grade"},
                                        {"linear", "cost"}}) {
      train(model, target, schema(relation, 8));
      for (const std::string& row : kExtremes) {
        const std::string a = csv("a.csv", kRows + other), b = csv("b.csv", kRows + row);
        for (const Words& budget :
             {Words{"--epsilon", "1"}, Words{"--epsilon", "1", "--delta", "1e-6"},
              Words{"--rho", "0.1", "--delta", "1e-6", "--groups", "city"}}) {
          EXPECT_EQ(difference(evaluate(a, budget), evaluate(b, budget), path("certificate")), "")
              << relation << " " << model << " " << target << " " << row;
        }
      }
    }
  }
}

TEST_F(EvaluationReplay, CatchesFilesThatAreNoNeighbours) {
  train("logistic", "ill", schema("add_remove", 8));
  const std::string a = csv("a.csv", kRows), b = csv("b.csv", kRows + kExtremes[0] + kExtremes[0]);
  EXPECT_THAT(difference(evaluate(a, {"--epsilon", "1"}), evaluate(b, {"--epsilon", "1"}),
                         path("certificate")),
              HasSubstr("moved by"));
}

TEST_F(EvaluationReplay, ClaimsNoMoreThanWasAskedAndReadsNothingInADryRun) {
  train("logistic", "ill", schema("add_remove", 8));
  Rng rng = Rng::insecure_seed(1);
  const Outcome plan = run_words({"evaluate", "--model", path("public"), "--data", "/nonexistent",
                                  "--epsilon", "1", "--delta", "1e-6", "--dry-run"},
                                 rng);
  EXPECT_EQ(plan.code, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("no data read"));
  EXPECT_EQ(rng.words(), 0u);
}

TEST_F(TabularReplay, DraftingWithABudget) {
  for (const std::string relation : {"add_remove", "replace_one", "zero_out"}) {
    const std::string other = relation == "add_remove"    ? ""
                              : relation == "replace_one" ? "z,40,Turin,0,no,500,A\n"
                                                          : ",,,,,,\n";
    const std::string a = csv("a.csv", kRows + other);
    for (const std::string& row : kExtremes) {
      const std::string b = csv("b.csv", kRows + row);
      const auto draft = [&](const std::string& data) {
        return Words{"schema",
                     "draft",
                     data,
                     "--json",
                     "--numeric",
                     "age,cost",
                     "--ignore",
                     "city,ill,grade",
                     "--boolean",
                     "smoker",
                     "--text",
                     "who",
                     "--epsilon",
                     "1",
                     "--relation",
                     relation,
                     "--certificate",
                     path("certificate")};
      };
      EXPECT_EQ(difference(draft(a), draft(b), path("certificate")), "") << relation << " " << row;
    }
  }
}

TEST_F(TabularReplay, DraftingFromTheHeaderReadsNoRow) {
  Rng rng = Rng::insecure_seed(1);
  const Outcome plain = run_words({"schema", "draft", csv("a.csv", kRows)}, rng);
  EXPECT_EQ(plain.code, 0);
  for (const std::string& other : {std::string(), std::string("x,\"y\n"), std::string("1,2\n\"")}) {
    EXPECT_EQ(run_words({"schema", "draft", csv("a.csv", other)}, rng), plain);
  }
}

// A slow machine shows progress, and not at the same steps.
TEST(RunsCompared, SpeedIsNoDifference) {
  EXPECT_EQ(timeless("training  76% 91/120  ETA 2s\ntraining 100% 120/120  7s  epsilon 1\n"
                     "took 7.2 s (NOT PRIVATE)\nnext: 50% of it\n"),
            "took 0 s (NOT PRIVATE)\nnext: 50% of it\n");
}

}  // namespace sotto::cli::tabular_replay_test
