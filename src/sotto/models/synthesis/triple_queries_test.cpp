#include "sotto/models/synthesis/detail/triple_queries.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sotto/learning/generator.hpp"
#include "sotto/models/synthesis/detail/synthesis_design.hpp"
#include "sotto/models/synthesis/synthesis_family.hpp"

namespace sotto::triple_queries_test {

using Row = std::vector<std::string>;

// Three columns with three values each and a target with two.
Schema schema_of(std::size_t rows) {
  std::string text = "relation = \"add_remove\"\nrows = " + std::to_string(rows) + "\n";
  for (const char* const name : {"a", "b", "c"})
    text += std::string("[columns.") + name +
            "]\ntype = \"categorical\"\nvalues = [\"x\", \"y\", \"z\"]\n";
  return Schema::from_toml(
      text +
      "[columns.t]\ntype = \"categorical\"\nvalues = [\"no\", \"yes\"]\nrole = \"target\"\n");
}

Table table_of(const std::vector<Row>& rows, const Encoder& encoder) {
  Table table(encoder);
  for (const Row& row : rows) {
    const std::vector<std::string_view> cells(row.begin(), row.begin() + 3);
    Table::Sink sink = table.add_row();
    std::size_t culprit = 0;
    sink.factor = encoder.encode(cells, sink.dense, sink.hot, culprit);
    table.add_target(encoder.encode_target(row[3]));
  }
  return table;
}

const char* const kValues[] = {"x", "y", "z"};

// Any record added to any of some tables moves each score by at most one record, exactly, and the
// counts by one in one cell; somewhere a score moves nearly as far as that.
TEST(TripleQueries, OneRecordMovesAScoreByAtMostOne) {
  const Encoder encoder(schema_of(10));
  const CellColumns columns(encoder, 8);
  std::mt19937 random(3);
  std::int64_t farthest = 0;
  for (int trial = 0; trial < 12; ++trial) {
    SynthesisModel model{.bins = 8, .total = 20};
    for (std::uint32_t j = 0; j < columns.columns(); ++j) {
      ColumnLevels levels{.levels = columns.cells(j)};
      Marginal marginal{{j}, {}, 1};
      for (std::uint32_t c = 0; c < columns.cells(j); ++c) {
        levels.level.push_back(c);
        levels.share.push_back(1);
        marginal.counts.push_back(trial == 0 ? 5 : static_cast<double>(random() % 20) - 4);
      }
      model.columns.push_back(levels);
      model.measured.push_back(marginal);
    }
    const TripleQueries ask(columns, model, trial % 2 == 0 ? 4 : 2);
    const std::vector<ColumnTriple> all = ask.all();
    ASSERT_EQ(all.size(), 3u);
    const auto random_row = [&]() -> Row {
      return {kValues[random() % 3], kValues[random() % 3], kValues[random() % 3],
              random() % 2 == 0 ? "no" : "yes"};
    };
    std::vector<Row> rows;
    for (int i = 0; i < trial; ++i) rows.push_back(random_row());
    const auto scores = [&](const std::vector<Row>& of) {
      const Table table = table_of(of, encoder);
      return ask.together(*table_in_memory(table), all);
    };
    const auto counts = [&](const std::vector<Row>& of) {
      const Table table = table_of(of, encoder);
      return ask.counts(*table_in_memory(table), all);
    };
    const std::vector<int128> before = scores(rows), counted = counts(rows);
    for (int code = 0; code < 54; ++code) {
      std::vector<Row> more = rows;
      more.push_back({kValues[code % 3], kValues[code / 3 % 3], kValues[code / 9 % 3],
                      code / 27 == 0 ? "no" : "yes"});
      const std::vector<int128> after = scores(more), recounted = counts(more);
      for (std::size_t i = 0; i < all.size(); ++i) {
        const auto moved = static_cast<std::int64_t>(after[i] - before[i]);
        EXPECT_LE(std::abs(moved), kScoreSteps);
        farthest = std::max(farthest, std::abs(moved));
      }
      int128 changed = 0;
      for (std::size_t i = 0; i < counted.size(); ++i) changed += recounted[i] - counted[i];
      EXPECT_EQ(static_cast<std::int64_t>(changed), 3);
    }
  }
  EXPECT_GT(farthest, kScoreSteps * 9 / 10);
}

// Whether a and b are the same says what t is, which no pair shows.
TEST(TripleQueries, WhatTwoColumnsSayOnlyTogetherIsFoundAndDrawn) {
  std::mt19937 random(2);
  std::vector<Row> rows;
  for (int i = 0; i < 6000; ++i) {
    const std::size_t a = random() % 2, b = random() % 2;
    const bool same = (a == b) != (random() % 10 == 0);
    rows.push_back({kValues[a], kValues[b], kValues[random() % 3], same ? "yes" : "no"});
  }
  const Family family = synthesis_family();
  for (const Budget& budget : {Budget::approximate(1, 1e-6), Budget::pure(2)}) {
    const TrainingRequest request{.kind = "synthesis",
                                  .method = "marginals",
                                  .budget = budget,
                                  .options = OptionValues(options_of(family, "synthesis"), {})};
    Facts facts = facts_for(family, schema_of(rows.size()), request);
    const Table table = table_of(rows, *facts.encoder);
    Rng rng = Rng::insecure_seed(1);
    const TrainedModel model =
        plan_training(family, facts, request)->run(*table_in_memory(table), rng);
    double agree = 0;
    std::vector<Row> drawn;
    const auto& generator = dynamic_cast<const Generator&>(*model.value());
    Rng same = Rng::insecure_seed(5);
    generator.draw(4000, same, [&](const Row& row) {
      drawn.push_back(row);
      agree += (row[0] == row[1]) == (row[3] == "yes") ? 1 : 0;
    });
    EXPECT_GT(agree / 4000, 0.8) << budget.describe();
    // As an artifact keeps it, groups and all.
    const std::unique_ptr<Model> again = load_synthesis(model.value()->files(), facts);
    std::vector<Row> redrawn;
    Rng once_more = Rng::insecure_seed(5);
    dynamic_cast<const Generator&>(*again).draw(4000, once_more,
                                                [&](const Row& row) { redrawn.push_back(row); });
    EXPECT_EQ(drawn, redrawn);
  }
}

// A few bytes of a file stand for a table of all combinations of levels: not for many of them.
TEST(TripleQueries, FilesWithManyTablesOfGroupsAreRefused) {
  std::string text = "relation = \"add_remove\"\n";
  for (const char* const name : {"a", "b", "c", "d"}) {
    text += std::string("[columns.") + name + "]\ntype = \"categorical\"\nvalues = [";
    for (int v = 0; v < 31; ++v) text += (v > 0 ? ", \"" : "\"") + std::to_string(v) + "\"";
    text += "]\n";
  }
  const Facts facts = table_facts(Schema::from_toml(text));
  const CellColumns columns(*facts.encoder, 1);
  SynthesisModel model{.bins = 1, .total = 100};
  for (std::size_t j = 0; j < columns.columns(); ++j) {
    ColumnLevels column{.levels = columns.cells(j)};
    for (std::uint32_t cell = 0; cell < columns.cells(j); ++cell) {
      column.level.push_back(cell);
      column.share.push_back(1);
    }
    model.columns.push_back(column);
  }
  const LevelGrouping one(4, std::vector<std::uint32_t>(columns.cells(0)));
  const auto with = [&](std::size_t terms) {
    SynthesisModel many = model;
    for (std::size_t t = 0; t < terms; ++t) {
      many.measured.push_back(
          {.columns = {0, 1, 2, 3}, .counts = {100}, .deviation = 1, .groups = one});
      many.potentials.push_back({0});
    }
    return many;
  };
  EXPECT_NO_THROW(synthesis_generator(with(1), facts));
  EXPECT_THROW(synthesis_generator(with(5), facts), DataError);
}

// Rounded as a double, a public part of 5·10¹⁷ would put neighbours 64 apart.
TEST(TripleQueries, APublicPartMovesNoNeighboursApart) {
  for (const double part : {0.0, 0.3, -7.0, 1e9, 5e17, 1.25e21, 1e300}) {
    for (const int128 steps : {int128{0}, int128{1023}, int128{1} << 30, int128{1} << 42}) {
      EXPECT_EQ(less_public_part(steps + kScoreSteps, part) - less_public_part(steps, part), 1)
          << part;
      EXPECT_LE(less_public_part(steps, part), static_cast<double>(steps) / kScoreSteps) << part;
    }
  }
}

}  // namespace sotto::triple_queries_test
