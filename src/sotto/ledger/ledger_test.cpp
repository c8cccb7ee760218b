#include "sotto/ledger/ledger.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/ledger/detail/schema.hpp"
#include "sotto/ledger/history.hpp"
#include "sotto/ledger/stores_test.hpp"
#include "sotto/ledger/verify.hpp"

namespace sotto::ledger::ledger_test {

using test::census;
using test::OnBothStores;
using test::pure;

using LedgerTest = OnBothStores;
INSTANTIATE_TEST_SUITE_P(Stores, LedgerTest, ::testing::Values("sqlite", "postgres"),
                         [](const auto& store) { return store.param; });

TEST_P(LedgerTest, AChargeSaysWhatIsSpentAndLeft) {
  Ledger l = open(OpenMode::create);
  l.create(census());
  const Receipt r = l.charge(pure(0.3, "a"));
  EXPECT_EQ(r.epsilon_spent, 0.3);
  EXPECT_EQ(r.epsilon_left, 2.7);
  EXPECT_EQ(r.head, l.head().hash);
  EXPECT_TRUE(r.committed);
  EXPECT_EQ(verify(l).head, r.head);
}

TEST_P(LedgerTest, TenTenthsFillACapOfOneAndOfTheEleventhOnlyTheRefusalIsKept) {
  Ledger l = open(OpenMode::create);
  l.create(census(1));
  for (int i = 0; i < 10; ++i) l.charge(pure(0.1, "k" + std::to_string(i)));
  const std::string head = l.head().hash;
  EXPECT_THROW(l.charge(pure(0.1, "one more")), BudgetExceeded);
  EXPECT_THROW(l.charge(pure(1e-9, "a little more")), BudgetExceeded);
  EXPECT_THROW(l.quote(pure(1e-9, "a question")), BudgetExceeded);
  EXPECT_EQ(l.head().kind, "refuse");
  EXPECT_EQ(l.head().seq, 14);
  EXPECT_EQ(open().accounts().front().epsilon(), 1);
  EXPECT_EQ(verify(l, head).entries, 14);
}

TEST_P(LedgerTest, TheSameKeyIsChargedOnceAndNeverForAnotherRelease) {
  Ledger l = open(OpenMode::create);
  l.create(census());
  const Receipt first = l.charge(pure(0.3, "a"));
  const Receipt again = l.charge(pure(0.3, "a"));
  EXPECT_TRUE(again.replayed);
  EXPECT_EQ(again.entry, first.entry);
  EXPECT_EQ(again.head, first.head);
  EXPECT_EQ(again.epsilon_spent, 0.3);
  EXPECT_THROW(l.charge(pure(0.2, "a")), InvalidArgument);
  EXPECT_EQ(l.head().hash, first.head);
}

TEST_P(LedgerTest, AReservationStaysSpentWhenItsProcessIsGone) {
  open(OpenMode::create).create(census(1));
  const Receipt r = open().reserve(pure(0.8, "training"));
  EXPECT_FALSE(r.committed);
  Ledger l = open();
  EXPECT_THROW(l.reserve(pure(0.3, "another")), BudgetExceeded);
  const Receipt resumed = l.reserve(pure(0.8, "training"));
  EXPECT_TRUE(resumed.replayed);
  EXPECT_EQ(resumed.entry, r.entry);
  EXPECT_TRUE(l.commit(r.entry).committed);
  EXPECT_THROW(l.commit(r.entry), InvalidArgument);
  EXPECT_THROW(l.abandon(r.entry, "too late"), InvalidArgument);
  EXPECT_TRUE(l.reserve(pure(0.8, "training")).committed);
  verify(l);
}

TEST_P(LedgerTest, AReservationIsTakenUpByItsRunOnlyAndRemembersWhatItPaidFor) {
  Ledger l = open(OpenMode::create);
  l.create(census(1));
  Charge first = pure(0.8, "training"), other = first, nameless = first;
  first.run = "run-1", other.run = "run-2";
  const Receipt r = l.reserve(first);
  EXPECT_THROW(l.reserve(other), InvalidArgument);
  EXPECT_THROW(l.reserve(nameless), InvalidArgument);
  EXPECT_THROW(l.charge(nameless), InvalidArgument);
  const std::string before = l.head().hash;
  const Receipt again = l.reserve(first);
  EXPECT_TRUE(again.replayed);
  EXPECT_EQ(again.entry, r.entry);
  EXPECT_EQ(again.epsilon_spent, r.epsilon_spent);
  EXPECT_EQ(l.head().kind, "resume") << "that a run was taken up again stands in the chain";
  EXPECT_EQ(l.head().json.at("resumes"), r.entry);
  EXPECT_EQ(l.head().json.at("previous"), before);
  EXPECT_EQ(again.head, l.head().hash);
  l.commit(r.entry, "digest of the model");
  EXPECT_EQ(l.reserve(first).result, "digest of the model");
  EXPECT_THROW(l.reserve(other), InvalidArgument);
  EXPECT_EQ(verify(l).entries, 5) << "store, data set, reservation, resumption, commit";
}

TEST_P(LedgerTest, AbandoningNeedsAReasonAndGivesTheBudgetBack) {
  Ledger l = open(OpenMode::create);
  l.create(census(1));
  const Receipt r = l.reserve(pure(0.8, "training"));
  EXPECT_THROW(l.abandon(r.entry, ""), InvalidArgument);
  EXPECT_EQ(l.abandon(r.entry, "the machine burnt down").epsilon_spent, 0);
  EXPECT_THROW(l.reserve(pure(0.8, "training")), InvalidArgument);  // its key is used up
  EXPECT_THROW(l.commit(r.entry), InvalidArgument);
  EXPECT_EQ(l.charge(pure(1, "all")).epsilon_left, 0);
  EXPECT_EQ(verify(l).entries, 5);  // nothing was deleted
  EXPECT_THROW(l.commit(99), InvalidArgument);
  EXPECT_THROW(l.commit(2), InvalidArgument);
}

TEST_P(LedgerTest, DisjointPartsSpendSeparatelyAndTheWholeSpendsForAll) {
  Ledger l = open(OpenMode::create);
  Dataset d = census(1);
  d.parts = {"north", "south"};
  l.create(d);
  l.charge(pure(0.5, "n", "north"));
  EXPECT_EQ(l.charge(pure(0.5, "s", "south")).epsilon_spent, 0.5);
  EXPECT_EQ(l.charge(pure(0.4, "w")).epsilon_spent, 0.9);
  EXPECT_THROW(l.charge(pure(0.2, "n2", "north")), BudgetExceeded);
  EXPECT_THROW(l.charge(pure(0.2, "w2")), BudgetExceeded);
  EXPECT_EQ(l.charge(pure(0.1, "n3", "north")).epsilon_left, 0);
  EXPECT_NO_THROW(l.charge(pure(0.1, "s3", "south")));
  EXPECT_THROW(l.charge(pure(0.1, "x", "east")), InvalidArgument);
  verify(l);
  d.name = "other", d.relation = Relation::replace_one;
  EXPECT_THROW(l.create(d), InvalidArgument);
}

// Nothing was released before it, so nothing it could depend on: the tightest accountant decides
// about the first.
TEST_P(LedgerTest, TheFirstReleaseMayUseAllOfTheCapByTheTightestAccountant) {
  Ledger l = open(OpenMode::create);
  Dataset d = census(1);
  d.parts = {"north", "south"};
  l.create(d);
  const auto gauss = [&](double multiplier, const std::string& key, const std::string& part) {
    return Charge{.dataset = "census",
                  .spec = {Relation::add_remove, {GaussianEvent::from_multiplier(multiplier)}},
                  .key = key,
                  .part = part};
  };
  double multiplier = 1;  // the least noise that one release within (1, 1e-6) needs
  while (
      guarantee({Relation::add_remove, {GaussianEvent::from_multiplier(multiplier)}}, 1e-6).upper >
      0.999)
    multiplier *= 1.0005;
  EXPECT_THROW(l.charge(gauss(multiplier * 0.99, "too much", "north")), BudgetExceeded);
  const Receipt lone = l.charge(gauss(multiplier, "lone", "north"));
  EXPECT_EQ(lone.epsilon_spent, 1);
  EXPECT_EQ(lone.epsilon_left, 0);
  EXPECT_THROW(l.charge(pure(1e-9, "more", "north")), BudgetExceeded);
  EXPECT_THROW(l.charge(pure(1e-9, "more")), BudgetExceeded);
  // Others are not in the north; after a first release of their own the filter decides.
  l.charge(pure(0.01, "little", "south"));
  EXPECT_THROW(l.charge(gauss(multiplier, "not first", "south")), BudgetExceeded);
  verify(l);
}

// While nothing else is spent, the total is what its certificate says; one more, and filters count.
TEST_P(LedgerTest, TheFirstReleaseAddsWhatItCostsAlone) {
  Ledger l = open(OpenMode::create);
  Dataset d = census(3);
  d.parts = {"north", "south"};
  l.create(d);
  const Spec spec = {Relation::add_remove, {GaussianEvent::from_multiplier(6)}};
  const auto gauss = [&](const std::string& key, const std::string& part) {
    return Charge{.dataset = "census", .spec = spec, .key = key, .part = part};
  };
  const double alone = guarantee(spec, d.delta).upper;
  const Receipt first = l.reserve(gauss("first", "north"));
  EXPECT_EQ(first.epsilon_spent, alone);
  EXPECT_NEAR(first.epsilon_added, alone, 1e-11);         // in whole steps of 10^-12
  EXPECT_EQ(open().accounts().front().epsilon(), alone);  // also for who looks it up
  l.commit(first.entry);
  EXPECT_EQ(open().accounts().front().epsilon(), alone);
  const double two = guarantee({Relation::add_remove, {repeat(spec.events[0], 2)}}, d.delta).upper;
  const Receipt second = l.reserve(gauss("second", "north"));
  EXPECT_GT(second.epsilon_spent, two);
  EXPECT_EQ(open().accounts().front().epsilon_of("north"), second.epsilon_spent);
  // Of what was given back nothing is concluded: the filters count the rest.
  l.abandon(second.entry, "not needed");
  EXPECT_GT(open().accounts().front().epsilon_of("north"), alone);
  EXPECT_LT(open().accounts().front().epsilon_of("north"), two);
  // About other people it is the first again.
  l.charge(gauss("elsewhere", "south"));
  EXPECT_EQ(open().accounts().front().epsilon_of("south"), alone);
  EXPECT_GE(open().accounts().front().epsilon_of("north"), alone);
  EXPECT_GE(l.charge(gauss("all", "")).epsilon_spent, two);
  verify(l);
}

TEST_P(LedgerTest, OwnFailureProbabilitiesThatDoNotFitAreNamed) {
  Ledger l = open(OpenMode::create);
  l.create(census(3));
  const double share = 0.6e-6 / 4;  // of 1e-6 an eighth is for either way of adding up
  const auto draft = [&](const std::string& key) {
    return Charge{.dataset = "census",
                  .spec = {Relation::add_remove, {ApproximateEvent{0.1, share / 2}}},
                  .key = key};
  };
  l.charge(draft("a"));
  try {
    l.charge(draft("b"));
    FAIL();
  } catch (const BudgetExceeded& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("failure probability of their own"));
    EXPECT_THAT(e.what(), ::testing::HasSubstr("1.25e-07 is set aside"));
  }
  EXPECT_NO_THROW(l.charge(pure(0.1, "c")));
}

TEST_P(LedgerTest, LossDistributionsNeedAPlanAndCoverExactlyThePlan) {
  Ledger l = open(OpenMode::create);
  Dataset d = census(1);
  d.accountant = Accountant::pld, d.own_delta = 0;
  EXPECT_THROW(l.create(d), InvalidArgument);
  const Event step = GaussianEvent{10, 1};
  d.plan = {repeat(step, 10000)};
  EXPECT_THROW(l.create(d), BudgetExceeded);
  d.plan = {repeat(step, 3), PureEvent{0.1}};
  l.create(d);
  const auto release = [&](const Event& e, const std::string& key) {
    return Charge{.dataset = "census", .spec = {Relation::add_remove, {e}}, .key = key};
  };
  l.charge(release(repeat(step, 2), "a"));
  EXPECT_THROW(l.charge(release(repeat(step, 2), "b")), BudgetExceeded);
  EXPECT_THROW(l.charge(release(PureEvent{0.2}, "c")), BudgetExceeded);
  l.charge(release(step, "d"));
  const Receipt last = l.charge(release(PureEvent{0.1}, "e"));
  EXPECT_LE(last.epsilon_spent, 1);
  verify(l);
}

TEST_P(LedgerTest, APlanHasNoPartsAndNothingIsFreeUnderTheNameOfOne) {
  Ledger l = open(OpenMode::create);
  Dataset d = census(1);
  d.accountant = Accountant::pld, d.own_delta = 0, d.plan = {PureEvent{0.1}};
  l.create(d);
  const std::string head = l.head().hash;
  for (const char* part : {"north", "census", " ", "\x1b[2J", "\xff"}) {
    EXPECT_THROW(l.charge(pure(0.1, "a", part)), InvalidArgument) << part;
    EXPECT_THROW(l.reserve(pure(0.1, "b", part)), InvalidArgument) << part;
    EXPECT_THROW(l.quote(pure(0.1, "c", part)), InvalidArgument) << part;
  }
  EXPECT_EQ(l.head().hash, head);
  l.charge(pure(0.1, "d"));
  EXPECT_THROW(l.charge(pure(0.1, "e")), BudgetExceeded);
  verify(l);
}

// A rule or trigger in the database may swallow a write without an error.
TEST_P(LedgerTest, AWriteThatChangesNoRowIsNoCharge) {
  Ledger l = open(OpenMode::create);
  l.create(census(1));
  const std::int64_t reserved = l.reserve(pure(0.1, "reserved")).entry;
  Dataset other = census();
  other.name = "other";
  const auto charges = [&] { l.charge(pure(0.1, "swallowed")); };
  const auto abandons = [&] { l.abandon(reserved, "swallowed"); };
  const auto commits = [&] { l.commit(reserved); };
  const auto creates = [&] { l.create(other); };
  const struct {
    const char *table, *event;
    std::vector<std::function<void()>> writes;
  } cases[] = {{"sotto_spends", "UPDATE", {charges, abandons}},
               {"sotto_spends", "INSERT", {creates}},
               {"sotto_datasets", "INSERT", {creates}},
               {"sotto_entries", "INSERT", {charges, abandons, commits, creates}}};
  const std::string head = l.head().hash;
  for (const auto& [table, event, writes] : cases) {
    if (GetParam() == "sqlite") {
      l.database().run(fmt::format(
          "CREATE TRIGGER swallow BEFORE {} ON {} BEGIN SELECT RAISE(IGNORE); END", event, table));
    } else {
      l.database().run(
          "CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'");
      l.database().run(
          fmt::format("CREATE TRIGGER swallow BEFORE {} ON {} FOR EACH ROW EXECUTE FUNCTION "
                      "swallow()",
                      event, table));
    }
    for (const auto& write : writes) EXPECT_THROW(write(), VerificationFailed) << table << event;
    EXPECT_EQ(l.head().hash, head) << table << event;
    l.database().run(GetParam() == "sqlite" ? "DROP TRIGGER swallow"
                                            : "DROP FUNCTION swallow() CASCADE");
  }
  EXPECT_NO_THROW(charges());
  verify(l);
}

TEST_P(LedgerTest, WhatDoesNotMatchTheDataSetIsRefused) {
  Ledger l = open(OpenMode::create);
  Dataset d = census();
  d.purposes = {"report", "model"};
  l.create(d);
  EXPECT_THROW(l.create(d), InvalidArgument);
  Charge c = pure(0.1, "a");
  EXPECT_THROW(l.charge(c), InvalidArgument);
  c.purpose = "marketing";
  EXPECT_THROW(l.charge(c), InvalidArgument);
  c.purpose = "report";
  c.spec.relation = Relation::replace_one;
  EXPECT_THROW(l.charge(c), InvalidArgument);
  c.spec.relation = Relation::add_remove;
  c.unit = "user";
  EXPECT_THROW(l.charge(c), InvalidArgument);
  c.unit = "record";
  c.dataset = "nothing";
  EXPECT_THROW(l.charge(c), InvalidArgument);
  c.dataset = "census";
  c.spec.events.clear();
  EXPECT_THROW(l.charge(c), InvalidArgument);
  c.spec.events = {PureEvent{0.1}};
  EXPECT_NO_THROW(l.charge(c));
}

TEST_P(LedgerTest, ADataSetRemembersWhichFileItIs) {
  Ledger l = open(OpenMode::create);
  Dataset d = census();
  d.columns = {"age", "city"};
  d.fingerprint = "0123:4567";
  l.create(d);
  Ledger again = open(OpenMode::read);
  EXPECT_EQ(again.dataset("census").columns, d.columns);
  EXPECT_EQ(again.dataset("census").fingerprint, d.fingerprint);
  EXPECT_THROW(again.dataset("nothing"), InvalidArgument);
  d.name = "twice";
  d.columns = {"age", "age"};
  EXPECT_THROW(l.create(d), InvalidArgument);
}

TEST_P(LedgerTest, AClockThatRunsBackwardsDoesNotMakeTheHistoryDoSo) {
  std::int64_t now = 1'800'000'000'000;
  Ledger l(open_database(location_, OpenMode::create), OpenMode::create,
           [&] { return now -= 1000; });
  l.create(census());
  for (int i = 0; i < 5; ++i) l.charge(pure(0.1, std::to_string(i)));
  std::int64_t last = 0;
  for (const Entry& e : l.entries()) {
    EXPECT_GE(e.json.at("time").get<std::int64_t>(), last);
    last = e.json.at("time").get<std::int64_t>();
  }
  verify(l);
}

TEST_P(LedgerTest, HostileNamesAreOnlyNames) {
  Ledger l = open(OpenMode::create);
  const std::string names[] = {"'; DROP TABLE sotto_entries; --",
                               "\"quoted\"",
                               "数据集-2026",
                               "naïve 🙂",
                               "$1",
                               "%s%n",
                               "a\\b",
                               "{\"json\":1}"};
  for (const std::string& name : names) {
    Dataset d = census();
    d.name = name, d.parts = {name}, d.purposes = {name}, d.owner = name;
    l.create(d);
    Charge c = pure(0.1, name, name);
    c.dataset = name, c.purpose = name, c.by = name;
    EXPECT_EQ(l.charge(c).epsilon_spent, 0.1) << name;
    EXPECT_TRUE(l.charge(c).replayed) << name;
  }
  verify(l);
  for (const std::string& bad :
       {std::string(), std::string("a\nb"), std::string("\x1b[31m"), std::string("a\0b", 3),
        std::string("\xff\xfe"), std::string("\xc0\xaf"), std::string("x\u202ey"),
        std::string(5000, 'x')}) {
    Dataset d = census();
    d.name = bad;
    EXPECT_THROW(l.create(d), InvalidArgument);
  }
}

TEST_P(LedgerTest, ExactlyTheAffordableOnesOfSixteenRacingProcessesWin) {
  open(OpenMode::create).create(census(1));
  constexpr int kProcesses = 16, kTries = 4;
  int results[2];
  ASSERT_EQ(pipe(results), 0);
  for (int p = 0; p < kProcesses; ++p) {
    if (fork() != 0) continue;
    char won = 0;
    try {
      Ledger l = open();
      for (int i = 0; i < kTries; ++i) {
        try {
          l.charge(pure(0.05, std::to_string(p) + "/" + std::to_string(i)));
          ++won;
        } catch (const BudgetExceeded&) {
        }
      }
    } catch (...) {
      won = 100;
    }
    [[maybe_unused]] const ssize_t n = write(results[1], &won, 1);
    _exit(0);
  }
  int sum = 0;
  for (int p = 0; p < kProcesses; ++p) {
    char won = 0;
    ASSERT_EQ(read(results[0], &won, 1), 1);
    sum += won;
    wait(nullptr);
  }
  // As many as one process alone could afford: at least the twenty whose ε add up to 1.
  Account alone(census(1));
  int affordable = 0;
  try {
    for (;; ++affordable) alone.charge(PureEvent{0.05}, "");
  } catch (const BudgetExceeded&) {
  }
  EXPECT_GE(affordable, 20);
  EXPECT_EQ(sum, affordable);
  Ledger l = open();
  EXPECT_EQ(l.accounts()[0].stored(""), alone.stored(""));
  EXPECT_EQ(releases(l.entries("census")).size(), static_cast<std::size_t>(affordable));
  verify(l);
}

TEST_P(LedgerTest, ChangesBehindTheLedgersBackAreDetected) {
  {
    Ledger l = open(OpenMode::create);
    l.create(census());
    for (int i = 0; i < 3; ++i) l.charge(pure(0.1, std::to_string(i)));
    l.abandon(l.reserve(pure(0.1, "r")).entry, "test");
  }
  const char* attacks[] = {
      "UPDATE sotto_entries SET body = replace(body, '0.1', '0.2') WHERE seq = 3",
      "UPDATE sotto_entries SET hash = replace(hash, 'a', 'b')",
      "UPDATE sotto_entries SET release_key = 'x' WHERE seq = 3",
      "UPDATE sotto_entries SET kind = 'commit' WHERE seq = 3",
      "UPDATE sotto_entries SET dataset = 'x' WHERE seq = 3",
      "UPDATE sotto_entries SET refers = 3 WHERE seq = 7",
      "DELETE FROM sotto_entries WHERE seq = 4",
      "DELETE FROM sotto_entries WHERE seq = 1",
      "UPDATE sotto_spends SET spend = '[[\"0\",\"0\",0]]'",
      "UPDATE sotto_spends SET seq = 3",
      "DELETE FROM sotto_spends",
      "UPDATE sotto_datasets SET seq = 3",
      "DELETE FROM sotto_datasets",
      "INSERT INTO sotto_datasets (name, seq) VALUES ('free', 2)",
      "INSERT INTO sotto_entries SELECT 99, kind, 'y', NULL, NULL, body, hash FROM sotto_entries "
      "WHERE seq = 2"};
  for (const char* attack : attacks) {
    Ledger l = open();
    Transaction t = Transaction::writing(l.database());
    l.database().run(attack);
    // Inside the transaction, so that the next attack starts from the same store.
    struct Inside final : Database {
      explicit Inside(Database& d) : db(d) {}
      Database& db;
      std::vector<Values> query(const std::string& s, const Values& v) override {
        return db.query(s, v);
      }
      void begin_writing() override {}
      void begin_reading() override {}
      void commit() override {}
      void rollback() noexcept override {}
      bool has_table(const std::string& n) override { return db.has_table(n); }
    };
    Ledger changed(std::make_unique<Inside>(l.database()), OpenMode::read);
    EXPECT_THROW(verify(changed), VerificationFailed) << attack;
  }
  Ledger l = open();
  EXPECT_NO_THROW(verify(l));
}

// Each row was once right, with the entry that left it; only that entry is not the newest any more.
TEST_P(LedgerTest, AnEarlierSpendThatIsPutBackIsSeenByEveryCharge) {
  Ledger l = open(OpenMode::create);
  Dataset d = census(1);
  d.parts = {"north", "south"};
  l.create(d);
  const auto rows = [&](const std::string& part) {
    return l.database().query("SELECT seq, spend FROM sotto_spends WHERE part = $1", {part}).at(0);
  };
  const auto put_back = [&](const Values& row, const std::string& part) {
    l.database().run("UPDATE sotto_spends SET seq = $1, spend = $2 WHERE part = $3",
                     {row.at(0), row.at(1), part});
  };
  for (const std::string part : {"", "north"}) {
    const std::string name = "of " + part;
    const Values fresh = rows(part);
    const std::int64_t reserved = l.reserve(pure(0.1, name + "a", part)).entry;
    const Values early = rows(part);
    l.charge(pure(0.2, name + "b", part));
    l.charge(pure(0.1, name + "c", "south"));  // a newer entry about another part hides nothing
    l.commit(l.reserve(pure(0.1, name + "d", part)).entry);
    const Values now = rows(part);
    for (const Values& stale : {fresh, early}) {
      put_back(stale, part);
      const std::string head = l.head().hash;
      EXPECT_THROW(l.charge(pure(0.1, "x", part)), VerificationFailed);
      EXPECT_THROW(l.reserve(pure(0.1, "x", "south")), VerificationFailed);
      EXPECT_THROW(l.quote(pure(0.1, "x")), VerificationFailed);
      EXPECT_THROW(l.abandon(reserved, "x"), VerificationFailed);
      EXPECT_THROW(l.commit(reserved), VerificationFailed);
      EXPECT_THROW(l.accounts(), VerificationFailed);
      EXPECT_THROW(verify(l), VerificationFailed);
      EXPECT_EQ(l.head().hash, head);
      put_back(now, part);
      EXPECT_NO_THROW(verify(l));
    }
  }
}

TEST_P(LedgerTest, ARolledBackStoreIsDetectedWhenItsHeadWasPinned) {
  Ledger l = open(OpenMode::create);
  l.create(census());
  const std::string old = l.charge(pure(0.1, "a")).head;
  EXPECT_NO_THROW(verify(l, old));
  const std::string pinned = l.charge(pure(0.2, "b")).head;
  EXPECT_NO_THROW(verify(l, old));
  EXPECT_NO_THROW(verify(l, pinned));
  Transaction t = Transaction::writing(l.database());
  const std::string spend = [] {
    Account a(census());
    return a.charge(PureEvent{0.1}, "");
  }();
  l.database().run("DELETE FROM sotto_entries WHERE seq = 4");
  l.database().run("UPDATE sotto_spends SET seq = 3, spend = $1", {spend});
  t.commit();
  if (GetParam() == "sqlite") {  // its witness knows better, until it is taken away too
    EXPECT_THROW(verify(l), VerificationFailed);
    test::fs::remove(location_.place + "-head");
  }
  EXPECT_NO_THROW(verify(l, old));  // a whole, shorter history
  EXPECT_THROW(verify(l, pinned), VerificationFailed);
}

TEST_P(LedgerTest, ACreationThatIsRefusedLeavesNothingBehind) {
  if (GetParam() != "sqlite") GTEST_SKIP() << "a file";
  open(OpenMode::create).create(census());
  for (const char* part : {"", "-wal", "-shm"}) test::fs::remove(location_.place + part);
  EXPECT_THROW(open(OpenMode::create), StorageError);
  EXPECT_FALSE(test::fs::exists(location_.place));
}

TEST_P(LedgerTest, OlderSchemasAreBroughtUpToDateAndNewerOnesRefused) {
  std::string head;
  {
    Ledger l = open(OpenMode::create);
    l.create(census());
    head = l.charge(pure(0.1, "a")).head;
  }
  auto db = open_database(location_, OpenMode::write);
  const auto current = static_cast<std::int64_t>(migrations().size());
  ASSERT_EQ(schema_version(*db), current);
  auto steps = migrations();
  steps.push_back({"ALTER TABLE sotto_datasets ADD COLUMN note TEXT"});
  EXPECT_THROW(require_current(*db, steps), StorageError);
  {
    Transaction t = Transaction::writing(*db);
    migrate(*db, steps);
    t.commit();
  }
  EXPECT_EQ(schema_version(*db), current + 1);
  EXPECT_EQ(db->query("SELECT note FROM sotto_datasets").size(), 1);
  EXPECT_THROW(open(), StorageError);  // one more than this sotto knows
  EXPECT_THROW(open(OpenMode::read), StorageError);
  db->run("UPDATE sotto_schema SET version = $1", {current});
  Ledger l = open();
  EXPECT_EQ(verify(l).head, head);
}

TEST_P(LedgerTest, AMigrationThatFailsHalfWayLeavesTheOldSchema) {
  open(OpenMode::create).create(census());
  auto db = open_database(location_, OpenMode::write);
  auto steps = migrations();
  steps.push_back({"ALTER TABLE sotto_datasets ADD COLUMN note TEXT", "this is not SQL"});
  try {
    Transaction t = Transaction::writing(*db);
    migrate(*db, steps);
    t.commit();
    FAIL();
  } catch (const StorageError&) {
  }
  EXPECT_EQ(schema_version(*db), static_cast<std::int64_t>(migrations().size()));
  EXPECT_THROW(db->query("SELECT note FROM sotto_datasets"), StorageError);
}

TEST_P(LedgerTest, ThereIsNoLedgerUntilOneIsCreated) {
  EXPECT_THROW(open(), StorageError);
  EXPECT_THROW(open(OpenMode::read), StorageError);
}

TEST_P(LedgerTest, AWriterThatWaitsTooLongSaysSo) {
  Ledger l = open(OpenMode::create);
  l.create(census());
  Transaction holds = Transaction::writing(l.database());
  Ledger other = Ledger::open({location_.place, std::chrono::milliseconds(50)}, OpenMode::write);
  EXPECT_THROW(other.charge(pure(0.1, "a")), StorageError);
  EXPECT_EQ(other.head().seq, 2);  // readers do not wait
}

TEST_P(LedgerTest, TheTightNumberIsBelowTheFiltersAndAboveTheTruth) {
  Ledger l = open(OpenMode::create);
  l.create(census());
  const Event step = poisson_sampled(GaussianEvent::from_multiplier(1.2), 0.01);
  for (int i = 0; i < 4; ++i)
    l.charge({.dataset = "census",
              .spec = {Relation::add_remove, {repeat(step, 250)}},
              .key = std::to_string(i)});
  const Account a = l.accounts()[0];
  const auto fixed = fixed_in_advance(a.dataset(), releases(l.entries("census")));
  ASSERT_TRUE(fixed);
  EXPECT_EQ(fixed->accountant, Accountant::pld);
  EXPECT_LT(fixed->upper, a.epsilon());
}

}  // namespace sotto::ledger::ledger_test
