// A real server, roles with the least rights, and what each of them tries beyond its own.
#include "sotto/ledger/roles.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/signature.hpp"
#include "sotto/ledger/ledger.hpp"
#include "sotto/ledger/stores_test.hpp"
#include "sotto/ledger/verify.hpp"

namespace sotto::ledger::roles_test {

using test::census;
using test::Cluster;
using test::pure;

class Roles : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Cluster::instance().available()) GTEST_SKIP() << "no PostgreSQL server to start";
    static int number = 0;
    schema_ = fmt::format("roles{}", ++number);
    auto admin = open_postgres({.place = Cluster::instance().url("public")}, OpenMode::create);
    admin->run("CREATE SCHEMA " + schema_);
    if (number == 1) {
      for (const char* role : {"charger", "auditor", "nobody", "\"Odd; name\""})
        admin->run(fmt::format("CREATE ROLE {} LOGIN", role));
    }
    Ledger l = as("sotto", OpenMode::create);
    l.create(census(1));
    grant(l.database(), "charger", Right::charge);
    grant(l.database(), "auditor", Right::read);
    grant(l.database(), "Odd; name", Right::read);
  }
  StoreLocation location(const std::string& role) const {
    std::string url = Cluster::instance().url(schema_);
    return {.place = url.replace(url.find("user=sotto"), 10, "user=" + role)};
  }
  Ledger as(const std::string& role, OpenMode mode = OpenMode::write) const {
    return Ledger::open(location(role), mode);
  }
  std::string schema_;
};

TEST_F(Roles, WhoMayChargeChargesAndWhoMayReadReads) {
  Ledger charger = as("charger"), auditor = as("auditor", OpenMode::read);
  charger.charge(pure(0.1, "a"));
  charger.commit(charger.reserve(pure(0.1, "b")).entry);
  charger.abandon(charger.reserve(pure(0.1, "c")).entry, "called off");
  EXPECT_EQ(charger.accounts().at(0).epsilon(), 0.2);
  EXPECT_EQ(auditor.accounts().at(0).epsilon(), 0.2);
  EXPECT_EQ(verify(auditor).entries, 7);
  EXPECT_EQ(verify(charger).entries, 7);
  EXPECT_THROW(charger.charge(pure(0.9, "d")), BudgetExceeded);
}

TEST_F(Roles, NobodyElseGetsAnywhere) {
  Dataset other = census();
  other.name = "other";
  EXPECT_THROW(as("charger").create(other), StorageError);
  EXPECT_THROW(as("auditor").charge(pure(0.1, "a")), StorageError);
  EXPECT_THROW(as("auditor").create(other), StorageError);
  EXPECT_THROW(as("nobody", OpenMode::read), StorageError);
  EXPECT_THROW(as("nobody"), StorageError);
  Ledger owner = as("sotto");
  EXPECT_EQ(verify(owner).entries, 2);
  EXPECT_EQ(owner.create(other).entry, 3);
}

TEST_F(Roles, NoTableCanBeWrittenDirectly) {
  as("charger").charge(pure(0.5, "a"));
  const char* attacks[] = {"UPDATE sotto_spends SET spend = '[]'",
                           "DELETE FROM sotto_spends",
                           "INSERT INTO sotto_spends VALUES ('census', 'x', 2, '[]')",
                           "TRUNCATE sotto_spends",
                           "UPDATE sotto_entries SET kind = 'abandon' WHERE seq = 3",
                           "DELETE FROM sotto_entries WHERE seq = 3",
                           "INSERT INTO sotto_entries VALUES (4, 'x', 'x', NULL, NULL, 'x', 'x')",
                           "INSERT INTO sotto_datasets VALUES ('free', 2)",
                           "UPDATE sotto_datasets SET seq = 3",
                           "UPDATE sotto_schema SET version = 0",
                           "DROP TABLE sotto_entries",
                           "ALTER TABLE sotto_spends DISABLE TRIGGER ALL",
                           "CREATE TRIGGER t BEFORE UPDATE ON sotto_spends FOR EACH ROW EXECUTE "
                           "FUNCTION suppress_redundant_updates_trigger()",
                           "DROP FUNCTION sotto_append",
                           "ALTER FUNCTION sotto_append SECURITY INVOKER",
                           "SET ROLE sotto"};
  for (const char* role : {"charger", "auditor"}) {
    Ledger l = as(role);
    for (const char* attack : attacks)
      EXPECT_THROW(l.database().run(attack), StorageError) << role << ": " << attack;
  }
  try {  // an error or a warning, depending on what the role has itself
    as("charger").database().run("GRANT ALL ON sotto_spends, sotto_entries TO nobody");
  } catch (const StorageError&) {
  }
  // A reader cannot keep writers waiting either.
  Ledger auditor = as("auditor");
  for (const char* attack :
       {"SELECT sotto_lock()", "LOCK TABLE sotto_entries IN EXCLUSIVE MODE",
        "SELECT sotto_append(4, 'commit', 'census', NULL, 3, '{}', '', NULL, NULL)"})
    EXPECT_THROW(auditor.database().run(attack), StorageError) << attack;
  Ledger owner = as("sotto");
  EXPECT_EQ(verify(owner).entries, 3);
  const auto all = roles(owner.database());
  EXPECT_EQ(std::ranges::find(all, "nobody", &Role::name), all.end());
}

class ForgedEntry : public Roles {
 protected:
  // An entry as an honest client makes it, which each test then bends.
  nlohmann::json body(Ledger& l, const std::string& kind) {
    account_.charge(PureEvent{0.1}, "");
    return body(l, kind, account_);
  }
  static nlohmann::json body(Ledger& l, const std::string& kind, const Account& account) {
    const Entry last = l.head();
    return {{"kind", kind},
            {"key", "forged"},
            {"part", ""},
            {"purpose", ""},
            {"by", "charger"},
            {"events", nlohmann::json::parse(R"([{"pure":{"epsilon":0.1}}])")},
            {"spends", account.digest()},
            {"version", "0"},
            {"previous", last.hash},
            {"seq", last.seq + 1},
            {"time", last.json.at("time")},
            {"dataset", account.dataset().name}};
  }
  static void append(Ledger& l, const nlohmann::json& b, const std::optional<PlaceSpend>& left,
                     const std::string& hash = {}) {
    append_text(l, b, canonical(b), left, hash);
  }
  // b: what the columns say.
  static void append_text(Ledger& l, const nlohmann::json& b, const std::string& text,
                          const std::optional<PlaceSpend>& left, const std::string& hash = {}) {
    const Value key = b.contains("key") ? Value(b["key"].get<std::string>()) : Value{};
    const Value refers = b.contains("entry") ? Value(b["entry"].get<std::int64_t>()) : Value{};
    l.database().append(
        {b["seq"].get<std::int64_t>(), b["kind"].get<std::string>(),
         b["dataset"].get<std::string>(), key, refers, text, hash.empty() ? sha256(text) : hash},
        left);
  }
  // A data set more, and the charge of a tenth to it that a client would write if it asked nothing.
  nlohmann::json charge_to(const Dataset& d, PlaceSpend& left) {
    as("sotto").create(d);
    Account account(d);
    left = {"", account.charge(PureEvent{0.1}, "")};
    Ledger l = as("charger");
    return body(l, "charge", account);
  }
  Account account_{census(1)};
};

TEST_F(ForgedEntry, OneThatHoldsIsTaken) {
  Ledger l = as("charger");
  const auto b = body(l, "charge");
  append(l, b, PlaceSpend{"", account_.stored("")});
  EXPECT_EQ(verify(l).entries, 3);
}

// Temporary tables come first in a session's search path, but not in that of the server's function.
TEST_F(ForgedEntry, TablesOfTheCallerAreNotTheLedgers) {
  Ledger l = as("charger");
  const auto b = body(l, "charge");
  for (const char* table : {"sotto_spends", "sotto_entries", "sotto_datasets"})
    l.database().run(
        fmt::format("CREATE TEMPORARY TABLE {0} AS SELECT * FROM {1}.{0}", table, schema_));
  append(l, b, PlaceSpend{"", account_.stored("")});
  Ledger owner = as("sotto");
  EXPECT_EQ(verify(owner).entries, 3);
  EXPECT_EQ(owner.accounts().at(0).epsilon(), 0.1);
}

TEST_F(ForgedEntry, WhatDoesNotHoldIsRefused) {
  Ledger l = as("charger");
  const nlohmann::json honest = body(l, "charge");
  const PlaceSpend left{"", account_.stored("")};
  const auto bent = [&](const char* member, nlohmann::json value) {
    nlohmann::json b = honest;
    b[member] = std::move(value);
    return b;
  };
  EXPECT_THROW(append(l, bent("previous", std::string(64, '0')), left), VerificationFailed);
  EXPECT_THROW(append(l, bent("seq", 4), left), VerificationFailed);
  EXPECT_THROW(append(l, bent("seq", 2), left), VerificationFailed);
  EXPECT_THROW(append(l, bent("time", 0), left), VerificationFailed);
  EXPECT_THROW(append(l, bent("part", "north"), left), VerificationFailed);
  EXPECT_THROW(append(l, bent("dataset", "other"), left), VerificationFailed);
  EXPECT_THROW(append(l, bent("kind", "gift"), left), VerificationFailed);
  EXPECT_THROW(append(l, bent("spends", sha256("")), left), VerificationFailed);
  EXPECT_THROW(append(l, honest, left, sha256("")), VerificationFailed);
  EXPECT_THROW(append(l, honest, PlaceSpend{"", Account(census(1)).stored("")}),
               VerificationFailed);
  EXPECT_THROW(append(l, honest, PlaceSpend{"north", left.spend}), VerificationFailed);
  EXPECT_THROW(append(l, honest, std::nullopt), VerificationFailed);
  EXPECT_THROW(append(l, bent("kind", "dataset"), left), StorageError);
  EXPECT_THROW(append(l, bent("kind", "store"), left), StorageError);
  nlohmann::json refund = bent("kind", "abandon");
  refund.erase("key"), refund["entry"] = 2;  // which is no reservation
  EXPECT_THROW(append(l, refund, left), VerificationFailed);
  EXPECT_EQ(verify(l).entries, 2);
}

// Of several functions of a name the one that fits best is taken, whichever schema it is in: one
// that a caller made would run with the owner's rights.
TEST_F(ForgedEntry, FunctionsOfTheCallerAreNotTheServers) {
  as("sotto").database().run(fmt::format("GRANT CREATE ON SCHEMA {} TO charger", schema_));
  Ledger l = as("charger");
  l.database().run(fmt::format(
      "CREATE FUNCTION {0}.convert_to(text, text) RETURNS bytea LANGUAGE plpgsql AS $$ BEGIN "
      "EXECUTE 'GRANT ALL ON {0}.sotto_spends TO charger'; RETURN pg_catalog.convert_to($1, "
      "$2::name); END $$",
      schema_));
  l.charge(pure(0.1, "a"));
  EXPECT_THROW(l.database().run("UPDATE sotto_spends SET spend = '[]'"), StorageError);
  EXPECT_EQ(verify(l).entries, 3);
}

// An entry that no client can read would stop everybody, whatever data set it is about.
TEST_F(ForgedEntry, WhatNoClientReadsIsRefused) {
  Ledger l = as("charger");
  const nlohmann::json honest = body(l, "charge");
  const PlaceSpend left{"", account_.stored("")};
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string text = canonical(honest);
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
    EXPECT_THROW(append_text(l, honest, text, left), Error) << to;
    EXPECT_EQ(verify(l).entries, 2) << to;
  };
  const std::string time = fmt::format("\"time\":{}", honest["time"].dump());
  refused(time, fmt::format("\"time\":\"{}\"", honest["time"].dump()));
  refused(time, time + ".0");
  refused(time, time + "," + time);
  refused("," + time, "");
  refused(R"("seq":3)", R"("seq":3e0)");
  refused(R"("events":[)", R"("events":{"a":[)");
  refused(R"([{"pure":{"epsilon":0.1}}])", R"({"pure":{"epsilon":0.1}})");
  refused(R"("epsilon":0.1)", R"("epsilon":0.1,"epsilon":0.2)");
  refused(R"("epsilon":0.1)", R"("epsilon":1e999)");
  refused(R"("epsilon":0.1)", R"("epsilon":)" + std::string(300, '[') + std::string(300, ']'));
  refused(R"("by":"charger")", R"("by":1)");
  refused(R"("events":[{"pure":{"epsilon":0.1}}],)", "");
  const std::string events = R"([{"pure":{"epsilon":0.1}}])";
  for (const char* none :
       {"[]", "[1]", "[null]", "[[]]", "[{}]", R"([{"nope":1}])", R"([{"pure":1}])",
        R"([{"gdp":{"mu":1},"pure":{"epsilon":0.1}}])", R"([{"pure":{"epsilon":0.1}},1])",
        R"([{"compose":{"pure":{"epsilon":0.1}}}])", R"([{"compose":[1]}])",
        R"([{"repeat":{"count":2}}])", R"([{"repeat":{"count":2,"event":{"nope":{}}}}])"})
    refused(events, none);
  append(l, honest, left);
  EXPECT_EQ(verify(l).entries, 3);
}

// Spends are read before each charge.
TEST_F(ForgedEntry, ASpendThatIsNoneIsRefused) {
  Dataset planned = census(1);
  planned.name = "planned", planned.accountant = Accountant::pld, planned.plan = {PureEvent{0.1}};
  for (const Dataset& d : {census(1), planned}) {
    PlaceSpend left{"", Account(d).stored("")};
    if (d.name == "planned") as("sotto").create(d);
    Ledger l = as("charger");
    nlohmann::json b = body(l, "charge", Account(d));
    std::string letters = left.spend, long_number = left.spend;
    if (const std::size_t at = letters.find("\"0\""); at != std::string::npos) {
      letters.replace(at, 3, "\"xyz\"");
      long_number.replace(at, 3, "\"1z999\"");
    } else {
      letters = "[\"0\"]", long_number = "[99999999999999999999]";
    }
    for (const std::string& spend :
         {std::string("garbage"), std::string(), std::string("[]"), std::string("{}"),
          std::string("5"), std::string("[[]]"), std::string(R"([["0","0",0]])"),
          std::string("[-1]"), std::string("[0,0]"), std::string("[0.5]"), letters, long_number,
          left.spend + " ", left.spend.substr(0, left.spend.size() - 1) + ",1]"}) {
      b["spends"] = digest_of_spends({{"", spend}});
      EXPECT_THROW(append(l, b, PlaceSpend{"", spend}), VerificationFailed) << spend;
    }
    b["spends"] = digest_of_spends({{"", left.spend}});
    EXPECT_NO_THROW(append(l, b, left)) << d.name;
    // More of a plan than it has: nothing is left, and nobody stumbles over it.
    if (d.name != "planned") continue;
    b = body(l, "charge", Account(d));
    b["key"] = "more", b["spends"] = digest_of_spends({{"", "[7]"}});
    append(l, b, PlaceSpend{"", "[7]"});
    Charge next = pure(0.1, "next");
    next.dataset = "planned";
    EXPECT_THROW(l.charge(next), BudgetExceeded);
    EXPECT_LE(l.accounts().at(1).epsilon(), 0.11);
  }
}

TEST_F(ForgedEntry, ATallyTakesGuaranteesAndStatementsThatWereAnnounced) {
  Dataset tallied = census(20);
  tallied.name = "tallied", tallied.delta = 1e-4, tallied.this_data_epsilon = 5;
  PlaceSpend left;
  nlohmann::json b = charge_to(tallied, left);
  Ledger l = as("charger");
  const auto refused = [&](const char* text) {
    b["this_data"] = nlohmann::json::parse(text);
    EXPECT_THROW(append(l, b, left), VerificationFailed) << text;
  };
  for (const char* text :
       {"5", "null", "[]", "{}", R"({"epsilon":50,"delta":0,"confidence":1})",
        R"({"epsilon":-1,"delta":0,"confidence":1})", R"({"epsilon":"1","delta":0,"confidence":1})",
        R"({"epsilon":null,"delta":0,"confidence":1})", R"({"epsilon":1,"delta":0})",
        R"({"epsilon":1,"delta":1e-3,"confidence":1})", R"({"epsilon":1,"delta":0,"confidence":2})",
        R"({"epsilon":1,"delta":0,"confidence":1,"more":1})",
        R"({"epsilon":1,"delta":0,"confidence":1,"announced":0.9})",
        R"({"epsilon":1,"delta":1e-5,"confidence":1,"announced":0.4})",
        R"({"epsilon":1,"delta":1e-5,"confidence":1,"announced":true})"})
    refused(text);
  // As doubles, which clients read, these are 1/2, 1 and 0.
  for (const char* text :
       {R"({"announced":0.50000000000000000001,"confidence":1,"delta":1e-5,"epsilon":1})",
        R"({"announced":0.99999999999999999999,"confidence":1,"delta":1e-5,"epsilon":1})",
        R"({"announced":0.9,"confidence":1,"delta":1e-400,"epsilon":1})"}) {
    b["this_data"] = "HERE";
    std::string bent = canonical(b);
    bent.replace(bent.find("\"HERE\""), 6, text);
    EXPECT_THROW(append_text(l, b, bent, left), Error) << text;
  }
  const Event noise = GaussianEvent{2}, smooth = TcdpEvent{.002, 40},
              scale = DiscreteGaussianEvent{20, 1, 0x1p-20, 1};
  Charge silent = pure(0.1, "silent");
  Charge labels{.dataset = "tallied",
                .spec = {Relation::add_remove, {compose({noise, smooth, scale})}},
                .key = "labels",
                .announced = {.delta = 1e-5, .confidence = .95}};
  silent.dataset = "tallied";
  const std::int64_t without = l.reserve(silent).entry, with = l.reserve(labels).entry;
  const auto commit = [&](std::int64_t entry, const char* text) {
    const Entry last = l.head();
    const nlohmann::json c = {{"kind", "commit"},
                              {"entry", entry},
                              {"spends", last.json.at("spends")},
                              {"this_data", nlohmann::json::parse(text)},
                              {"previous", last.hash},
                              {"seq", last.seq + 1},
                              {"time", last.json.at("time")},
                              {"dataset", "tallied"}};
    EXPECT_THROW(append(l, c, std::nullopt), VerificationFailed) << text;
  };
  commit(without, R"({"epsilon":0.01,"delta":0,"confidence":null})");
  commit(without, R"({"epsilon":0.01,"delta":0,"confidence":1})");
  for (const char* text : {"5", R"({"epsilon":50,"delta":1e-5,"confidence":0.95})",
                           R"({"epsilon":0.5,"delta":1e-6,"confidence":0.95})",
                           R"({"epsilon":0.5,"delta":1e-5,"confidence":0.9})",
                           R"({"epsilon":-1,"delta":1e-5,"confidence":0.95})",
                           R"({"epsilon":"x","delta":1e-5,"confidence":0.95})"})
    commit(with, text);
  EXPECT_NO_THROW(l.commit(without));
  const double worst = l.tally(tallied).epsilon();
  EXPECT_LT(l.commit(with, "labels", Statement{.9, 1e-5, .95}).this_data->epsilon(), worst);
  EXPECT_NO_THROW(verify(l));
}

// The server knows no ranges. What passes it and nobody can read is passed over, and named.
TEST_F(ForgedEntry, AReleaseThatNobodyReadsStopsNobody) {
  const KeyPair key = new_signing_key();
  Dataset d = census(1);
  d.name = "owned", d.owner_key = key.public_pem;
  PlaceSpend left;
  nlohmann::json b = charge_to(d, left);
  b["events"] = nlohmann::json::parse(R"([{"pure":{"epsilon":"much"}}])");
  Ledger l = as("charger"), owner = as("sotto");
  append(l, b, left);
  Charge next = pure(0.1, "next");
  next.dataset = "owned";
  EXPECT_EQ(l.accounts().at(1).epsilon(), 0.1);
  EXPECT_EQ(l.charge(next).epsilon_spent, 0.2);
  EXPECT_THROW(verify(l), Error);
  b = body(l, "charge", l.accounts().at(1));
  b["key"] = "again", b["events"] = nlohmann::json::parse(R"([{"pure":{"epsilon":-1}}])");
  append(l, b, PlaceSpend{"", l.accounts().at(1).stored("")});
  const Decision close{.what = "close", .reason = "it was abused", .by = "carla"};
  EXPECT_EQ(owner.decide("owned", close, key.private_pem).epsilon_spent, 0.2);
  EXPECT_TRUE(owner.dataset("owned").closed);
  next.key = "late";
  EXPECT_THROW(l.charge(next), BudgetExceeded);
}

// Whatever a spend is that an older server took.
TEST_F(ForgedEntry, ADamagedDataSetIsNamedClosedAndRenewedAndTheOthersAreRead) {
  const KeyPair key = new_signing_key();
  Dataset d = census(1);
  d.name = "owned", d.owner_key = key.public_pem;
  d.from = 1'000'000'000'000, d.until = system_clock() + 1'000;
  PlaceSpend left;
  nlohmann::json b = charge_to(d, left);
  b["spends"] = digest_of_spends({{"", "garbage"}});
  Ledger owner = as("sotto");
  Transaction t = Transaction::writing(owner.database());
  const std::string text = canonical(b);
  owner.database().run(
      "INSERT INTO sotto_entries VALUES ($1, 'charge', 'owned', 'forged', NULL, "
      "$2, $3)",
      {b["seq"].get<std::int64_t>(), text, sha256(text)});
  owner.database().run("UPDATE sotto_spends SET spend = 'garbage' WHERE dataset = 'owned'");
  t.commit();
  EXPECT_THROW(owner.accounts(), DataError);
  std::map<std::string, std::string> unreadable;
  EXPECT_EQ(owner.accounts(&unreadable).size(), 1);
  EXPECT_TRUE(unreadable.size() == 1 && unreadable.contains("owned"));
  Ledger later(open_database(location("sotto"), OpenMode::write), OpenMode::write,
               [&] { return d.until + 1; });
  const Decision renew{
      .what = "renew", .until = d.until + 86'400'000, .reason = "it was abused", .by = "carla"},
      close{.what = "close", .reason = "it was abused", .by = "carla"};
  EXPECT_EQ(later.decide("owned", renew, key.private_pem).epsilon_spent, 0);
  EXPECT_EQ(later.accounts().size(), 2);
  EXPECT_EQ(later.decide("owned", close, key.private_pem).epsilon_spent, 0);
}

// Time never runs back: a moment far ahead would be the present of everybody for ever.
TEST_F(ForgedEntry, NobodyMovesTheClockFarAhead) {
  Ledger l = as("charger");
  nlohmann::json b = body(l, "charge");
  const PlaceSpend left{"", account_.stored("")};
  for (const std::int64_t minutes : {15, 2 * 1440, 400 * 1440, 100'000 * 1440}) {
    b["time"] = system_clock() + minutes * 60'000;
    EXPECT_THROW(append(l, b, left), VerificationFailed) << minutes;
  }
  b["time"] = system_clock() + 60'000;  // clocks differ
  append(l, b, left);
  EXPECT_NO_THROW(l.charge(pure(0.1, "a")));
}

TEST_F(ForgedEntry, ABudgetThatIsClosedOrOverTakesNothing) {
  Dataset closed = census(1), over = census(1);
  closed.name = "closed", closed.closed = true;
  over.name = "over", over.from = 1'000'000'000'000, over.until = system_clock() - 1000;
  for (const Dataset& d : {closed, over}) {
    PlaceSpend left;
    nlohmann::json b = charge_to(d, left);
    Ledger l = as("charger");
    EXPECT_THROW(append(l, b, left), VerificationFailed) << d.name;
    b["time"] = over.until - 1;  // from before the newest entry
    EXPECT_THROW(append(l, b, left), VerificationFailed) << d.name;
  }
  Ledger owner = as("sotto");
  EXPECT_EQ(verify(owner).entries, 4);
}

TEST_F(ForgedEntry, NeitherATallyNorASharedBudgetIsPassedOver) {
  Dataset tallied = census(1), shares = census(1);
  tallied.name = "tallied", tallied.this_data_epsilon = 1;
  shares.name = "shares", shares.people = "census";
  for (const Dataset& d : {tallied, shares}) {
    PlaceSpend left;
    nlohmann::json b = charge_to(d, left);
    Ledger l = as("charger");
    EXPECT_THROW(append(l, b, left), VerificationFailed) << d.name;
    b["linked"] = b["seq"].get<std::int64_t>() - 1;
    EXPECT_THROW(append(l, b, left), VerificationFailed) << d.name;
    Charge honest = pure(0.1, "honest");
    honest.dataset = d.name;
    const std::int64_t entry = l.reserve(honest).entry;
    EXPECT_NO_THROW(l.commit(entry)) << d.name;
  }
  // Nor settled alone.
  Ledger l = as("charger");
  Charge honest = pure(0.1, "open");
  honest.dataset = "shares";
  const Entry open = [&] {
    const std::int64_t seq = l.reserve(honest).entry;
    return l.entries("shares").back().seq == seq ? l.entries("shares").back() : Entry{};
  }();
  const Entry last = l.head();
  const nlohmann::json commit = {
      {"kind", "commit"},      {"entry", open.seq},   {"spends", open.json.at("spends")},
      {"previous", last.hash}, {"seq", last.seq + 1}, {"time", last.json.at("time")},
      {"dataset", "shares"}};
  EXPECT_THROW(append(l, commit, std::nullopt), VerificationFailed);
  Ledger owner = as("sotto");
  EXPECT_NO_THROW(verify(owner));
}

// A purpose, or a charge to a shared budget for nobody: the server takes them, verify does not.
TEST_F(ForgedEntry, APurposeThatIsNotThereIsFoundByVerify) {
  for (const bool excused : {false, true}) {
    Dataset d = census(1);
    d.name = excused ? "excused" : "plain", d.purposes = {"report"};
    PlaceSpend left;
    nlohmann::json b = charge_to(d, left);
    b["purpose"] = "curiosity";
    if (excused) b["for"] = b["seq"].get<std::int64_t>() + 1;
    Ledger l = as("charger");
    append(l, b, left);
    EXPECT_THROW(verify(l), VerificationFailed);
    SetUp();  // a ledger of its own
  }
}

// The server cannot compute costs. What it can do is keep the entry that lied.
TEST_F(ForgedEntry, ASpendThatIsStatedTooLowIsFoundByVerify) {
  Ledger l = as("charger");
  nlohmann::json b = body(l, "charge");
  const Account untouched(census(1));
  b["spends"] = untouched.digest();
  append(l, b, PlaceSpend{"", untouched.stored("")});
  EXPECT_THROW(verify(l), VerificationFailed);
}

TEST_F(Roles, TheListSaysWhoMayDoWhat) {
  Ledger owner = as("sotto");
  const auto find = [&](const std::string& name) {
    const auto all = roles(owner.database());
    const auto it = std::ranges::find(all, name, &Role::name);
    return it == all.end() ? Role{} : *it;
  };
  EXPECT_TRUE(find("sotto").writes);
  EXPECT_TRUE(find("charger").charges && find("charger").reads && !find("charger").writes);
  EXPECT_TRUE(find("auditor").reads && !find("auditor").charges && !find("auditor").writes);
  EXPECT_TRUE(find("Odd; name").reads);
  EXPECT_EQ(find("nobody").name, "");
  EXPECT_EQ(find("public").name, "");
  // Rights on a column, by SET ROLE, and to put objects in the way of the ledger's.
  owner.database().run("GRANT UPDATE (spend) ON sotto_spends TO nobody");
  EXPECT_TRUE(find("nobody").writes);
  revoke(owner.database(), "nobody");
  EXPECT_EQ(find("nobody").name, "");
  owner.database().run(
      "DO $$ BEGIN CREATE ROLE member LOGIN NOINHERIT; EXCEPTION WHEN duplicate_object THEN END "
      "$$");
  owner.database().run("GRANT charger TO member");
  EXPECT_TRUE(find("member").charges && find("member").reads && !find("member").writes);
  owner.database().run("REVOKE charger FROM member");
  owner.database().run("GRANT sotto TO member");
  EXPECT_TRUE(find("member").writes);
  owner.database().run("REVOKE sotto FROM member");
  EXPECT_EQ(find("member").name, "");
  owner.database().run(fmt::format("GRANT CREATE ON SCHEMA {} TO nobody", schema_));
  EXPECT_TRUE(find("nobody").creates && !find("nobody").writes && !find("nobody").reads);
  EXPECT_TRUE(find("sotto").creates && !find("charger").creates);
  owner.database().run("GRANT UPDATE ON sotto_spends TO auditor");
  EXPECT_TRUE(find("auditor").writes);
  revoke(owner.database(), "auditor");
  EXPECT_EQ(find("auditor").name, "");
  EXPECT_THROW(as("auditor", OpenMode::read), StorageError);
  EXPECT_THROW(grant(owner.database(), "stranger", Right::read), InvalidArgument);
  EXPECT_THROW(grant(as("charger").database(), "nobody", Right::read), StorageError);
}

TEST_F(Roles, AServerThatWentBackIsSeenByWhoRemembersItsHead) {
  const test::TemporaryDirectory directory;
  StoreLocation here = location("charger");
  here.witness = directory.file("state/heads");
  {
    Ledger l = Ledger::open(here, OpenMode::write);
    l.charge(pure(0.1, "a"));
  }
  Ledger owner = as("sotto");
  const auto spends = owner.database().query("SELECT seq, spend FROM sotto_spends");
  Ledger::open(here, OpenMode::write).charge(pure(0.1, "b"));
  // Restored from an older copy, or failed over to a replica that had not heard of it.
  owner.database().run("DELETE FROM sotto_entries WHERE seq = 4");
  owner.database().run("UPDATE sotto_spends SET seq = $1, spend = $2", spends.at(0));
  EXPECT_NO_THROW(verify(owner));  // a whole, shorter history, for who has seen nothing else
  Ledger l = Ledger::open(here, OpenMode::write);
  EXPECT_THROW(verify(l), VerificationFailed);
  EXPECT_THROW(l.charge(pure(0.1, "c")), VerificationFailed);
  EXPECT_THROW(l.quote(pure(0.1, "c")), VerificationFailed);
  EXPECT_THROW(l.accounts(), VerificationFailed);
  // Gone and made again is not forgotten either.
  here.place = location("sotto").place;
  Ledger::open(here, OpenMode::create);  // no complaint while its tables are there
  owner.database().run(fmt::format("DROP SCHEMA {0} CASCADE", schema_));
  owner.database().run(fmt::format("CREATE SCHEMA {0}", schema_));
  EXPECT_THROW(Ledger::open(here, OpenMode::create), StorageError);
}

}  // namespace sotto::ledger::roles_test
