// Every family of the list, held to the same promises through the command line, under every
// relation. Nothing here names a family: one that is registered is tested.
#include "families.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "family_offers_test.hpp"
#include "options/arguments.hpp"
#include "sotto/core/certified_directory.hpp"

namespace sotto::cli::families_test {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::ordered_json;

const std::string kHeader = "age,city,smoker,ill,cost,grade\n";
const std::string kRows =
    "25,Turin,0,no,100,B\n62,Milan,1,yes,900,C\n45,Turin,1,no,450,A\n33,Oslo,0,no,90,B\n"
    "80,Milan,,yes,1000,C\n51,,1,yes,700,A\n17,Turin,0,no,0,B\n90,Milan,1,yes,999,C\n";
const std::string kLast = "40,Turin,0,no,500,C\n";  // the row that comes, goes or is replaced
// At and beyond the bounds, missing, unreadable, undeclared.
const std::vector<std::string> kExtremes = {"1e300,Milan,1,yes,1000,A\n", "-1e300,Turin,0,no,0,B\n",
                                            ",Atlantis,,no,1e9,C\n", "nan,,1,yes,-5,A\n"};

class Families : public CommandCase {
 protected:
  std::string schema(Relation relation, std::size_t rows) const {
    return file("schema.toml", "relation = \"" + std::string(name(relation)) +
                                   "\"\nrows = " + std::to_string(rows) + "\n" + kColumns);
  }
  std::string csv(const std::string& name, const std::string& rows) const {
    return file(name, kHeader + rows);
  }
  Words train(const Offer& offer, const std::string& data, const std::string& out = "model") const {
    return offer.train(path("schema.toml"), path(out)) + Words{"--data", data, "--json", "--quiet"};
  }
  Outcome run_once(const Words& words) {
    Rng rng = Rng::insecure_seed(1);
    return run_words(words, rng);
  }

  // Everything that plans under this relation, each planned without data. Every family plans
  // something, and so does every kind that is not for images alone.
  std::vector<Offer> offers(Relation relation, std::size_t rows) {
    schema(relation, rows);
    std::vector<Offer> all;
    for (const Family* family : hosted()) {
      const std::size_t before = all.size();
      for (const Kind& kind : family->kinds) {
        const std::size_t of_kind = all.size();
        add_offers(*family, kind, all);
        if (!family->reads_images) {
          EXPECT_GT(all.size(), of_kind) << kind.name << " " << name(relation);
        }
      }
      EXPECT_GT(all.size(), before) << family->name << " " << name(relation);
    }
    return all;
  }
  // One offer of each kind and target, by the default method where that is possible.
  std::vector<Offer> samples(Relation relation, std::size_t rows) {
    std::vector<Offer> few;
    for (const Offer& offer : offers(relation, rows))
      if (few.empty() || few.back().kind != offer.kind || few.back().target != offer.target)
        few.push_back(offer);
    return few;
  }

 private:
  void add_offers(const Family& family, const Kind& kind, std::vector<Offer>& all) {
    for (const Offer& offer : offers_of(family, kind)) {
      const Outcome plan = run_once(train(offer, "/nonexistent") + Words{"--dry-run"});
      if (plan.code != 0) {
        EXPECT_EQ(plan.code, 2) << offer.text() << plan.err;
        continue;
      }
      const Json json = Json::parse(plan.out);
      EXPECT_LE(json["epsilon"].get<double>(), 1) << offer.text();
      EXPECT_TRUE(json.contains("event")) << offer.text();
      all.push_back(offer);
    }
  }
};

TEST_F(Families, ADryRunReadsNothingAndCostsAtMostTheBudgetUnderEveryRelation) {
  for (const Relation relation : {Relation::add_remove, Relation::replace_one, Relation::zero_out})
    offers(relation, 9);
}

TEST_F(Families, ReplayOnNeighboursWithOneRowMoreOrLess) {
  const std::string a = csv("a.csv", kRows);
  for (const Offer& offer : offers(Relation::add_remove, 8)) {
    const RecordedRun first = record_run(train(offer, a), path("model"), 1);
    for (const std::string& row : kExtremes)
      EXPECT_EQ(difference(first, train(offer, csv("b.csv", kRows + row)), path("model")), "")
          << offer.text() << " " << row;
  }
}

TEST_F(Families, ReplayOnNeighboursWithOneRowReplaced) {
  const std::string a = csv("a.csv", kRows + kLast);
  for (const Offer& offer : offers(Relation::replace_one, 9)) {
    const RecordedRun first = record_run(train(offer, a), path("model"), 1);
    for (const std::string& row : kExtremes)
      EXPECT_EQ(difference(first, train(offer, csv("b.csv", kRows + row)), path("model")), "")
          << offer.text() << " " << row;
  }
}

TEST_F(Families, TheReplayCatchesFilesThatAreNoNeighbours) {
  const std::string a = csv("a.csv", kRows);
  std::string far = kRows;
  for (int i = 0; i < 8; ++i) far += kExtremes[0];
  std::map<std::string, bool> caught;
  for (const Offer& offer : samples(Relation::add_remove, 8)) {
    const bool differs =
        !difference(train(offer, a), train(offer, csv("b.csv", far)), path("model")).empty();
    caught[offer.family->name] = caught[offer.family->name] || differs;
  }
  for (const auto& [family, ok] : caught) EXPECT_TRUE(ok) << family;
}

TEST_F(Families, OddFilesTrainAndDamagedOnesAreRefusedWithoutAWordOfTheirCells) {
  for (const Offer& offer : samples(Relation::add_remove, 8)) {
    for (const std::string& rows : {std::string(), kRows.substr(0, kRows.find('\n') + 1),
                                    kLast + kLast + kLast, kExtremes[0] + kExtremes[1]}) {
      Rng rng = Rng::insecure_seed(1);
      const Outcome outcome = run_words(train(offer, csv("odd.csv", rows)), rng, path("model"));
      EXPECT_EQ(outcome.code, 0) << offer.text() << outcome.err;
    }
    for (const std::string row :
         {"25,Turin,SECRET,no,1,A\n", "25,Turin\n", "25,Turin,0,no,1,SECRET,A\n"}) {
      const Outcome outcome = run_once(train(offer, csv("bad.csv", kRows + row)));
      EXPECT_EQ(outcome.code, 3) << offer.text() << row;
      EXPECT_THAT(outcome.err + outcome.out, Not(HasSubstr("SECRET")));
      EXPECT_FALSE(std::filesystem::exists(path("model")));
      EXPECT_FALSE(std::filesystem::exists(path("model.checkpoint")));
    }
  }
}

TEST_F(Families, AnArtifactNamesItsFamilyVerifiesPredictsAndIsEvaluated) {
  for (const Offer& offer : samples(Relation::add_remove, 8)) {
    SCOPED_TRACE(offer.text());
    const std::string data = csv("data.csv", kRows);
    Rng rng;  // an artifact of a fixed seed does not verify
    ASSERT_EQ(run_words(train(offer, data), rng).code, 0);
    EXPECT_EQ(read_certified(path("model")).certificate.family, offer.family->name);
    EXPECT_EQ(run_once({"verify", path("model")}).code, 0);
    EXPECT_THAT(run_once({"inspect", path("model")}).out, HasSubstr("differentially private"));

    const bool generates = offer.target.empty() &&
                           find_kind(*offer.family, offer.kind)->tasks.front() == Task::generate;
    const Words predict =
        generates
            ? Words{"synthesize", "--model", path("model"), "--rows", "8", "--out", path("out.csv")}
            : Words{"predict", "--model", path("model"), "--data", data, "--out", path("out.csv")};
    Rng one = Rng::insecure_seed(1), same = Rng::insecure_seed(1);
    const Outcome first = run_words(predict, one, path("out.csv")),
                  second = run_words(predict, same, path("out.csv"));
    ASSERT_EQ(first.code, 0) << first.err;
    EXPECT_EQ(first.files, second.files);
    const std::string& text = first.files.at("out.csv");
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 9);
    if (generates) {  // it says nothing of records, so there is nothing to measure it by
      EXPECT_EQ(run_once({"evaluate", "--model", path("model"), "--data", data}).code, 2);
      std::filesystem::remove_all(path("model"));
      continue;
    }

    const bool predicts = !offer.target.empty();
    const Words by_group = predicts ? Words{"--groups", "city"} : Words{};
    const Outcome plain =
        run_once(Words{"evaluate", "--model", path("model"), "--data", data, "--json"} + by_group);
    ASSERT_EQ(plain.code, 0) << plain.err;
    EXPECT_EQ(Json::parse(plain.out)["rows"], 8);
    const Outcome paid = run_once(
        {"evaluate", "--model", path("model"), "--data", data, "--epsilon", "1", "--json"});
    ASSERT_EQ(paid.code, 0) << paid.err;
    EXPECT_LE(Json::parse(paid.out)["epsilon"].get<double>(), 1);
    const Outcome other = run_once({"transform", "--model", path("model"), "--data", data});
    EXPECT_EQ(other.code, predicts ? 2 : 0) << other.err;
    std::filesystem::remove_all(path("model"));
  }
}

TEST_F(Families, FilesThatAStrangerCertifiedAreRefusedNotTrusted) {
  for (const Offer& offer : samples(Relation::add_remove, 8)) {
    const std::string data = csv("data.csv", kRows);
    ASSERT_EQ(run_once(train(offer, data)).code, 0) << offer.text();
    const CertifiedDirectory honest = read_certified(path("model"));
    for (const auto& [name, bytes] : honest.files) {
      if (name == "model.pt") continue;  // for other programs: we never read it
      for (const std::string& forged :
           {std::string("{}"), std::string("nonsense"), bytes.substr(0, bytes.size() / 2)}) {
        auto files = honest.files;
        files[name] = forged;
        std::filesystem::remove_all(path("forged"));
        write_certified(path("forged"), files, honest.certificate);
        const Outcome outcome = run_once(
            {"predict", "--model", path("forged"), "--data", data, "--out", path("out.csv")});
        EXPECT_EQ(outcome.code, 3) << offer.text() << " " << name << " " << outcome.err;
      }
    }
    std::filesystem::remove_all(path("model"));
  }
}

TEST_F(Families, AutoChoosesByPublicFactsAndSaysWhy) {
  const auto quote = [&](std::size_t rows, const std::string& target, const Words& budget) {
    schema(Relation::add_remove, rows);
    const Outcome outcome =
        run_once(Words{"train", "--data", "/nonexistent", "--schema", path("schema.toml"),
                       "--model", "auto", "--target", target, "--dry-run", "--json"} +
                 budget);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const Json json = Json::parse(outcome.out);
    EXPECT_LE(json["epsilon"].get<double>(), 1);
    EXPECT_THAT(json["chosen_for"].get<std::string>(), HasSubstr("columns"));
    EXPECT_NE(family_of_kind(families(), json["model"].get<std::string>()), nullptr);
    return json["model"].get<std::string>();
  };
  const Words approximate = {"--epsilon", "1", "--delta", "1e-6"}, pure = {"--epsilon", "1"};
  // Both sides of the limits of docs/math/choice-of-family.md.
  EXPECT_EQ(quote(100, "ill", approximate), "kernel");
  EXPECT_EQ(quote(1000000, "ill", approximate), "boosting");
  EXPECT_EQ(quote(100, "grade", approximate), "kernel");
  EXPECT_EQ(quote(1000000, "grade", approximate), "kernel");
  EXPECT_EQ(quote(100, "cost", approximate), "linear");
  EXPECT_EQ(quote(3000, "cost", approximate), "kernel");
  EXPECT_EQ(quote(1000000, "cost", approximate), "boosting");
  EXPECT_EQ(quote(100, "ill", pure), "tree");
  EXPECT_EQ(quote(1000000, "ill", pure), "logistic");
  EXPECT_EQ(quote(1000000, "grade", pure), "tree");
  EXPECT_EQ(quote(100, "cost", pure), "linear");
  EXPECT_EQ(quote(1000000, "cost", pure), "linear");

  schema(Relation::add_remove, 8);
  const std::string data = csv("data.csv", kRows);
  Rng rng;
  ASSERT_EQ(run_words(Words{"train", "--data", data, "--schema", path("schema.toml"), "--model",
                            "auto", "--target", "ill", "--out", path("model")} +
                          approximate,
                      rng)
                .code,
            0);
  EXPECT_EQ(run_once({"verify", path("model")}).code, 0);
  EXPECT_EQ(run_once({"evaluate", "--model", path("model"), "--data", data}).code, 0);
  EXPECT_EQ(run_once(Words{"train", "--data", data, "--schema", path("schema.toml"), "--model",
                           "auto", "--target", "ill", "--out", path("other")})
                .code,
            2);
}

// What can be drawn is drawn, and what cannot is refused; without being asked one tree is in words.
TEST_F(Families, InspectDrawsWhatAModelShows) {
  std::size_t drawn = 0, in_words = 0;
  for (const Offer& offer : samples(Relation::add_remove, 8)) {
    ASSERT_EQ(run_once(train(offer, csv("data.csv", kRows))).code, 0) << offer.text();
    Rng unused = Rng::insecure_seed(1);
    const Outcome outcome = run_words({"inspect", path("model"), "--draw", path("picture.svg")},
                                      unused, path("picture.svg"));
    if (outcome.code == 0) {
      const std::string& svg = outcome.files.at("picture.svg");
      EXPECT_EQ(svg.rfind("<svg", 0), 0u);
      EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
      EXPECT_EQ(svg.find("nan"), std::string::npos) << offer.text();
      ++drawn;
    } else {
      EXPECT_EQ(outcome.code, 2) << offer.text() << outcome.err;
      EXPECT_FALSE(std::filesystem::exists(path("picture.svg")));
    }
    in_words += run_once({"inspect", path("model")}).out.find("─ yes: ") != std::string::npos;
    std::filesystem::remove_all(path("model"));
    std::filesystem::remove(path("picture.svg"));
  }
  if (in_guest_executable()) return;  // what can be drawn is in the plain one
  EXPECT_GE(drawn, 3u);
  EXPECT_GE(in_words, 1u);
}

TEST_F(Families, HelpOfAKindShowsItsOptionsAndNoOthers) {
  for (const Family& family : families()) {
    for (const Kind& kind : family.kinds) {
      const std::string help = run_once({"train", "--model", kind.name, "--help"}).out;
      const std::vector<Option> own = options_of(family, kind.name);
      for (const Option& option : own)
        EXPECT_THAT(help, HasSubstr("--" + as_typed(option).name + " ")) << kind.name;
      for (const Family& other : families()) {
        for (const Option& option : other.options) {
          if (sotto::find_option(own, option.name) != nullptr) continue;
          EXPECT_THAT(help, Not(HasSubstr("  --" + as_typed(option).name + " "))) << kind.name;
          const Outcome refused = run_once(
              {"train", "--data", "x", "--model", kind.name, "--" + as_typed(option).name + "=1"});
          EXPECT_EQ(refused.code, 2);
          if (option.type != Type::flag) {
            EXPECT_THAT(refused.err, HasSubstr("is not an option of the model " + kind.name));
          }
        }
      }
    }
  }
}

TEST_F(Families, NamesAreUsedOnce) {
  std::set<std::string> kinds, names;
  for (const Family& family : families()) {
    EXPECT_TRUE(names.insert(family.name).second) << family.name;
    EXPECT_FALSE(family.methods.empty());
    for (const Kind& kind : family.kinds) {
      EXPECT_TRUE(kinds.insert(kind.name).second) << kind.name;
      EXPECT_FALSE(kind.help.empty());
      EXPECT_FALSE(kind.tasks.empty());
    }
    for (const Method& method : family.methods)
      for (const std::string& option : method.options) {
        bool declared = sotto::find_option(family.options, option) != nullptr;
        for (const Kind& kind : family.kinds)
          declared = declared || sotto::find_option(kind.options, option) != nullptr;
        EXPECT_TRUE(declared) << family.name << " " << method.name << " " << option;
      }
  }
}

}  // namespace sotto::cli::families_test
