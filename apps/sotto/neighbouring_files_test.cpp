// Neighbours that audits make: of records, and of users with all their records. What is read of a
// recorded query.
#include "commands/neighbouring_files.hpp"

#include <gtest/gtest.h>

#include <set>

#include "command_case_test.hpp"
#include "commands/released_scores.hpp"
#include "sotto/core/error.hpp"
#include "sotto/mechanisms/quantile.hpp"

namespace sotto::cli::neighbouring_files_test {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// With or without quotes it is one name.
std::string user_in(const std::string& line) {
  std::string name = line.substr(0, line.find(','));
  std::erase(name, '"');
  return name;
}

class NeighbouringFiles : public CommandCase {
 protected:
  const std::string rows = "who,x\n\"a\",1\nb,2\na,3\nc,4\nb,5\na,6\n";
  CsvText users() const { return {file("users.csv", rows), ',', UserColumn{"who", 2}}; }
};

TEST_F(NeighbouringFiles, DifferInAllRecordsOfOneUser) {
  std::mt19937_64 random(1);
  const CsvText text = users();
  std::set<std::string> changed;
  for (int i = 0; i < 60; ++i) {
    for (const Change change : {Change::drop, Change::add, Change::replace, Change::null}) {
      const CsvText::Pair pair = text.neighbours(change, random, false);
      std::multiset<std::string> a, b;
      for (const std::string& l : lines_of(pair.a)) a.insert(l);
      for (const std::string& l : lines_of(pair.b)) b.insert(l);
      std::set<std::string> gone, come;
      std::size_t less = 0, more = 0;
      for (const std::string& l : a)
        if (!b.contains(l)) gone.insert(user_in(l)), ++less;
      for (const std::string& l : b)
        if (!a.contains(l)) come.insert(user_in(l)), ++more;
      ASSERT_EQ(gone.size(), change == Change::add ? 0u : 1u);
      ASSERT_EQ(come.size(), change == Change::drop ? 0u : 1u);
      if (change == Change::add) {
        EXPECT_EQ(less, 0u);
        EXPECT_GE(more, 1u);
        EXPECT_LE(more, 5u);  // three more than are kept
        EXPECT_FALSE(come.contains("a") || come.contains("b") || come.contains("c"));
        continue;
      }
      const std::string whose = *gone.begin();
      changed.insert(whose);
      // Nothing of the user is left but, under zero_out, the name.
      for (const std::string& l : b) {
        EXPECT_TRUE(user_in(l) != whose || (change == Change::null && l.ends_with(','))) << pair.b;
      }
      EXPECT_EQ(less, whose == "a" ? 3u : whose == "b" ? 2u : 1u);
      EXPECT_EQ(more, change == Change::drop ? 0u : less);
      EXPECT_GT(pair.record, 0u);
    }
  }
  EXPECT_EQ(changed, (std::set<std::string>{"a", "b", "c"}));
}

TEST_F(NeighbouringFiles, PutUnitsOfTheCallerInThePlaceOfAUser) {
  std::mt19937_64 random(2);
  const CsvText text = users();
  for (int i = 0; i < 20; ++i) {
    const CsvText::Unit one = text.made_up(random, false), other = text.made_up(random, false);
    const CsvText::Unit mixed = text.crossed(one, other, random);
    EXPECT_EQ(mixed.size(), one.size());
    const CsvText::Pair pair = text.neighbours(Change::replace, one, other, random);
    EXPECT_EQ(lines_of(pair.a).size(), 7u);  // the number of records is public
    EXPECT_EQ(lines_of(pair.b).size(), 7u);
    EXPECT_EQ(lines_of(text.neighbours(Change::add, one, other, random).b).size(), 7 + one.size());
  }
  EXPECT_THROW(CsvText(file("other.csv", "x\n1\n"), ',', UserColumn{"who", 1}), DataError);
}

TEST_F(NeighbouringFiles, DifferInOneRecordWithoutUsers) {
  std::mt19937_64 random(3);
  const CsvText text(file("records.csv", rows), ',');
  EXPECT_EQ(lines_of(text.neighbours(Change::drop, random, false).b).size(), 6u);
  EXPECT_EQ(lines_of(text.neighbours(Change::add, random, false).b).size(), 8u);
  EXPECT_EQ(lines_of(text.neighbours(Change::replace, random, false).b).size(), 7u);
  EXPECT_EQ(lines_of(text.neighbours(Change::null, random, false).b).back(), ",");
}

// A quantile is a point of a grid, not the number of one of the scores that it announces: it says
// nothing, where a selection would say how likely it was.
TEST(ReleasedScores, DoNotTakeAQuantileForASelection) {
  const QuantilePlan plan({.relation = Relation::replace_one,
                           .bounds = Bounds(0, 10),
                           .budget = Budget::pure(5),
                           .granularity = 1});
  const std::vector<double> low(40, 1.0), high(40, 3.0);
  Rng rng = Rng::insecure_seed(1);
  const auto run = [&](const std::vector<double>& data, const replay::Recording* follow) {
    return recorded([&](Rng& own) { (void)plan.run(data, own); }, rng, follow);
  };
  const replay::Recording released = run(low, nullptr), without = run(low, &released),
                          with = run(high, &released);
  ASSERT_EQ(released.queries.size(), 1u);
  // It could be taken for one.
  ASSERT_EQ(released.queries[0].result.size(), 1u);
  ASSERT_LT(released.queries[0].result[0], released.queries[0].values.size());
  EXPECT_EQ(log_likelihood_ratio(released, without, with), 0);
}

}  // namespace sotto::cli::neighbouring_files_test
