#include "sotto/ledger/tally.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "sotto/accounting/account.hpp"
#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"
#include "sotto/ledger/stores_test.hpp"
#include "sotto/ledger/verify.hpp"

namespace sotto::ledger::tally_test {

using test::TemporaryDirectory;

Dataset votes_of_patients() {
  Dataset d;
  d.name = "patients";
  d.epsilon = 20, d.delta = 1e-4, d.own_delta = 2.5e-5;
  d.this_data_epsilon = 5;
  return d;
}

Charge gaussian(const std::string& key, double delta, double noise = 2) {
  return {.dataset = "patients",
          .spec = {Relation::add_remove, {GaussianEvent{noise}}},
          .key = key,
          .this_data_delta = delta};
}

class TallyTest : public testing::Test {
 protected:
  Ledger open() { return Ledger::open({.place = directory_.file("budget.db")}, OpenMode::create); }
  TemporaryDirectory directory_;
};

TEST_F(TallyTest, CountsGuaranteesUntilAStatementIsFinal) {
  Ledger ledger = open();
  ledger.create(votes_of_patients());
  const Receipt reserved = ledger.reserve(gaussian("a", 1e-5));
  const double worst = guarantee(Spec{Relation::add_remove, {GaussianEvent{2}}}, 1e-5).upper;
  ASSERT_TRUE(reserved.this_data);
  EXPECT_NEAR(reserved.this_data->epsilon(), worst, 1e-9);
  const Receipt said = ledger.commit(reserved.entry, "labels", Statement{.5, 1e-5, .95});
  EXPECT_EQ(said.this_data->epsilon(), .5);
  EXPECT_EQ(said.this_data->confidence(), .95);
  // A run that died, or says nothing, stays at its guarantee; one that is called off counts 0.
  ledger.charge(gaussian("b", 0));
  const double more = guarantee(Spec{Relation::add_remove, {GaussianEvent{2}}}, 1e-4 / 64).upper;
  EXPECT_NEAR(ledger.tally(votes_of_patients()).epsilon(), .5 + more, 1e-9);
  const Receipt off = ledger.reserve(gaussian("c", 1e-5, 20));
  ledger.abandon(off.entry, "called off");
  EXPECT_NEAR(ledger.tally(votes_of_patients()).epsilon(), .5 + more, 1e-9);
  EXPECT_NO_THROW(verify(ledger, ""));
}

TEST_F(TallyTest, RefusesWhatItDoesNotCoverThoughTheBudgetDoes) {
  Ledger ledger = open();
  ledger.create(votes_of_patients());
  const Receipt first = ledger.reserve(gaussian("a", 1e-5, 1.2));
  EXPECT_GT(first.epsilon_left, 4);
  EXPECT_THROW(ledger.quote(gaussian("b", 1e-5, 1.2)), BudgetExceeded);
  EXPECT_THROW(ledger.reserve(gaussian("b", 1e-5, 1.2)), BudgetExceeded);
  ledger.commit(first.entry, "labels", Statement{1, 1e-5, .95});
  EXPECT_NO_THROW(ledger.reserve(gaussian("b", 1e-5, 1.2)));
  // δ adds up, too.
  EXPECT_THROW(ledger.reserve(gaussian("c", 9e-5, 1000)), BudgetExceeded);
  EXPECT_NO_THROW(verify(ledger, ""));
}

TEST_F(TallyTest, AStatementIsFinalOnceAndNeverMoreThanTheGuarantee) {
  Ledger ledger = open();
  ledger.create(votes_of_patients());
  const Receipt one = ledger.reserve(gaussian("a", 1e-5));
  const double worst = one.this_data->epsilon();
  // The same key is the same reservation: nothing is drawn twice at one price.
  EXPECT_TRUE(ledger.reserve(gaussian("a", 1e-5)).replayed);
  for (const Statement& said :
       {Statement{worst + 1, 1e-5, .95}, Statement{.1, 2e-5, .95}, Statement{.1, 1e-5, 1},
        Statement{.1, 1e-5, .5}, Statement{NAN, 1e-5, .95}, Statement{-1, 1e-5, .95}}) {
    Tally tally = ledger.tally(votes_of_patients());
    EXPECT_FALSE(tally.lower(one.entry, said));
    EXPECT_EQ(tally.epsilon(), worst);
  }
  ledger.commit(one.entry, "labels", Statement{.1, 1e-5, .95});
  EXPECT_THROW(ledger.commit(one.entry, "labels", Statement{.01, 1e-5, .95}), InvalidArgument);
}

TEST_F(TallyTest, StatementsCountWhileTheyHoldTogether) {
  Ledger ledger = open();
  Dataset d = votes_of_patients();
  d.epsilon = d.this_data_epsilon = 100, d.delta = 1e-3, d.own_delta = 1e-4;
  ledger.create(d);
  for (int i = 0; i < 5; ++i) {
    const Receipt r = ledger.reserve(gaussian(std::to_string(i), 1e-6, 4));
    const Receipt done = ledger.commit(r.entry, "labels", Statement{.1, 1e-6, .95});
    EXPECT_GE(done.this_data->confidence(), Tally::kTogether);
  }
  // Four risks of .05 are the .2 that there are; the fifth counts with its guarantee.
  const Tally tally = ledger.tally(d);
  const double one = guarantee(Spec{Relation::add_remove, {GaussianEvent{4}}}, 1e-6).upper;
  EXPECT_NEAR(tally.epsilon(), .4 + one, 1e-9);
  EXPECT_NO_THROW(verify(ledger, ""));
}

TEST_F(TallyTest, GoesWithAPlainBudgetOnly) {
  Ledger ledger = open();
  Dataset d = votes_of_patients();
  d.delta = d.own_delta = 0;
  EXPECT_THROW(ledger.create(d), InvalidArgument);
  d = votes_of_patients(), d.parts = {"north", "south"};
  EXPECT_THROW(ledger.create(d), InvalidArgument);
  ledger.create(votes_of_patients());
  d = votes_of_patients(), d.name = "others", d.this_data_epsilon = 0, d.people = "patients";
  EXPECT_THROW(ledger.create(d), InvalidArgument);
}

// Whoever can write the store can compute hashes. The newest entry is the commit, then the
// reservation of another release.
TEST_F(TallyTest, AnEntryThatStatesLessIsFoundByVerify) {
  Ledger ledger = open();
  ledger.create(votes_of_patients());
  const Receipt r = ledger.reserve(gaussian("a", 1e-5));
  const auto found = [&](const std::function<void(nlohmann::json&)>& change) {
    const Entry newest = ledger.head();
    nlohmann::json body = newest.json;
    change(body);
    const auto put = [&](const std::string& line) {
      ledger.database().run("BEGIN");
      ledger.database().change_one("UPDATE sotto_entries SET body = $1, hash = $2 WHERE seq = $3",
                                   {line, sha256(line), newest.seq});
      ledger.database().run("COMMIT");
    };
    // The witness would notice it as well; here the chain has to.
    const auto says = [&] {
      try {
        verify(ledger, "");
      } catch (const VerificationFailed& failed) {
        return std::string(failed.what());
      }
      return std::string();
    };
    put(canonical(body));
    const std::string result = says();
    put(newest.body);
    EXPECT_EQ(says(), "");
    return result;
  };
  using testing::HasSubstr;
  EXPECT_THAT(found([](auto& body) { body["this_data"]["epsilon"] = .1; }),
              HasSubstr("charged less than its events cost"));
  EXPECT_THAT(found([](auto& body) { body["this_data"]["confidence"] = .9; }),
              HasSubstr("charged less than its events cost"));
  EXPECT_THAT(found([](auto& body) { body.erase("this_data"); }), HasSubstr("was not charged"));
  ledger.commit(r.entry, "labels", Statement{.5, 1e-5, .95});
  for (const Statement& said :
       {Statement{50, 1e-5, .95}, Statement{.1, 1e-6, .95}, Statement{.1, 1e-5, .7}})
    EXPECT_THAT(found([&](auto& body) { body["this_data"] = to_json(said); }),
                HasSubstr("does not count"));
}

}  // namespace sotto::ledger::tally_test
