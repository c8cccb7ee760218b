#include "sotto/ledger/decision.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/signature.hpp"
#include "sotto/ledger/period.hpp"
#include "sotto/ledger/report.hpp"
#include "sotto/ledger/stores_test.hpp"
#include "sotto/ledger/verify.hpp"

namespace sotto::ledger::decision_test {

using test::census;
using test::OnBothStores;
using test::pure;
using testing::HasSubstr;

const KeyPair& owner() {
  static const KeyPair key = new_signing_key();
  return key;
}

class DecisionTest : public OnBothStores {
 protected:
  Ledger at(OpenMode mode) {
    return {open_database(location_, mode), mode, [this] { return now_; }};
  }
  Dataset yearly(double epsilon = 1) const {
    Dataset d = census(epsilon);
    d.owner_key = owner().public_pem;
    d.period = "year";
    d.from = parse_time("2026-01-01");
    d.until = end_of_period(d.from, d.period);
    return d;
  }
  static Decision decision(const std::string& what, double epsilon = 0) {
    return {.what = what, .epsilon = epsilon, .reason = "the board said so", .by = "carla"};
  }
  static std::string why(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was refused";
  }

  std::int64_t now_ = parse_time("2026-11-16");
};
INSTANTIATE_TEST_SUITE_P(Stores, DecisionTest, ::testing::Values("sqlite", "postgres"),
                         [](const auto& store) { return store.param; });

TEST(Definition, ItsPeriodIsWholeNumbers) {
  nlohmann::json json = to_json(census(1));
  for (const nlohmann::json& bad :
       {nlohmann::json(1e300), nlohmann::json(-1), nlohmann::json(0.5), nlohmann::json("1")}) {
    json["until"] = bad;
    EXPECT_THROW(dataset_from_json(json), DataError) << bad;
  }
  json["until"] = 86400000;
  EXPECT_EQ(dataset_from_json(json).until, 86400000);
}

TEST_P(DecisionTest, ABudgetIsChargedInItsPeriodOnlyAndRenewedByItsOwner) {
  now_ = parse_time("2025-12-31");
  Ledger l = at(OpenMode::create);
  l.create(yearly());
  EXPECT_THAT(why([&] { l.charge(pure(0.1, "early")); }), HasSubstr("begins on 2026-01-01"));
  now_ = parse_time("2026-11-16");
  l.charge(pure(0.7, "a"));
  EXPECT_THAT(why([&] { l.decide("census", decision("renew"), owner().private_pem); }),
              HasSubstr("lasts until 2027-01-01"));
  now_ = parse_time("2027-01-01");
  EXPECT_THAT(why([&] { l.charge(pure(0.1, "late")); }), HasSubstr("ended on 2027-01-01"));
  EXPECT_THAT(why([&] { l.quote(pure(0.1, "late")); }), HasSubstr("ended on 2027-01-01"));
  const Receipt r = l.decide("census", decision("renew"), owner().private_pem);
  EXPECT_EQ(r.epsilon_left, 1);
  EXPECT_EQ(iso_day(l.dataset("census").until), "2028-01-01");
  EXPECT_EQ(l.charge(pure(0.8, "b")).epsilon_spent, 0.8);
  EXPECT_EQ(open(OpenMode::read).accounts().front().epsilon(), 0.8);
  verify(l);
}

TEST_P(DecisionTest, AnOpenReservationBelongsToThePeriodThatEnds) {
  Ledger l = at(OpenMode::create);
  l.create(yearly());
  const Receipt open = l.reserve(pure(0.2, "a"));
  now_ = parse_time("2027-02-01");
  EXPECT_THAT(why([&] { l.decide("census", decision("renew"), owner().private_pem); }),
              HasSubstr("reserved and not settled"));
  l.commit(open.entry);
  l.decide("census", decision("renew"), owner().private_pem);
  verify(l);
}

TEST_P(DecisionTest, RaisingCountsWhatWasSpentUnderTheNewCap) {
  Ledger l = at(OpenMode::create);
  l.create(yearly());
  l.charge(pure(0.6, "a"));
  l.charge(
      {.dataset = "census", .spec = {Relation::add_remove, {GaussianEvent{30, 1}}}, .key = "g"});
  l.abandon(l.reserve(pure(0.1, "given back")).entry, "not needed");
  EXPECT_THROW(l.charge(pure(0.6, "b")), BudgetExceeded);
  EXPECT_THAT(why([&] { l.decide("census", decision("raise", 0.5), owner().private_pem); }),
              HasSubstr("above the one there is"));
  const Receipt r = l.decide("census", decision("raise", 2), owner().private_pem);
  EXPECT_EQ(r.epsilon_cap, 2);
  EXPECT_GE(r.epsilon_spent, 0.6);
  EXPECT_LT(r.epsilon_left, 1.4);
  EXPECT_GE(l.charge(pure(0.6, "b")).epsilon_spent, 1.2);
  EXPECT_THROW(l.charge(pure(0.9, "c")), BudgetExceeded);
  verify(l);
}

TEST_P(DecisionTest, AClosedBudgetStaysClosed) {
  Ledger l = at(OpenMode::create);
  l.create(yearly());
  const Receipt open = l.reserve(pure(0.2, "a"));
  l.decide("census", decision("close"), owner().private_pem);
  EXPECT_THAT(why([&] { l.charge(pure(0.1, "b")); }), HasSubstr("is closed"));
  l.commit(open.entry);  // what was paid for may leave
  EXPECT_THAT(why([&] { l.decide("census", decision("renew"), owner().private_pem); }),
              HasSubstr("is closed"));
  verify(l);
}

TEST_P(DecisionTest, OnlyTheOwnersKeyDecides) {
  Ledger l = at(OpenMode::create);
  l.create(yearly());
  EXPECT_THAT(why([&] { l.decide("census", decision("raise", 9), new_signing_key().private_pem); }),
              HasSubstr("not the one of the owner"));
  Dataset fixed = census();
  fixed.name = "fixed";
  l.create(fixed);
  EXPECT_THAT(why([&] { l.decide("fixed", decision("raise", 9), owner().private_pem); }),
              HasSubstr("created without an owner key"));
  EXPECT_EQ(l.head().kind, "dataset");
}

// Whoever can write the store can compute hashes, but not sign.
TEST_P(DecisionTest, AForgedDecisionIsFoundByVerify) {
  Ledger l = at(OpenMode::create);
  l.create(yearly());
  l.charge(pure(0.9, "a"));
  l.decide("census", decision("raise", 2), owner().private_pem);
  verify(l);
  const Entry signed_one = l.head();
  for (const char* what : {"signature", "epsilon", "reason"}) {
    nlohmann::json body = signed_one.json;
    if (std::string(what) == "signature") body["signature"] = std::string(88, 'A');
    if (std::string(what) == "epsilon") body["definition"]["epsilon"] = 5.0;
    if (std::string(what) == "reason") body["reason"] = "another";
    const std::string text = canonical(body);
    const auto put = [&](const std::string& line) {
      l.database().run("BEGIN");
      l.database().change_one("UPDATE sotto_entries SET body = $1, hash = $2 WHERE seq = $3",
                              {line, sha256(line), signed_one.seq});
      l.database().run("COMMIT");
    };
    put(text);
    EXPECT_THROW(verify(l), VerificationFailed) << what;
    put(signed_one.body);
  }
  EXPECT_NO_THROW(verify(l));
}

TEST_P(DecisionTest, DataSetsOfTheSamePeopleShareABudget) {
  Ledger l = at(OpenMode::create);
  Dataset everybody = census(1);
  everybody.name = "everybody";
  l.create(everybody);
  for (const char* name : {"health", "income"}) {
    Dataset d = census(0.8);
    d.name = name;
    d.people = "everybody";
    l.create(d);
  }
  const auto charge = [](const std::string& dataset, double epsilon, const std::string& key) {
    Charge c = pure(epsilon, key);
    c.dataset = dataset;
    return c;
  };
  const Receipt r = l.charge(charge("health", 0.6, "a"));
  EXPECT_EQ(r.epsilon_left, 0.2);
  EXPECT_EQ(r.people_left, 0.4);
  EXPECT_THAT(why([&] { l.charge(charge("income", 0.5, "b")); }), HasSubstr("'everybody'"));
  const Receipt open = l.reserve(charge("income", 0.4, "c"));
  EXPECT_EQ(open.people_left, 0);
  EXPECT_THAT(why([&] { l.commit(open.entry - 1); }), HasSubstr("is the shared part of"));
  l.abandon(open.entry, "not needed");
  EXPECT_EQ(l.quote(charge("income", 0.4, "d")).people_left, 0);
  l.charge(charge("income", 0.3, "e"));
  EXPECT_EQ(l.charge(charge("income", 0.3, "e")).replayed, true);
  l.commit(l.reserve(charge("income", 0.1, "f")).entry);
  EXPECT_THROW(l.charge(charge("health", 0.1, "g")), BudgetExceeded);
  verify(l);
  Dataset nested = census();
  nested.name = "nested";
  nested.people = "health";
  EXPECT_THROW(l.create(nested), InvalidArgument);
}

TEST_P(DecisionTest, TheStorySaysWhatWhoWhyAndWhatItCost) {
  Ledger l = at(OpenMode::create);
  l.create(yearly(1));
  Charge c = pure(0.6, "a");
  c.what = "mean of age", c.by = "ada", c.purpose = "report";
  l.charge(c);
  c = pure(0.6, "b");
  c.what = "count", c.by = "bob";
  EXPECT_THROW(l.charge(c), BudgetExceeded);
  now_ = parse_time("2027-01-02");
  l.decide("census", decision("renew"), owner().private_pem);
  l.charge(pure(0.2, "c"));
  const Story told = story(l.entries("census"), 100);
  ASSERT_EQ(told.lines.size(), 4u);
  EXPECT_EQ(told.periods, 2u);
  const Line& first = told.lines[0];
  EXPECT_EQ(first.what, "mean of age");
  EXPECT_EQ(first.by, "ada");
  EXPECT_EQ(first.why, "report");
  EXPECT_NEAR(*first.own, 0.6, 1e-5);
  EXPECT_DOUBLE_EQ(*first.added, 0.6);
  EXPECT_EQ(told.lines[1].kind, "refusal");
  EXPECT_EQ(told.lines[1].key, "b");
  EXPECT_THAT(told.lines[1].state, HasSubstr("does not cover this"));
  EXPECT_EQ(told.lines[2].kind, "decision");
  EXPECT_EQ(told.lines[2].signer, key_fingerprint(owner().public_pem));
  EXPECT_EQ(told.lines[3].what, "pure");
  EXPECT_EQ(told.lines[3].period, 1u);
  EXPECT_DOUBLE_EQ(*told.lines[3].added, 0.2);
}

TEST_P(DecisionTest, ARefusalSaysWhatWouldFitAndUsesUpNoKey) {
  Ledger l = at(OpenMode::create);
  l.create(census(1));
  l.charge(pure(0.75, "a"));
  try {
    l.charge(pure(0.5, "b"));
    FAIL() << "not refused";
  } catch (const BudgetExceeded& refused) {
    EXPECT_THAT(refused.hint(), HasSubstr("still fits: epsilon = 0.2"));
  }
  EXPECT_EQ(l.head().kind, "refuse");
  EXPECT_NEAR(*l.largest_like(pure(0.5, "b")), 0.25, 1e-3);
  EXPECT_LE(*l.largest_like(pure(0.5, "b")), 0.25);
  EXPECT_NO_THROW(l.charge(pure(0.25, "b")));
  EXPECT_FALSE(l.largest_like(pure(0.5, "c")).has_value());
  verify(l);
}

}  // namespace sotto::ledger::decision_test
