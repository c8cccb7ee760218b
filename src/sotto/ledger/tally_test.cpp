#include "sotto/ledger/tally.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "sotto/accounting/account.hpp"
#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"
#include "sotto/ledger/detail/schema.hpp"
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

// A release of noise and the two releases that make a statement about the data (docs/math/pate.md).
const Event kSmooth = TcdpEvent{.002, 40};
const Event kScale = DiscreteGaussianEvent{20, 1, 0x1p-20, 1};

Spec spec_of(double noise) {
  return {Relation::add_remove, {compose({GaussianEvent{noise}, kSmooth, kScale})}};
}

Charge labels(const std::string& key, double delta, double noise = 2, double confidence = .95) {
  return {.dataset = "patients",
          .spec = spec_of(noise),
          .key = key,
          .announced = {.delta = delta, .confidence = confidence}};
}

Charge plain(const std::string& key, Event event) {
  return {.dataset = "patients", .spec = {Relation::add_remove, {std::move(event)}}, .key = key};
}

Dataset large_budget() {
  Dataset d = votes_of_patients();
  d.epsilon = 1000, d.this_data_epsilon = 100, d.delta = 1e-3, d.own_delta = 1e-4;
  return d;
}

class TallyTest : public testing::Test {
 protected:
  Ledger open() { return Ledger::open({.place = directory_.file("budget.db")}, OpenMode::create); }
  TemporaryDirectory directory_;
};

// Whoever can write the store can compute hashes, and more so who may append to it.
void put_behind(Ledger& ledger, nlohmann::json body) {
  const Entry newest = ledger.head();
  body["previous"] = newest.hash, body["seq"] = newest.seq + 1, body["dataset"] = "patients";
  body["time"] = newest.json.at("time");
  if (!body.contains("spends")) body["spends"] = newest.json.at("spends");
  const std::string line = canonical(body);
  const auto key = body.contains("key") ? Value(body["key"].get<std::string>()) : Value{};
  const auto refers = body.contains("entry") ? Value(body["entry"].get<std::int64_t>()) : Value{};
  ledger.database().run("BEGIN");
  ledger.database().change_one(
      "INSERT INTO sotto_entries (seq, kind, dataset, release_key, refers, body, hash) VALUES "
      "($1, $2, 'patients', $3, $4, $5, $6)",
      {newest.seq + 1, body["kind"].get<std::string>(), key, refers, line, sha256(line)});
  ledger.database().run("COMMIT");
}

TEST_F(TallyTest, CountsGuaranteesUntilAStatementIsFinal) {
  Ledger ledger = open();
  ledger.create(votes_of_patients());
  const Receipt reserved = ledger.reserve(labels("a", 1e-5));
  const double worst = guarantee(spec_of(2), 1e-5).upper;
  ASSERT_TRUE(reserved.this_data);
  EXPECT_NEAR(reserved.this_data->epsilon(), worst, 1e-9);
  EXPECT_EQ(reserved.this_data->confidence(), .95);
  const Receipt said = ledger.commit(reserved.entry, "labels", Statement{.5, 1e-5, .95});
  EXPECT_EQ(said.this_data->epsilon(), .5);
  EXPECT_EQ(said.this_data->confidence(), .95);
  EXPECT_GE(said.this_data->failure(), .05 + 1e-5);
  // A run that died, or says nothing, stays at its guarantee; one that is called off counts 0.
  ledger.charge(plain("b", GaussianEvent{2}));
  const double more = guarantee(Spec{Relation::add_remove, {GaussianEvent{2}}}, 1e-4 / 64).upper;
  EXPECT_NEAR(ledger.tally(votes_of_patients()).epsilon(), .5 + more, 1e-9);
  const Receipt off = ledger.reserve(labels("c", 1e-5, 20));
  ledger.abandon(off.entry, "called off");
  EXPECT_NEAR(ledger.tally(votes_of_patients()).epsilon(), .5 + more, 1e-9);
  EXPECT_NO_THROW(verify(ledger, ""));
}

TEST_F(TallyTest, RefusesWhatItDoesNotCoverThoughTheBudgetDoes) {
  Ledger ledger = open();
  ledger.create(votes_of_patients());
  const Receipt first = ledger.reserve(labels("a", 1e-5, 1.2));
  EXPECT_GT(first.epsilon_left, 4);
  EXPECT_THROW(ledger.quote(labels("b", 1e-5, 1.2)), BudgetExceeded);
  EXPECT_THROW(ledger.reserve(labels("b", 1e-5, 1.2)), BudgetExceeded);
  ledger.commit(first.entry, "labels", Statement{.4, 1e-5, .95});
  EXPECT_NO_THROW(ledger.reserve(labels("b", 1e-5, 1.2)));
  // δ adds up, too.
  EXPECT_THROW(ledger.reserve(labels("c", 9e-5, 1000)), BudgetExceeded);
  EXPECT_NO_THROW(verify(ledger, ""));
}

TEST_F(TallyTest, AStatementIsFinalOnceAndAsItWasAnnounced) {
  Ledger ledger = open();
  ledger.create(votes_of_patients());
  const Receipt one = ledger.reserve(labels("a", 1e-5));
  const double worst = one.this_data->epsilon();
  // The same key is the same reservation: nothing is drawn twice at one price.
  EXPECT_TRUE(ledger.reserve(labels("a", 1e-5, 2, .6)).replayed);
  const double least = *least_statement(spec_of(2).event(), 1e-5);
  EXPECT_GT(least, .1);
  for (const Statement& said :
       {Statement{worst + 1, 1e-5, .95}, Statement{.5, 2e-5, .95}, Statement{.5, 1e-5, 1},
        Statement{.5, 1e-5, .6}, Statement{.5, 1e-5, 1 - 1e-15}, Statement{NAN, 1e-5, .95},
        Statement{-1, 1e-5, .95}, Statement{least * .99, 1e-5, .95}}) {
    Tally tally = ledger.tally(votes_of_patients());
    EXPECT_FALSE(tally.lower(one.entry, said, spec_of(2).event()));
    EXPECT_EQ(tally.epsilon(), worst);
  }
  ledger.commit(one.entry, "labels", Statement{.5, 1e-5, .95});
  EXPECT_THROW(ledger.commit(one.entry, "labels", Statement{.4, 1e-5, .95}), InvalidArgument);
  Tally tally = ledger.tally(votes_of_patients());
  EXPECT_FALSE(tally.lower(one.entry, Statement{.4, 1e-5, .95}, spec_of(2).event()));
}

// A run that died may have drawn what it would have said. Another one draws again: if only that
// counted, whoever kills runs chooses.
TEST_F(TallyTest, EachRunThatTakesAReservationUpTakesItsRisk) {
  Ledger ledger = open();
  const Dataset d = large_budget();
  ledger.create(d);
  const Receipt one = ledger.reserve(labels("a", 1e-5));
  EXPECT_EQ(ledger.tally(d).confidence(), .95);
  const Receipt two = ledger.reserve(labels("a", 1e-5));
  EXPECT_TRUE(two.replayed);
  EXPECT_NEAR(two.this_data->risk(), .1, 1e-12);
  EXPECT_EQ(ledger.head().kind, "resume");
  ledger.quote(labels("a", 1e-5));  // draws nothing
  EXPECT_NEAR(ledger.tally(d).risk(), .1, 1e-12);
  ledger.commit(one.entry, "labels", Statement{.5, 1e-5, .95});
  EXPECT_EQ(ledger.tally(d).epsilon(), .5);
  // Where no risk is left, nothing is believed.
  const Receipt other = ledger.reserve(labels("b", 1e-5));
  for (int i = 0; i < 3; ++i) ledger.reserve(labels("b", 1e-5));
  EXPECT_NEAR(ledger.tally(d).risk(), .2, 1e-12);
  ledger.commit(other.entry, "labels", Statement{.5, 1e-5, .95});
  EXPECT_NEAR(ledger.tally(d).epsilon(), .5 + guarantee(spec_of(2), 1e-5).upper, 1e-9);
  EXPECT_FALSE(ledger.entries("patients").back().json.contains("this_data"));
  EXPECT_NO_THROW(verify(ledger, ""));
  // What draws nothing again is taken up without an entry.
  const std::int64_t plainly = ledger.reserve(plain("c", PureEvent{.1})).entry;
  EXPECT_TRUE(ledger.reserve(plain("c", PureEvent{.1})).replayed);
  EXPECT_EQ(ledger.head().seq, plainly);
  put_behind(ledger, {{"kind", "resume"}, {"resumes", plainly}});
  EXPECT_THROW(verify(ledger, ""), VerificationFailed);
}

TEST_F(TallyTest, AStatementThatFindsNoRiskForItsRunIsNoEntryThatHolds) {
  Ledger ledger = open();
  ledger.create(large_budget());
  const Receipt one = ledger.reserve(labels("a", 1e-5));
  for (int i = 0; i < 4; ++i) ledger.reserve(labels("a", 1e-5));
  put_behind(
      ledger,
      {{"kind", "commit"}, {"entry", one.entry}, {"this_data", to_json(Statement{.5, 1e-5, .95})}});
  EXPECT_THROW(verify(ledger, ""), VerificationFailed);
  EXPECT_THROW(ledger.reserve(labels("b", 1e-5)), VerificationFailed);
}

// With δ used up, a pure release counts with its pure ε, however much a little δ would lower it.
TEST_F(TallyTest, WhatIsPureNeedsNoDelta) {
  Ledger ledger = open();
  Dataset d = large_budget();
  d.delta = 1e-5, d.own_delta = 1e-6;
  ledger.create(d);
  const Event many = repeat(PureEvent{.01}, 2000);
  ledger.charge(plain("a", many));
  EXPECT_LT(ledger.tally(d).epsilon(), 10);
  EXPECT_GT(ledger.tally(d).delta(), 0);
  ledger.charge(labels("b", ledger.tally(d).delta() * 63, 20));
  const double before = ledger.tally(d).epsilon();
  ledger.charge(plain("c", many));
  EXPECT_NEAR(ledger.tally(d).epsilon() - before, 20, 1e-9);
  EXPECT_NO_THROW(verify(ledger, ""));
}

// The union bound is over what was tried: else whoever goes on until a statement is low chooses it.
TEST_F(TallyTest, AStatementThatDoesNotCountTakesItsRiskToo) {
  Ledger ledger = open();
  const Dataset d = large_budget();
  ledger.create(d);
  // Of confidence .8 there is one in a period: above its guarantee, or called off.
  const Receipt high = ledger.reserve(labels("a", 1e-6, 4, .8));
  ledger.commit(high.entry, "labels", Statement{50, 1e-6, .8});
  EXPECT_NEAR(ledger.tally(d).confidence(), .8, 1e-12);
  const Receipt low = ledger.reserve(labels("b", 1e-6, 4, .8));
  const double before = ledger.tally(d).epsilon();
  ledger.commit(low.entry, "labels", Statement{.4, 1e-6, .8});
  EXPECT_EQ(ledger.tally(d).epsilon(), before);
  EXPECT_NEAR(ledger.tally(d).confidence(), .8, 1e-12);
  EXPECT_FALSE(ledger.head().json.contains("this_data"));
  EXPECT_NO_THROW(verify(ledger, ""));
}

TEST_F(TallyTest, AReservationThatIsCalledOffKeepsItsRisk) {
  Ledger ledger = open();
  const Dataset d = large_budget();
  ledger.create(d);
  ledger.abandon(ledger.reserve(labels("a", 1e-6, 4, .8)).entry, "not what was hoped for");
  EXPECT_EQ(ledger.tally(d).epsilon(), 0);
  EXPECT_NEAR(ledger.tally(d).confidence(), .8, 1e-12);
  const Receipt r = ledger.reserve(labels("b", 1e-6, 4, .8));
  const Receipt done = ledger.commit(r.entry, "labels", Statement{.4, 1e-6, .8});
  EXPECT_GT(done.this_data->epsilon(), .4);
  EXPECT_NO_THROW(verify(ledger, ""));
}

TEST_F(TallyTest, StatementsCountWhileTheyHoldTogether) {
  Ledger ledger = open();
  const Dataset d = large_budget();
  ledger.create(d);
  for (int i = 0; i < 5; ++i) {
    const Receipt r = ledger.reserve(labels(std::to_string(i), 1e-6, 4));
    const Receipt done = ledger.commit(r.entry, "labels", Statement{.5, 1e-6, .95});
    EXPECT_LE(done.this_data->risk(), Tally::kMostRisk);
    EXPECT_GE(done.this_data->confidence() + done.this_data->risk(), 1 - 1e-15);
    EXPECT_LE(done.this_data->confidence() + done.this_data->risk(), 1);
  }
  // Four risks of .05 are the .2 that there are; the fifth is reserved as one without a statement.
  const double one = guarantee(spec_of(4), 1e-3 / 64).upper;
  EXPECT_NEAR(ledger.tally(d).epsilon(), 2 + one, 1e-9);
  EXPECT_NO_THROW(verify(ledger, ""));
}

TEST_F(TallyTest, PureReleasesUseUpNoDelta) {
  Ledger ledger = open();
  Dataset d = votes_of_patients();
  d.delta = 1e-5, d.own_delta = 2.5e-6;
  ledger.create(d);
  for (int i = 0; i < 70; ++i) ledger.charge(plain(std::to_string(i), PureEvent{.01}));
  EXPECT_NEAR(ledger.tally(d).epsilon(), .7, 1e-9);
  EXPECT_EQ(ledger.tally(d).delta(), 0);
  // One with a δ of its own above a share is counted at a δ that covers it.
  ledger.charge(plain("approximate", ApproximateEvent{.5, 1e-6}));
  EXPECT_GE(ledger.tally(d).delta(), 1e-6);
  EXPECT_LE(ledger.tally(d).delta(), 2e-6);
  EXPECT_NO_THROW(verify(ledger, ""));
}

TEST_F(TallyTest, AllSharesOfDeltaFit) {
  Ledger ledger = open();
  Dataset d = large_budget();
  d.delta = 1e-5, d.own_delta = 2.5e-6;
  ledger.create(d);
  for (int i = 0; i < 64; ++i) ledger.charge(plain(std::to_string(i), GaussianEvent{100}));
  EXPECT_EQ(ledger.tally(d).delta(), 1e-5);
  EXPECT_THROW(ledger.charge(plain("64", GaussianEvent{100})), BudgetExceeded);
  EXPECT_NO_THROW(ledger.charge(plain("65", PureEvent{.01})));
}

// A 64th of it is no number any more.
TEST_F(TallyTest, TheSmallestDeltaOfAllEnds) {
  Dataset d = votes_of_patients();
  d.delta = std::numeric_limits<double>::denorm_min();
  const Tally tally(d);
  EXPECT_THROW(tally.worst_of({Relation::add_remove, {ApproximateEvent{1, 1e-6}}}, {}),
               BudgetExceeded);
  const Entered entered = tally.worst_of({Relation::add_remove, {GaussianEvent{100}}}, {});
  EXPECT_EQ(entered.guarantee.delta, d.delta);
  EXPECT_LT(entered.guarantee.epsilon, 1);
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

// Only the two releases that make a statement can make one, once, and behind what they speak of.
TEST_F(TallyTest, ReleasesThatCannotSayAnythingStayAtTheirGuarantee) {
  const Event noise = GaussianEvent{1.2};
  for (const Event& event : {noise, compose({kSmooth, kScale}), compose({noise, kScale, kSmooth}),
                             compose({noise, kSmooth, kScale, noise}),
                             compose({noise, kSmooth, kScale, kSmooth, kScale}),
                             compose({noise, repeat(compose({kSmooth, kScale}), 2)})})
    EXPECT_FALSE(least_statement(event, 1e-6));
  Ledger ledger = open();
  const Dataset d = large_budget();
  ledger.create(d);
  Charge charge = plain("a", noise);
  charge.announced = {1e-6, .95};
  const Receipt r = ledger.reserve(charge);
  const double worst = r.this_data->epsilon();
  EXPECT_EQ(ledger.commit(r.entry, "x", Statement{0, 1e-6, .95}).this_data->epsilon(), worst);
  EXPECT_EQ(ledger.tally(d).risk(), 0);
}

// A client of its own making appends what it likes; whoever reads it stops.
TEST_F(TallyTest, AStatementOfAnotherMakingIsNotGoneOnWith) {
  for (const nlohmann::json& said :
       {to_json(Statement{0, 1e-5, 1 - 1e-15}), to_json(Statement{-1000, 1e-5, .95}),
        to_json(Statement{.5, 1e-5, .9}), nlohmann::json{{"epsilon", "none"}}}) {
    TemporaryDirectory directory;
    Ledger ledger = Ledger::open({.place = directory.file("budget.db")}, OpenMode::create);
    ledger.create(votes_of_patients());
    const Receipt r = ledger.reserve(labels("a", 1e-5));
    put_behind(ledger, {{"kind", "commit"}, {"entry", r.entry}, {"this_data", said}});
    EXPECT_THROW(ledger.tally(votes_of_patients()), VerificationFailed) << said;
    EXPECT_THROW(ledger.charge(plain("b", PureEvent{.1})), VerificationFailed) << said;
    EXPECT_THROW(verify(ledger, ""), VerificationFailed) << said;
  }
}

// A program that does not know of tallies charges and decides without regard to them.
TEST_F(TallyTest, AChargeOrDecisionThatPassedATallyOverIsSeen) {
  Ledger ledger = open();
  Dataset d = votes_of_patients();
  ledger.create(d);
  ledger.reserve(labels("a", 1e-5, 20));
  nlohmann::json body = ledger.head().json;
  body["key"] = "b";
  body.erase("this_data");
  put_behind(ledger, body);
  EXPECT_THROW(ledger.tally(d), VerificationFailed);
  EXPECT_THROW(ledger.charge(plain("c", PureEvent{.1})), VerificationFailed);

  TemporaryDirectory directory;
  Ledger other = Ledger::open({.place = directory.file("budget.db")}, OpenMode::create);
  other.create(d);
  d.this_data_epsilon = 0;
  put_behind(other, {{"kind", "decision"}, {"decision", "raise"}, {"definition", to_json(d)}});
  other.database().run("UPDATE sotto_datasets SET seq = $1", {other.head().seq});
  EXPECT_THROW(other.dataset("patients"), VerificationFailed);
  EXPECT_THROW(other.charge(plain("c", PureEvent{.1})), VerificationFailed);
  // And it finds a schema that it does not know.
  EXPECT_THROW(require_current(other.database(), std::span(migrations().data(), 3)), StorageError);
}

TEST_F(TallyTest, APeriodBeginsAnewUnderItsOwnCaps) {
  Ledger ledger = open();
  Dataset d = votes_of_patients();
  ledger.create(d);
  ledger.charge(plain("a", GaussianEvent{20}));
  ledger.reserve(labels("b", 9e-5, 20));
  std::vector<Entry> all = ledger.entries("patients");
  d.delta = 5e-5;
  all.push_back(
      {.seq = 9, .kind = "decision", .dataset = "patients", .body = {}, .hash = {}, .json = {}});
  all.back().json = {{"decision", "renew"}, {"definition", to_json(d)}};
  const Tally after = tally_of(d, all);
  EXPECT_EQ(after.epsilon(), 0);
  EXPECT_EQ(after.failure(), 0);
  d.this_data_epsilon = 50;
  all.back().json["definition"] = to_json(d);
  EXPECT_THROW(tally_of(d, all), VerificationFailed);
}

TEST_F(TallyTest, AnEntryThatStatesLessIsFoundByVerify) {
  Ledger ledger = open();
  ledger.create(votes_of_patients());
  const Receipt r = ledger.reserve(labels("a", 1e-5));
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
              HasSubstr("charged no guarantee"));
  EXPECT_THAT(found([](auto& body) { body["this_data"]["announced"] = .7; }),
              HasSubstr("did not cover it"));
  EXPECT_THAT(found([](auto& body) { body.erase("this_data"); }), HasSubstr("was not charged"));
  ledger.commit(r.entry, "labels", Statement{.5, 1e-5, .95});
  for (const Statement& said : {Statement{50, 1e-5, .95}, Statement{.5, 1e-6, .95},
                                Statement{.5, 1e-5, .96}, Statement{.01, 1e-5, .95}})
    EXPECT_THAT(found([&](auto& body) { body["this_data"] = to_json(said); }),
                HasSubstr("does not count"));
}

}  // namespace sotto::ledger::tally_test
