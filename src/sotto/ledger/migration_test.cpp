// A store as version 1 of the schema wrote it, kept as SQL text: every later version must read it,
// check it and go on with it.
#include <gtest/gtest.h>

#include "sotto/core/error.hpp"
#include "sotto/ledger/detail/schema.hpp"
#include "sotto/ledger/history.hpp"
#include "sotto/ledger/ledger.hpp"
#include "sotto/ledger/stores_test.hpp"
#include "sotto/ledger/verify.hpp"

namespace sotto::ledger::migration_test {

// clang-format off
// Made by: create --epsilon 1 --delta 1e-6 --parts north,south; charge a (pure 0.1); reserve and
// commit b (Gaussian, multiplier 20, north); reserve and abandon c (pure 0.1).
const std::vector<std::string> kVersion1 = {
    R"sql(CREATE TABLE sotto_schema (version BIGINT NOT NULL))sql",
    R"sql(CREATE TABLE sotto_entries (seq BIGINT PRIMARY KEY, kind TEXT NOT NULL, dataset TEXT NOT NULL, release_key TEXT, refers BIGINT, body TEXT NOT NULL, hash TEXT NOT NULL))sql",
    R"sql(CREATE UNIQUE INDEX sotto_entries_key ON sotto_entries (dataset, release_key))sql",
    R"sql(CREATE UNIQUE INDEX sotto_entries_refers ON sotto_entries (refers))sql",
    R"sql(CREATE TABLE sotto_datasets (name TEXT PRIMARY KEY, seq BIGINT NOT NULL))sql",
    R"sql(CREATE TABLE sotto_spends (dataset TEXT NOT NULL, part TEXT NOT NULL, seq BIGINT NOT NULL, spend TEXT NOT NULL, PRIMARY KEY (dataset, part)))sql",
    R"sql(INSERT INTO sotto_schema VALUES (1))sql",
    R"sql(INSERT INTO sotto_entries VALUES (1, 'store', '', NULL, NULL, '{"dataset":"","format":1,"kind":"store","previous":"0000000000000000000000000000000000000000000000000000000000000000","seq":1,"store":"99fb7dde0f06176ef855db49e30f637b","time":1794804848872}', '829d1de5e958824be0c24a61395baccd15b5987c6e8477fdc35c2f0547707d25'))sql",
    R"sql(INSERT INTO sotto_entries VALUES (2, 'dataset', 'census', NULL, NULL, '{"dataset":"census","definition":{"accountant":"rdp","delta":1e-06,"epsilon":1.0,"own_delta":2.5e-07,"owner":"","parts":["north","south"],"purposes":[],"relation":"add_remove","unit":"record"},"kind":"dataset","previous":"829d1de5e958824be0c24a61395baccd15b5987c6e8477fdc35c2f0547707d25","seq":2,"time":1794804848895,"version":"0.1.0"}', 'e605608e4b763ae35603482fce357875f1d5def66259edf459e06dfa8ee9b1b3'))sql",
    R"sql(INSERT INTO sotto_entries VALUES (3, 'charge', 'census', 'a', NULL, '{"by":"","dataset":"census","events":[{"pure":{"epsilon":0.1}}],"key":"a","kind":"charge","part":"","previous":"e605608e4b763ae35603482fce357875f1d5def66259edf459e06dfa8ee9b1b3","purpose":"","seq":3,"spend":"274fc3d98b15eb0ce65ad09c77b04d1fd1634c56a29c97d5388abc7bfcb43b2e","time":1794804848970,"version":"0.1.0"}', '9311da7dffc8861bcd2829c4c532a8723557bb7e0d2be1ebe09b14e2fa5e6a6e'))sql",
    R"sql(INSERT INTO sotto_entries VALUES (4, 'reserve', 'census', 'b', NULL, '{"by":"","dataset":"census","events":[{"gaussian":{"noise_multiplier":20.0}}],"key":"b","kind":"reserve","part":"north","previous":"9311da7dffc8861bcd2829c4c532a8723557bb7e0d2be1ebe09b14e2fa5e6a6e","purpose":"","seq":4,"spend":"c96cf5f7f7b1856024663737ac9cdaf37d65e9cc924a58b8a6b28c7d1dc52653","time":1794804849062,"version":"0.1.0"}', '1ea7643b7343ecd3ee8b26350846c1969e012684a295da80d01170930ec790bb'))sql",
    R"sql(INSERT INTO sotto_entries VALUES (5, 'commit', 'census', NULL, 4, '{"dataset":"census","entry":4,"kind":"commit","previous":"1ea7643b7343ecd3ee8b26350846c1969e012684a295da80d01170930ec790bb","seq":5,"time":1794804849170}', '2eae3806cfbc906a239422f8bcc684e9f014f81651776d677d58d48697a1b1a2'))sql",
    R"sql(INSERT INTO sotto_entries VALUES (6, 'reserve', 'census', 'c', NULL, '{"by":"","dataset":"census","events":[{"pure":{"epsilon":0.1}}],"key":"c","kind":"reserve","part":"","previous":"2eae3806cfbc906a239422f8bcc684e9f014f81651776d677d58d48697a1b1a2","purpose":"","seq":6,"spend":"361007f6859326ecaec27daddb30c6cc66aa480c55b61eb7e16542e831bbddbd","time":1794804849270,"version":"0.1.0"}', '9a52e74029ebf8252067f74c7f50994e374641417991a55bdcabd75ac4a941c9'))sql",
    R"sql(INSERT INTO sotto_entries VALUES (7, 'abandon', 'census', NULL, 6, '{"by":"ada","dataset":"census","entry":6,"kind":"abandon","part":"","previous":"9a52e74029ebf8252067f74c7f50994e374641417991a55bdcabd75ac4a941c9","reason":"wrong file","seq":7,"spend":"274fc3d98b15eb0ce65ad09c77b04d1fd1634c56a29c97d5388abc7bfcb43b2e","time":1794804849384}', '6817f7d1dfc38a213c3a036863a1876a2e797377f6019a7c2a284b15a5e1c7d9'))sql",
    R"sql(INSERT INTO sotto_datasets VALUES ('census', 2))sql",
    R"sql(INSERT INTO sotto_spends VALUES ('census', '', 7, '[["5d21dbaz271","0",0],["48d298df0da23z255","0",0],["575a3d448beb34z254","0",0],["5edfe6216ab074z254","0",0],["62a32641c3a18z255","0",0],["6484c654153c4z255","0",0],["6575965d3e09a4z254","0",0],["65edfe61d27054z254","0",0]]'))sql",
    R"sql(INSERT INTO sotto_spends VALUES ('census', 'north', 4, '[["e699726c48z268","431bde82d7b634z248",0],["1d56d003c43c42z254","0",0],["3965f1f30d973cz254","0",0],["718435d1a04d3z255","0",0],["e1c0bd8ec5b918z254","0",0],["1c239cd091090fz255","0",0],["3832bebfda640az255","0",0],["7051029e6d1az257","0",0]]'))sql",
    R"sql(INSERT INTO sotto_spends VALUES ('census', 'south', 2, '[["0","0",0],["0","0",0],["0","0",0],["0","0",0],["0","0",0],["0","0",0],["0","0",0],["0","0",0]]'))sql"};
// clang-format on
const std::string kHead = "6817f7d1dfc38a213c3a036863a1876a2e797377f6019a7c2a284b15a5e1c7d9";

class MigrationTest : public test::OnBothStores {
 protected:
  void SetUp() override {
    OnBothStores::SetUp();
    if (IsSkipped()) return;
    auto db = open_database(location_, OpenMode::create);
    Transaction t = Transaction::writing(*db);
    for (const std::string& statement : kVersion1) db->run(statement);
    t.commit();
  }
};

TEST_P(MigrationTest, AStoreOfVersionOneVerifies) {
  open();  // what writes brings it up to date
  Ledger l = open(OpenMode::read);
  const Verified v = verify(l, kHead);
  EXPECT_EQ(v.entries, 7);
  EXPECT_EQ(v.head, kHead);
  const auto all = releases(l.entries("census"));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].state, "committed");
  EXPECT_EQ(all[1].state, "committed");
  EXPECT_EQ(all[2].state, "abandoned");
}

TEST_P(MigrationTest, AStoreOfVersionOneGoesOnWithItsSpend) {
  Ledger l = open();
  EXPECT_NEAR(l.accounts()[0].epsilon_of("south"), 0.1, 1e-12);
  EXPECT_GT(l.accounts()[0].epsilon_of("north"), 0.1);
  EXPECT_TRUE(l.charge(test::pure(0.1, "a")).replayed);
  EXPECT_THROW(l.charge(test::pure(0.95, "too much")), BudgetExceeded);
  EXPECT_EQ(l.charge(test::pure(0.1, "d", "south")).entry, 9);
  EXPECT_NEAR(l.accounts()[0].epsilon_of("south"), 0.2, 1e-12);
  verify(l, kHead);
}

// Entries of version 1 state the spend of one part each; the newest about each part counts until
// one of today's is there.
TEST_P(MigrationTest, AnEarlierSpendThatIsPutBackIsSeenInAnOldStoreToo) {
  Ledger l = open();
  const std::string fresh = R"([["0","0",0],["0","0",0],["0","0",0],["0","0",0],["0","0",0],)"
                            R"(["0","0",0],["0","0",0],["0","0",0]])";
  const auto now = l.database().query("SELECT spend FROM sotto_spends WHERE part = 'north'");
  l.database().run("UPDATE sotto_spends SET seq = 2, spend = $1 WHERE part = 'north'", {fresh});
  EXPECT_THROW(l.charge(test::pure(0.1, "x", "north")), VerificationFailed);
  EXPECT_THROW(l.charge(test::pure(0.1, "x", "south")), VerificationFailed);
  l.database().run("UPDATE sotto_spends SET seq = 4, spend = $1 WHERE part = 'north'",
                   {now.at(0).at(0)});
  EXPECT_NO_THROW(l.charge(test::pure(0.1, "x", "south")));
  verify(l, kHead);
}

TEST_P(MigrationTest, EveryStepFromVersionOneKeepsTheChain) {
  auto steps = migrations();
  steps.push_back({"ALTER TABLE sotto_datasets ADD COLUMN note TEXT"});
  auto db = open_database(location_, OpenMode::write);
  ASSERT_EQ(schema_version(*db), 1);
  {
    Transaction t = Transaction::writing(*db);
    migrate(*db, steps);
    t.commit();
  }
  EXPECT_EQ(schema_version(*db), static_cast<std::int64_t>(steps.size()));
  const auto newest = db->query("SELECT hash FROM sotto_entries ORDER BY seq DESC LIMIT 1");
  EXPECT_EQ(newest.at(0).at(0), Value(kHead));
}

INSTANTIATE_TEST_SUITE_P(Stores, MigrationTest, ::testing::Values("sqlite", "postgres"),
                         [](const auto& store) { return store.param; });

}  // namespace sotto::ledger::migration_test
