#include "sotto/models/synthesis/detail/trend_queries.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sotto/core/record_replay.hpp"
#include "sotto/learning/generator.hpp"
#include "sotto/models/synthesis/detail/synthesis_design.hpp"
#include "sotto/models/synthesis/detail/target_check.hpp"
#include "sotto/models/synthesis/synthesis_family.hpp"

namespace sotto::trend_queries_test {

using Row = std::vector<std::string>;

// Numbers and categories, and a target of either kind between them.
Schema schema_of(bool number, std::size_t rows, std::size_t more = 0,
                 const std::string& head = "relation = \"add_remove\"\n") {
  std::string text = head + "rows = " + std::to_string(rows) +
                     "\n[columns.a]\ntype = \"numeric\"\nbounds = [0, 4]\n[columns.b]\n"
                     "type = \"categorical\"\nvalues = [\"x\", \"y\", \"z\"]\n";
  text += number ? "[columns.t]\ntype = \"numeric\"\nbounds = [0, 4]\nrole = \"target\"\n"
                 : "[columns.t]\ntype = \"categorical\"\nvalues = [\"0\", \"1\", \"2\", \"3\", "
                   "\"4\"]\nrole = \"target\"\n";
  text += "[columns.c]\ntype = \"numeric\"\nbounds = [0, 4]\n";
  for (std::size_t j = 0; j < more; ++j)
    text += "[columns.d" + std::to_string(j) + "]\ntype = \"numeric\"\nbounds = [0, 4]\n";
  if (head.find("unit") != std::string::npos)
    text += "[columns.who]\ntype = \"text\"\nrole = \"user\"\n";
  return Schema::from_toml(text);
}

// a, b, t, c and more.
Table table_of(const std::vector<Row>& rows, const Encoder& encoder, std::size_t nulls = 0) {
  Table table(encoder);
  for (const Row& row : rows) {
    std::vector<std::string_view> cells(row.begin(), row.end());
    cells.erase(cells.begin() + 2);
    Table::Sink sink = table.add_row();
    std::size_t culprit = 0;
    sink.factor = encoder.encode(cells, sink.dense, sink.hot, culprit);
    table.add_target(encoder.encode_target(row[2]));
  }
  for (std::size_t i = 0; i < nulls; ++i) {
    Table::Sink sink = table.add_row();
    sink.factor = std::nan("");
    table.add_target(0);
  }
  return table;
}

const char* const kNames[] = {"x", "y", "z"};

Row row_of(std::size_t a, std::size_t b, std::size_t t, std::size_t c) {
  return {std::to_string(a), kNames[b], std::to_string(t), std::to_string(c)};
}

// Every cell a level of its own, with these counts.
SynthesisModel model_of(const CellColumns& columns, double total,
                        const std::function<double()>& count) {
  SynthesisModel model{.bins = 4, .total = total};
  for (std::uint32_t j = 0; j < columns.columns(); ++j) {
    ColumnLevels levels{.levels = columns.cells(j)};
    Marginal marginal{{j}, {}, 1};
    for (std::uint32_t c = 0; c < columns.cells(j); ++c) {
      levels.level.push_back(c);
      levels.share.push_back(1);
      marginal.counts.push_back(count());
    }
    model.columns.push_back(levels);
    model.measured.push_back(marginal);
    model.potentials.emplace_back(columns.cells(j));
  }
  return model;
}

// By every record that can be added or exchanged: one step in each block, and two where a record is
// replaced, in both norms; somewhere it is two.
TEST(TrendQueries, OneRecordMovesEachBlockByOneAndReplacedByTwo) {
  std::mt19937 random(5);
  for (const bool number : {true, false}) {
    const Encoder encoder(schema_of(number, 10));
    const CellColumns columns(encoder, 4);
    double farthest = 0;
    for (int trial = 0; trial < 4; ++trial) {
      const SynthesisModel model =
          model_of(columns, 20, [&] { return static_cast<double>(random() % 20) - 4; });
      const TrendQueries ask(columns, model);
      EXPECT_LE(ask.size(), TrendQueries::most(columns));
      const std::size_t t = number ? 1 : columns.cells(2), b = columns.cells(1);
      ASSERT_EQ(ask.size(), (2 + b) * t);
      const std::size_t begin[] = {0, t, (1 + b) * t, (2 + b) * t};
      std::vector<std::vector<int128>> one;  // of each record alone; sums are sums of these
      for (std::size_t code = 0; code < 5 * 3 * 5 * 5; ++code) {
        const Table table = table_of({row_of(code % 5, code / 5 % 3, code / 15 % 5, code / 75)},
                                     encoder, trial % 2);
        one.push_back(ask.sums(*table_in_memory(table)));
      }
      const auto far = [&](const std::vector<int128>& x, const std::vector<int128>* y,
                           std::size_t block) {
        double l1 = 0, l2 = 0;
        for (std::size_t i = begin[block]; i < begin[block + 1]; ++i) {
          const auto moved = static_cast<double>(x[i] - (y != nullptr ? (*y)[i] : 0));
          l1 += std::abs(moved), l2 += moved * moved;
        }
        return std::max(l1, std::sqrt(l2));
      };
      for (std::size_t i = 0; i < one.size(); ++i) {
        for (std::size_t block = 0; block < 3; ++block) EXPECT_EQ(far(one[i], nullptr, block), 1);
        for (std::size_t k = 0; k < one.size(); k += 7)
          for (std::size_t block = 0; block < 3; ++block)
            farthest = std::max(farthest, far(one[i], &one[k], block));
      }
    }
    EXPECT_EQ(farthest, 2);
  }
}

TEST(TrendQueries, TablesHaveTheColumnsAsMarginsAndTheSums) {
  for (const bool number : {true, false}) {
    const Encoder encoder(schema_of(number, 1000));
    const CellColumns columns(encoder, 4);
    const SynthesisModel model = model_of(columns, 1000, [] { return 100; });
    const TrendQueries ask(columns, model);
    std::mt19937 random(1);
    std::vector<Row> rows;
    for (int i = 0; i < 1000; ++i) {
      const std::size_t t = random() % 5, noise = random() % 5;
      rows.push_back(row_of(random() % 3 == 0 ? noise : t, t > 2 ? 2 : noise % 2, t, noise));
    }
    const Table table = table_of(rows, encoder);
    std::vector<double> sums;
    for (const int128 s : ask.sums(*table_in_memory(table))) sums.push_back(static_cast<double>(s));
    const auto left = ask.shrunken(sums, 0.5);
    ASSERT_EQ(left.size(), 4u);
    EXPECT_TRUE(left[2].empty());  // the target
    std::vector<std::vector<double>> made;
    for (const std::size_t j : {0, 1}) made.push_back(ask.table(j, left[j], model));
    for (const std::size_t j : {0, 1}) {
      const std::size_t width = columns.cells(2), height = columns.cells(j);
      ASSERT_EQ(made[j].size(), width * height);
      std::vector<double> row(height), column(width);
      for (std::size_t i = 0; i < made[j].size(); ++i) {
        EXPECT_GT(made[j][i], 0);
        row[i / width] += made[j][i], column[i % width] += made[j][i];
      }
      for (const double x : row) EXPECT_NEAR(x, 1.0 / static_cast<double>(height), 1e-3);
      for (const double x : column) EXPECT_NEAR(x, 1.0 / static_cast<double>(width), 1e-3);
    }
    // Low with low, high with high.
    EXPECT_GT(made[0].front(), 2 * made[0][columns.cells(2) - 1]);
    EXPECT_GT(made[0].back(), 2 * made[0][columns.cells(2) - 1]);
    // Noise that explains everything leaves nothing.
    for (const std::vector<double>& none : ask.shrunken(sums, 1e4)) EXPECT_TRUE(none.empty());
  }
}

// What is predicted is what the model's records have, and a record moves each sum by at most one.
TEST(TargetCheck, PredictsWhatTheModelDrawsAndMovesByOneRecord) {
  for (const bool number : {true, false}) {
    const Encoder encoder(schema_of(number, 1000));
    const CellColumns columns(encoder, 4);
    SynthesisModel model = model_of(columns, 1000, [] { return 100; });
    std::vector<std::uint32_t> levels;
    for (const ColumnLevels& c : model.columns) levels.push_back(c.levels);
    std::vector<double> potential(std::size_t{levels[0]} * levels[2]);
    for (std::size_t i = 0; i < potential.size(); ++i)
      potential[i] =
          0.8 * (static_cast<double>(i / levels[2]) - 2) * (static_cast<double>(i % levels[2]) - 2);
    model.measured.push_back({{0, 2}, std::vector<double>(potential.size(), 1), 1});
    model.potentials.push_back(potential);
    MarkovModel markov(levels, {{0}, {1}, {2}, {3}, {0, 2}});
    markov.set_potentials(model.potentials);
    const std::vector<double> joint = markov.marginal(4);
    const TargetPrediction predict(model, 2);
    std::vector<double> p;
    for (std::uint32_t a = 0; a < levels[0]; ++a) {
      predict(std::vector<std::uint32_t>{a, 0, 0, 1}, p);
      double row = 0;
      for (std::size_t k = 0; k < p.size(); ++k) row += joint[a * levels[2] + k];
      for (std::size_t k = 0; k < p.size(); ++k)
        EXPECT_NEAR(p[k], joint[a * levels[2] + k] / row, 1e-9);
    }

    Rng rng = Rng::insecure_seed(1);
    const TargetCheck ask(columns, model, markov.sample(2000, rng));
    EXPECT_GT(ask.expected(), 0);
    std::int64_t farthest = 0;
    for (std::size_t code = 0; code < 25; ++code) {
      const Table table = table_of({row_of(code % 5, 1, code / 5, 3)}, encoder, 1);
      for (const int128 s : ask.sums(*table_in_memory(table))) {
        EXPECT_LE(std::abs(static_cast<std::int64_t>(s)), kScoreSteps);
        farthest = std::max(farthest, std::abs(static_cast<std::int64_t>(s)));
      }
    }
    EXPECT_GT(farthest, kScoreSteps * 4 / 10);  // of two deviations
  }
}

TEST(TargetCheck, TheSlopeIsTheRatioOfSumsWhereTheyAreSure) {
  EXPECT_NEAR(checked_slope(std::vector<double>{50, 100}, 0.01, 100), 0.5, 1e-3);
  EXPECT_NEAR(checked_slope(std::vector<double>{150, 100}, 0.01, 100), 1, 1e-9);
  EXPECT_EQ(checked_slope(std::vector<double>{-50, 100}, 0.01, 100), 0);
  EXPECT_NEAR(checked_slope(std::vector<double>{50, 100}, 1e6, 100), 0.75, 1e-3);
  EXPECT_GE(checked_slope(std::vector<double>{50, -100}, 1, 0), 0);
}

// Of three blocks and of two sums, by the algebra of the headers: replaced records move both twice.
TEST(SynthesisDesign, TrendsAndTheirCheckHaveTheNoiseOfTheirSensitivity) {
  for (const std::string relation : {"add_remove", "replace_one", "zero_out"}) {
    for (const bool users : {false, true}) {
      const std::string head = "relation = \"" + relation + "\"\n" +
                               (users ? "unit = \"user\"\nmax_contributions = 3\n" : "");
      const Family family = synthesis_family();
      const Budget budget = Budget::zcdp(0.02);
      const TrainingRequest request{.kind = "synthesis",
                                    .method = "marginals",
                                    .budget = budget,
                                    .options = OptionValues(options_of(family, "synthesis"), {})};
      const Facts facts = facts_for(family, schema_of(true, 500, 0, head), request);
      const CellColumns columns(*facts.encoder, 4);
      const SynthesisDesign design(columns, facts, budget, false);
      const SynthesisMechanisms made(design, ColumnCounts(columns, design.coarse), budget);
      ASSERT_TRUE(made.trends() && made.check());
      const double moved = (relation == "replace_one" ? 2 : 1) * (users ? 3 : 1);
      const auto least = [&](double squares, double share) {
        return moved * std::sqrt(squares / (2 * 0.02 * share));
      };
      EXPECT_NEAR(made.trends()->scale() / least(3, design.share_of_trends), 1, 1e-6);
      EXPECT_NEAR(made.check()->scale() / least(2, design.share_of_check), 1, 1e-6);
      EXPECT_GE(made.trends()->scale(), least(3, design.share_of_trends) * (1 - 1e-12));
      EXPECT_GE(made.check()->scale(), least(2, design.share_of_check) * (1 - 1e-12));
    }
  }
}

// Few records and many columns: trends and their check, with few pairs or none; and, with a larger
// budget, triples among few pairs, which no other case replays. Numbers go from whole to between,
// so that sums of kinds move as far as they can. One record more than the relation allows is
// caught.
TEST(Synthesis, TrendsAndTriplesOfFewRecordsReplayWithinTheSensitivity) {
  constexpr std::size_t kMore = 11;  // 15 columns: more pairs than scores can be trusted for
  std::mt19937 random(2);
  const auto row = [&](std::size_t a, std::size_t b, std::size_t t) {
    Row made = row_of(a, b, t, a);
    for (std::size_t j = 0; j < kMore; ++j) made.push_back(std::to_string(random() % 5));
    return made;
  };
  std::vector<Row> base;
  for (int i = 0; i < 27; ++i) base.push_back(row(random() % 5, random() % 3, random() % 5));
  const Row low = row(0, 0, 0);
  for (const std::string relation : {"add_remove", "replace_one", "zero_out"}) {
    for (const bool users : {false, true}) {
      const std::size_t changed = users ? 3 : 1;
      const std::string head = "relation = \"" + relation + "\"\n" +
                               (users ? "unit = \"user\"\nmax_contributions = 3\n" : "");
      const double moved =
          static_cast<double>(changed) * (relation == "replace_one" ? std::sqrt(2.0) : 1.0);
      // The declared records in deviations of the noise of one count.
      for (const auto& [number, records] : {std::pair{true, 60.0},
                                            {false, 60.0},
                                            {true, 300.0},
                                            {false, 300.0},
                                            {true, 1400.0},
                                            {false, 1400.0}}) {
        const bool hardly = records<100, triples = records> 1000;
        Row high(low.size(), "3.5");
        high[1] = "z";
        if (!number) high[2] = "4";
        const Budget budget = Budget::zcdp(std::pow(records / 30 * moved, 2) / 2);
        const Family family = synthesis_family();
        const TrainingRequest request{.kind = "synthesis",
                                      .method = "marginals",
                                      .budget = budget,
                                      .options = OptionValues(options_of(family, "synthesis"), {})};
        const Facts facts = facts_for(family, schema_of(number, 30, kMore, head), request);
        const auto plan = plan_training(family, facts, request);
        const std::string words = plan->explain().words;
        EXPECT_EQ(words.find("at most") == std::string::npos, hardly) << words;
        EXPECT_EQ(words.find("trends") == std::string::npos, triples) << words;
        EXPECT_EQ(words.find("triples") != std::string::npos, triples) << words;
        std::vector<std::vector<Row>> drawn(2);
        std::size_t next = 0;
        const auto run = [&](std::vector<Row> rows, std::size_t nulls) {
          return [&, rows, nulls](Rng& rng) -> std::optional<Event> {
            const Table table = table_of(rows, *facts.encoder, nulls);
            const TrainedModel model = plan->run(*table_in_memory(table), rng);
            dynamic_cast<const Generator&>(*model.value()).draw(10, rng, [&](const Row& r) {
              drawn[next].push_back(r);
            });
            ++next;
            return model.event();
          };
        };
        std::vector<Row> with = base, without = base;
        with.insert(with.end(), changed, high);
        if (relation == "replace_one") without.insert(without.end(), changed, low);
        const std::size_t nulls = relation == "zero_out" ? changed : 0;
        EXPECT_EQ(replay::check_neighbours(run(with, 0), run(without, nulls)), "")
            << relation << users << number << records;
        EXPECT_EQ(drawn[0], drawn[1]);
        next = 0;
        with.insert(with.end(), 2 * changed, high);
        EXPECT_NE(replay::check_neighbours(run(with, 0), run(without, nulls)), "")
            << relation << users << number << records;
      }
    }
  }
}

}  // namespace sotto::trend_queries_test
