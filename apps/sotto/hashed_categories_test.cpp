// Categories that nobody listed, in every family of the list, under every relation, through files.
#include <gmock/gmock.h>

#include <algorithm>

#include "family_offers_test.hpp"
#include "sotto/core/certified_directory.hpp"

namespace sotto::cli::hashed_categories_test {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kHashed = R"(
[columns.age]
type = "numeric"
bounds = [17, 90]
missing = "midpoint"
[columns.code]
type = "categorical"
buckets = 5
key = "codes of this test"
[columns.ill]
type = "categorical"
values = ["no", "yes"]
[columns.cost]
type = "numeric"
bounds = [0, 1000]
missing = "midpoint"
[columns.grade]
type = "categorical"
values = ["A", "B", "C"]
)";
const std::string kHeader = "age,code,ill,cost,grade\n";
const std::string kRows =
    "25,SECRET1,no,100,B\n62,SECRET2,yes,900,C\n45,SECRET1,no,450,A\n33,SECRET3,no,90,B\n"
    "80,SECRET2,yes,1000,C\n51,,yes,700,A\n17,SECRET4,no,0,B\n90,SECRET5,yes,999,C\n";
const std::string kLast = "40,SECRET1,no,500,C\n";
const std::vector<std::string> kExtremes = {"90,never before,yes,1000,A\n", "17,,no,0,B\n",
                                            "17,#0,yes,1e9,C\n"};
const std::string kNulled = ",,,,\n";

class HashedCategories : public CommandCase {
 protected:
  // One offer of each kind and target that plans. Only what would have to write values is refused,
  // and says why.
  std::vector<Offer> offers(Relation relation) {
    file("schema.toml", "relation = \"" + std::string(name(relation)) + "\"\nrows = 9\n" + kHashed);
    std::vector<Offer> few;
    for (const Family* family : hosted()) {
      for (const Kind& kind : family->kinds) {
        const bool writes = kind.tasks.front() == Task::generate;
        bool plans = false;
        for (const Offer& offer : offers_of(*family, kind)) {
          if (!few.empty() && few.back().kind == offer.kind && few.back().target == offer.target)
            continue;
          Rng rng = Rng::insecure_seed(1);
          const Outcome plan = run_words(train(offer, "/nonexistent") + Words{"--dry-run"}, rng);
          if (plan.code == 0) few.push_back(offer);
          if (writes) {
            EXPECT_EQ(plan.code, 2) << offer.text();
            EXPECT_THAT(plan.err, HasSubstr("column 'code' is hashed"));
          }
          plans = plans || plan.code == 0;
        }
        if (!family->reads_images) {
          EXPECT_NE(plans, writes) << kind.name;
        }
      }
    }
    return few;
  }
  Words train(const Offer& offer, const std::string& data) const {
    return offer.train(path("schema.toml"), path("model")) +
           Words{"--data", data, "--json", "--quiet"};
  }
};

TEST_F(HashedCategories, ReplayOnNeighboursUnderEveryRelation) {
  for (const Relation relation :
       {Relation::add_remove, Relation::replace_one, Relation::zero_out}) {
    const bool alone = relation == Relation::add_remove;
    const std::string a = file("a.csv", kHeader + kRows + (alone ? "" : kLast));
    const std::vector<std::string> others =
        relation == Relation::zero_out ? std::vector{kNulled} : kExtremes;
    for (const Offer& offer : offers(relation)) {
      const RecordedRun first = record_run(train(offer, a), path("model"), 1);
      for (const std::string& row : others)
        EXPECT_EQ(
            difference(first, train(offer, file("b.csv", kHeader + kRows + row)), path("model")),
            "")
            << offer.text() << " " << name(relation) << " " << row;
    }
  }
}

TEST_F(HashedCategories, AModelReadsWhatItNeverSawAndHoldsNoValue) {
  const std::string data = file("data.csv", kHeader + kRows);
  const std::string fresh = file("fresh.csv", kHeader + "30,brand new,no,1,A\n31,,yes,2,B\n");
  for (const Offer& offer : offers(Relation::add_remove)) {
    SCOPED_TRACE(offer.text());
    Rng rng;
    ASSERT_EQ(run_words(train(offer, data), rng).code, 0);
    EXPECT_EQ(run_words({"verify", path("model")}, rng).code, 0);
    for (const auto& [name, bytes] : read_certified(path("model")).files)
      EXPECT_THAT(bytes, Not(HasSubstr("SECRET"))) << name;
    const Outcome first =
        run_words({"predict", "--model", path("model"), "--data", fresh, "--out", path("o.csv")},
                  rng, path("o.csv"));
    ASSERT_EQ(first.code, 0) << first.err;
    const std::string& text = first.files.at("o.csv");
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
    std::filesystem::remove_all(path("model"));
  }
}

}  // namespace sotto::cli::hashed_categories_test
