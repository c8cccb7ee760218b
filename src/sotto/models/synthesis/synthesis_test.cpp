#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/record_replay.hpp"
#include "sotto/learning/generator.hpp"
#include "sotto/models/synthesis/detail/cell_columns.hpp"
#include "sotto/models/synthesis/detail/column_counts.hpp"
#include "sotto/models/synthesis/detail/level_groups.hpp"
#include "sotto/models/synthesis/detail/synthesis_model.hpp"
#include "sotto/models/synthesis/synthesis_family.hpp"

namespace sotto::synthesis_test {

using Row = std::vector<std::string>;
using Rows = std::vector<Row>;

Schema schema_of(const std::string& relation, std::size_t rows, const std::string& more = {}) {
  const std::string user =
      more.starts_with("unit") ? "[columns.who]\ntype = \"text\"\nrole = \"user\"\n" : "";
  return Schema::from_toml("relation = \"" + relation + "\"\nrows = " + std::to_string(rows) +
                           "\n" + more + R"(
[columns.age]
type = "numeric"
bounds = [17, 90]
missing = "midpoint"
[columns.income]
type = "numeric"
bounds = [-250.5, 1e5]
[columns.city]
type = "categorical"
values = ["Turin", "Milan", "Rome"]
missing = "other"
[columns.smoker]
type = "boolean"
missing = "midpoint"
[columns.region]
type = "categorical"
values = ["north", "south"]
role = "group"
[columns.ill]
type = "categorical"
values = ["no", "yes"]
role = "target"
)" + user);
}

// Cells in the order of the schema.
Table table_of(const Rows& rows, const Encoder& encoder) {
  Table table(encoder);
  for (const Row& row : rows) {
    std::vector<std::string_view> cells(row.begin(), row.begin() + 4);
    Table::Sink sink = table.add_row();
    std::size_t culprit = 0;
    sink.factor = encoder.encode(cells, sink.dense, sink.hot, culprit);
    table.add_group(0, encoder.groups()[0].index(row[4]));
    table.add_target(encoder.encode_target(row[5]));
  }
  return table;
}

TrainingRequest request_for(const std::optional<Budget>& budget,
                            const std::string& method = "marginals") {
  const Family family = synthesis_family();
  return {.kind = "synthesis",
          .method = budget ? method : "none",
          .budget = budget,
          .options = OptionValues(options_of(family, "synthesis"), {})};
}

Facts facts_of(const Schema& schema) {
  return facts_for(synthesis_family(), schema, request_for(Budget::pure(1)));
}

// The smoker of the south is old and ill; cities say nothing.
Rows records(std::size_t count, unsigned seed = 1) {
  std::mt19937 random(seed);
  Rows rows;
  for (std::size_t i = 0; i < count; ++i) {
    const bool south = random() % 2 == 0, smoker = south ? random() % 4 != 0 : random() % 4 == 0,
               ill = smoker ? random() % 10 != 0 : random() % 10 == 0;
    const char* const cities[] = {"Turin", "Milan", "Rome", ""};
    rows.push_back({std::to_string((smoker ? 50 : 20) + random() % 20),
                    std::to_string(ill ? 1000 + random() % 1000 : 50000 + random() % 9000),
                    cities[random() % 4], smoker ? "true" : "false", south ? "south" : "north",
                    ill ? "yes" : "no"});
  }
  return rows;
}

Rows drawn_from(const Rows& rows, const Schema& schema, const std::optional<Budget>& budget,
                std::size_t count, std::uint64_t seed = 1,
                const std::string& method = "marginals") {
  const Family family = synthesis_family();
  const TrainingRequest request = request_for(budget, method);
  const Facts facts = facts_for(family, schema, request);
  const Table table = table_of(rows, *facts.encoder);
  Rng rng = Rng::insecure_seed(seed);
  const TrainedModel model =
      plan_training(family, facts, request)->run(*table_in_memory(table), rng);
  Rows drawn;
  dynamic_cast<const Generator&>(*model.value()).draw(count, rng, [&](const Row& row) {
    drawn.push_back(row);
  });
  return drawn;
}

double share(const Rows& rows, const std::function<bool(const Row&)>& holds) {
  double count = 0;
  for (const Row& row : rows) count += holds(row);
  return count / static_cast<double>(rows.size());
}

TEST(CellColumns, TextOfACellReadsAsThatCell) {
  for (const std::string scaling : {"symmetric", "unit"}) {
    const Schema schema = schema_of("add_remove", 10, "scaling = \"" + scaling + "\"\n");
    const Encoder encoder(schema);
    const CellColumns columns(encoder, 37);
    ASSERT_EQ(columns.columns(), 6u);
    EXPECT_EQ(columns.stride(0), 2u);
    EXPECT_EQ(columns.stride(1), 0u);
    EXPECT_EQ(columns.cells(2), 4u);
    EXPECT_EQ(columns.cells(3), 3u);
    EXPECT_EQ(columns.target(), 5u);
    Rng rng = Rng::insecure_seed(1);
    std::vector<std::uint32_t> read(6);
    const Row base = {"20", "0", "Turin", "true", "north", "no"};
    for (std::size_t j = 0; j < 6; ++j) {
      for (std::uint32_t cell = 0; cell < columns.cells(j); ++cell) {
        for (int repeat = 0; repeat < 20; ++repeat) {
          Row row = base;
          row[j] = columns.text(j, cell, rng);
          columns.read(table_of({row}, encoder), 0, read);
          EXPECT_EQ(read[j], cell) << columns.name(j) << " '" << row[j] << "'";
        }
      }
    }
  }
}

TEST(CellColumns, ExtremeBoundsGiveFiniteNumbersInsideThem) {
  for (const auto& [low, high] :
       std::vector<std::pair<std::string, std::string>>{{"-8e307", "8e307"},
                                                        {"1e15", "1.000000000000001e15"},
                                                        {"0", "1e-300"},
                                                        {"-1e-300", "1"}}) {
    const Schema schema = Schema::from_toml(
        "relation = \"add_remove\"\nrows = 5\n[columns.x]\ntype = "
        "\"numeric\"\nbounds = [" +
        low + ", " + high + "]\n");
    const Encoder encoder(schema);
    const CellColumns columns(encoder, 100);
    Rng rng = Rng::insecure_seed(2);
    for (std::uint32_t cell = 0; cell < columns.cells(0); ++cell) {
      const double x = std::strtod(columns.text(0, cell, rng).c_str(), nullptr);
      EXPECT_GE(x, schema.columns[0].bounds->lower() -
                       std::abs(schema.columns[0].bounds->lower()) * 1e-11);
      EXPECT_LE(x, schema.columns[0].bounds->upper() +
                       std::abs(schema.columns[0].bounds->upper()) * 1e-11);
    }
  }
}

TEST(CellColumns, HugeDomainsAreRefusedBeforeMemoryIsTaken) {
  std::string many = "relation = \"add_remove\"\nrows = 5\n";
  for (int i = 0; i < 300; ++i)
    many += "[columns.c" + std::to_string(i) + "]\ntype = \"boolean\"\n";
  EXPECT_THROW(CellColumns(Encoder(Schema::from_toml(many)), 128), Unsupported);
  std::string wide =
      "relation = \"add_remove\"\nrows = 5\n[columns.c]\ntype = \"categorical\"\nvalues = [";
  for (int i = 0; i < 70000; ++i) wide += "\"v" + std::to_string(i) + "\", ";
  EXPECT_THROW(CellColumns(Encoder(Schema::from_toml(wide + "\"last\"]\n")), 128), Unsupported);
}

TEST(LevelGroups, SharesAddUpAndLevelsAreFewWhateverTheCounts) {
  std::mt19937 random(4);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<double> counts(1 + random() % 300);
    const double size = std::pow(10.0, static_cast<double>(random() % 12) - 3);
    for (double& c : counts)
      c = random() % 4 == 0 ? 0 : (static_cast<double>(random() % 2001) - 500) * size;
    for (const double deviation : {1e-9, 1.0, 1e6}) {
      for (const auto& [order, stride] : {std::pair{CellOrder::categories, 0u},
                                          {CellOrder::numbers, 0u},
                                          {CellOrder::numbers, 2u},
                                          {CellOrder::numbers, 5u}}) {
        const ColumnLevels made = grouped(counts, deviation, order, stride);
        ASSERT_GE(made.levels, 1u);
        EXPECT_LE(made.levels, order == CellOrder::categories ? ColumnLevels::kMostCategories
                                                              : ColumnLevels::kMostNumbers);
        std::vector<double> total(made.levels);
        for (std::size_t c = 0; c < counts.size(); ++c) {
          EXPECT_GE(made.share[c], 0);
          total[made.level.at(c)] += made.share[c];
        }
        for (const double t : total) EXPECT_NEAR(t, 1, 1e-9);
      }
    }
  }
}

TEST(LevelGroups, NothingIsPutBetweenWholeNumbersThatAreAlone) {
  std::vector<double> counts(41);  // every second a whole number
  for (std::size_t c = 0; c < counts.size(); c += 2) counts[c] = 500;
  for (std::size_t c = 1; c < counts.size(); c += 2) counts[c] = c % 4 == 1 ? 12 : -12;
  const ColumnLevels made = grouped(counts, 10, CellOrder::numbers, 2);
  for (std::size_t c = 1; c < counts.size(); c += 2) EXPECT_EQ(made.share[c], 0);
  for (std::size_t c = 1; c < counts.size(); c += 2) counts[c] = 300;
  const ColumnLevels mixed = grouped(counts, 10, CellOrder::numbers, 2);
  double between = 0;
  for (std::size_t c = 1; c < counts.size(); c += 2) between += mixed.share[c];
  EXPECT_GT(between, 0);
}

TEST(Synthesis, WithoutNoiseTheRecordsHaveThePairsOfTheData) {
  const Rows rows = records(4000);
  for (const std::optional<Budget>& budget :
       {std::optional<Budget>(), std::optional(Budget::zcdp(1e4)),
        std::optional(Budget::pure(1e4))}) {
    const Rows drawn = drawn_from(rows, schema_of("add_remove", 4000), budget, 4000);
    ASSERT_EQ(drawn.size(), 4000u);
    const std::vector<std::function<bool(const Row&)>> facts = {
        [](const Row& r) { return r[3] == "true" && r[4] == "south"; },
        [](const Row& r) { return r[3] == "true" && r[5] == "yes"; },
        [](const Row& r) { return r[4] == "south" && r[5] == "no"; },
        [](const Row& r) { return std::stod(r[0]) < 45 && r[3] == "false"; },
        [](const Row& r) { return std::stod(r[1]) < 10000 && r[5] == "yes"; },
        [](const Row& r) { return r[2].empty(); }};
    // A level of ages may reach over the gap between the young and the old.
    for (std::size_t i = 0; i < facts.size(); ++i)
      EXPECT_NEAR(share(drawn, facts[i]), share(rows, facts[i]), i == 3 ? 0.05 : 0.02) << i;
    for (const Row& r : drawn) EXPECT_EQ(r[0].find('.'), std::string::npos) << r[0];
  }
}

TEST(Synthesis, WithABudgetItKeepsWhatIsStrongAndCostsNoMore) {
  const Rows rows = records(20000);
  const Rows drawn =
      drawn_from(rows, schema_of("add_remove", 20000), Budget::approximate(1, 1e-6), 20000);
  const auto both = [](const Row& r) { return r[3] == "true" && r[5] == "yes"; };
  EXPECT_NEAR(share(drawn, both), share(rows, both), 0.03);
  EXPECT_GT(share(drawn, both), 1.5 * share(rows, [](const Row& r) { return r[3] == "true"; }) *
                                    share(rows, [](const Row& r) { return r[5] == "yes"; }));
  for (const std::string relation : {"add_remove", "replace_one", "zero_out"}) {
    for (const Budget& budget : {Budget::approximate(1, 1e-6), Budget::pure(1)}) {
      const Family family = synthesis_family();
      const TrainingRequest request = request_for(budget);
      const auto plan =
          plan_training(family, facts_for(family, schema_of(relation, 100), request), request);
      const Spec spec{plan->relation(), {*plan->event()}};
      EXPECT_LE(guarantee(spec, budget.is_pure() ? 0 : 1e-6).upper, 1 + 1e-9) << relation;
    }
  }
}

// How much is spent on pairs follows from public facts: all of them, a few, or none.
TEST(Synthesis, FewRecordsPayForFewPairsOrNone) {
  const auto method = [](std::size_t rows, const Budget& budget) {
    const Family family = synthesis_family();
    const TrainingRequest request = request_for(budget);
    return plan_training(family, facts_for(family, schema_of("add_remove", rows), request), request)
        ->explain();
  };
  EXPECT_NE(
      method(30000, Budget::approximate(1, 1e-6)).words.find("that depend on each other most"),
      std::string::npos);
  EXPECT_NE(method(300, Budget::approximate(1, 1e-6)).words.find("pairs of them;"),
            std::string::npos);
  EXPECT_EQ(method(10, Budget::approximate(0.1, 1e-6)).method, "columns");
  // With few records the strongest dependence on the target is kept all the same.
  const Rows rows = records(300);
  const auto both = [](const Row& r) { return r[3] == "true" && r[5] == "yes"; };
  double kept = 0, alone = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const Schema schema = schema_of("add_remove", 300);
    kept += share(drawn_from(rows, schema, Budget::approximate(1, 1e-6), 2000, seed), both) / 4;
    alone +=
        share(drawn_from(rows, schema, Budget::approximate(1, 1e-6), 2000, seed, "columns"), both) /
        4;
  }
  EXPECT_GT(kept, alone + 0.05);
}

// Bounds that are whole say nothing about the numbers between them.
TEST(ColumnCounts, NumbersBetweenWholeOnesKeepTheirPlace) {
  const Schema schema = schema_of("add_remove", 1000);
  const Encoder encoder(facts_of(schema).encoder->schema());
  const CellColumns cells(encoder, 128);
  const ColumnCounts counts(cells, 8);
  for (const char* const shift : {".25", ""}) {
    Rows rows;
    for (int i = 0; i < 500; ++i)
      rows.push_back({std::to_string(60 + i % 9) + shift, "0", "Rome", "true", "north", "no"});
    std::vector<int128> sums(counts.size());
    counts.add(table_of(rows, encoder), std::vector<std::int64_t>(6, 1), 1, sums);
    const std::vector<double> all(sums.begin(), sums.end());
    const double between = counts.gaps(0, all, 1, 500);
    const ColumnLevels made = counts.levels(0, counts.of(0, all), 1, between, 4, 100, 500);
    double old = 0, total = 0, gaps = 0;
    for (std::uint32_t c = 0; c < made.level.size(); ++c) {
      const double share = made.share[c] * made.counts[made.level[c]] / 500;
      total += share;
      if (cells.place(0, c) > 0.5) old += share;
      if (c % cells.stride(0) != 0) gaps += share;
    }
    EXPECT_NEAR(total, 1, 0.01);
    EXPECT_GT(old, 0.9);
    EXPECT_NEAR(gaps, *shift == '.' ? 1 : 0, 0.02);
  }
}

TEST(Synthesis, OddTablesGiveRecords) {
  const Schema schema = schema_of("add_remove", 10);
  const Row one = {"40", "100", "Rome", "true", "north", "no"};
  for (const Rows& rows : {Rows{}, Rows{one}, Rows(500, one),
                           Rows{one, {"", "1e9", "Atlantis", "", "south", "yes"}}}) {
    for (const std::optional<Budget>& budget :
         {std::optional<Budget>(), std::optional(Budget::approximate(1, 1e-6)),
          std::optional(Budget::approximate(1e-3, 1e-6)), std::optional(Budget::pure(0.1))}) {
      const Rows drawn = drawn_from(rows, schema, budget, 50);
      EXPECT_EQ(drawn.size(), 50u);
      // What is drawn can be read: table_of refuses what is not declared.
      const Encoder encoder(schema);
      EXPECT_EQ(table_of(drawn, encoder).rows(), 50u);
    }
  }
  // Noise that hardly anything is left of: a hundredth of the records may still lie elsewhere.
  const Rows drawn = drawn_from(Rows(500, one), schema, Budget::zcdp(1e4), 200);
  for (const std::size_t j : {0, 2, 3, 4, 5})
    EXPECT_GT(share(drawn, [&](const Row& row) { return row[j] == one[j]; }), 0.95) << j;
}

// The same randomness on neighbours: every query moves by at most what it declares, and the records
// that are drawn are the same, byte for byte, since they follow from what was released.
TEST(Synthesis, NeighboursReplayWithinTheSensitivityAndDrawTheSameRecords) {
  const Rows base = records(30);
  constexpr double kUsers = 20;  // enough for all pairs' scores, also of units with three records
  const Row low = {"17", "-250.5", "Turin", "false", "north", "no"},
            high = {"90", "1e5", "", "", "south", "yes"};
  for (const std::string relation : {"add_remove", "replace_one", "zero_out"}) {
    for (const std::string unit : {"", "unit = \"user\"\nmax_contributions = 3\n"}) {
      const Schema schema = schema_of(relation, 33, unit);
      const Facts facts = facts_of(schema);
      const std::size_t changed = unit.empty() ? 1 : 3;
      for (const auto& [budget, method] : {std::pair{Budget::approximate(8, 1e-6), "marginals"},
                                           {Budget::pure(8), "marginals"},
                                           {Budget::zcdp(400 * kUsers), "marginals"},
                                           {Budget::pure(600 * kUsers), "marginals"},
                                           {Budget::approximate(8, 1e-6), "columns"},
                                           {Budget::approximate(8, 1e-6), "histogram"},
                                           {Budget::pure(8), "histogram"}}) {
        const auto plan = plan_training(synthesis_family(), facts, request_for(budget, method));
        std::vector<Rows> records_of(2);
        std::size_t next = 0;
        const auto run = [&](Rows rows, std::size_t nulls) {
          return [&, rows, nulls](Rng& rng) -> std::optional<Event> {
            Table table = table_of(rows, *facts.encoder);
            for (std::size_t i = 0; i < nulls; ++i) {
              Table::Sink sink = table.add_row();
              sink.factor = std::nan("");
              table.add_group(0, 0);
              table.add_target(0);
            }
            const TrainedModel model = plan->run(*table_in_memory(table), rng);
            dynamic_cast<const Generator&>(*model.value()).draw(20, rng, [&](const Row& row) {
              records_of[next].push_back(row);
            });
            ++next;
            return model.event();
          };
        };
        Rows with = base, without = base;
        with.insert(with.end(), changed, high);
        if (relation == "replace_one") without.insert(without.end(), changed, low);
        const std::size_t nulls = relation == "zero_out" ? changed : 0;
        EXPECT_EQ(replay::check_neighbours(run(with, 0), run(without, nulls)), "")
            << relation << unit << budget.describe();
        EXPECT_EQ(records_of[0], records_of[1]);
        // One record more than the relation allows is caught.
        next = 0;
        with.insert(with.end(), 2 * changed, high);
        EXPECT_NE(replay::check_neighbours(run(with, 0), run(without, nulls)), "")
            << relation << unit << budget.describe();
      }
    }
  }
}

TEST(Synthesis, TheHistogramOfAllColumnsKeepsWhatThreeOfThemSayTogether) {
  const Rows rows = records(20000);
  const auto fact = [](const Row& r) { return r[3] == "true" && r[4] == "south" && r[5] == "yes"; };
  for (const Budget& budget : {Budget::approximate(1, 1e-6), Budget::pure(1)}) {
    const Rows drawn =
        drawn_from(rows, schema_of("add_remove", 20000), budget, 20000, 1, "histogram");
    ASSERT_EQ(drawn.size(), 20000u);
    EXPECT_NEAR(share(drawn, fact), share(rows, fact), 0.02);
    for (const Row& r : drawn)
      EXPECT_TRUE(std::stod(r[0]) >= 17 && std::stod(r[0]) <= 90 && std::stod(r[1]) >= -250.5 &&
                  std::stod(r[1]) <= 1e5);
  }
  for (const Rows& odd : {Rows{}, Rows{rows[0]}})
    EXPECT_EQ(
        drawn_from(odd, schema_of("add_remove", 10), Budget::pure(0.1), 9, 1, "histogram").size(),
        9u);
}

TrainedModel trained_on(const Table& table, const Facts& facts) {
  Rng rng = Rng::insecure_seed(1);
  return plan_training(synthesis_family(), facts, request_for(Budget::approximate(3, 1e-6)))
      ->run(*table_in_memory(table), rng);
}

TEST(Synthesis, AGeneratorThatWasKeptDrawsTheSameRecords) {
  Facts facts = facts_of(schema_of("add_remove", 200));
  const Table table = table_of(records(200), *facts.encoder);
  const TrainedModel model = trained_on(table, facts);
  const std::unique_ptr<Model> again = load_synthesis(model.value()->files(), facts);
  const auto draw = [](const Model& m) {
    Rows rows;
    Rng same = Rng::insecure_seed(9);
    dynamic_cast<const Generator&>(m).draw(100, same, [&](const Row& r) { rows.push_back(r); });
    return rows;
  };
  EXPECT_EQ(draw(*model.value()), draw(*again));
  EXPECT_THROW(model.value()->apply(table), Unsupported);
}

// A double that no whole number of 32 bits holds must not be converted to one.
TEST(Synthesis, NumbersOfAFileThatAreNotWholeAreRefused) {
  Facts facts = facts_of(schema_of("add_remove", 200));
  const TrainedModel model = trained_on(table_of(records(200), *facts.encoder), facts);
  Files files = model.value()->files();
  const auto json = nlohmann::ordered_json::parse(files.at("model.json"));
  using Pointer = nlohmann::ordered_json::json_pointer;
  for (const char* where : {"/columns/0/level/0", "/terms/0/columns/0"}) {
    auto broken = json;
    ASSERT_TRUE(broken.contains(Pointer(where))) << where;
    broken[Pointer(where)] = 1e300;
    files.at("model.json") = broken.dump();
    EXPECT_THROW(load_synthesis(files, facts), DataError) << where;
  }
}

}  // namespace sotto::synthesis_test
