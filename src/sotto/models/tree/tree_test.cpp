#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/record_replay.hpp"
#include "sotto/models/tree/detail/node_statistics.hpp"
#include "sotto/models/tree/detail/noisy_gains.hpp"
#include "sotto/models/tree/tree_family.hpp"

namespace sotto::tree_test {

constexpr double kDelta = 1e-6;

Schema schema(const std::string& relation, const std::string& target, std::size_t rows) {
  return Schema::from_toml("relation = \"" + relation + "\"\nrows = " + std::to_string(rows) +
                           "\n[columns.a]\ntype = \"numeric\"\nbounds = [0, 64]\n"
                           "[columns.b]\ntype = \"categorical\"\nvalues = [\"u\", \"v\", \"w\"]\n"
                           "[columns.c]\ntype = \"boolean\"\n[columns.y]\nrole = \"target\"\n" +
                           target);
}

const std::string kThree = "type = \"categorical\"\nvalues = [\"0\", \"1\", \"2\"]\n";
const std::string kNumber = "type = \"numeric\"\nbounds = [-1, 1]\n";

struct Record {
  double a;
  std::string b, c, y;
};

// a ≥ 40 decides; below it b does.
std::vector<Record> records(std::size_t n, bool number, unsigned seed = 1) {
  std::mt19937 rng(seed);
  std::vector<Record> all;
  for (std::size_t i = 0; i < n; ++i) {
    const double a = static_cast<double>(rng() % 640) / 10;
    const std::size_t b = rng() % 3;
    const std::size_t kind = a >= 40 ? 2 : b == 0 ? 0 : 1;
    all.push_back({a, std::string(1, "uvw"[b]), rng() % 2 ? "true" : "false",
                   number ? std::to_string(static_cast<double>(kind) - 1)
                          : std::to_string(rng() % 20 == 0 ? rng() % 3 : kind)});
  }
  return all;
}

Table table_of(const std::vector<Record>& all, const Encoder& encoder) {
  Table table(encoder);
  for (const Record& r : all) {
    const std::string a = std::to_string(r.a);
    const std::vector<std::string_view> cells = {a, r.b, r.c};
    Table::Sink sink = table.add_row();
    std::size_t column = 0;
    sink.factor = encoder.encode(cells, sink.dense, sink.hot, column);
    table.add_target(encoder.encode_target(r.y));
  }
  return table;
}

// Adds a record whose cells are all missing, as a file would under zero_out.
void add_null(Table& table) {
  table.add_row().factor = std::numeric_limits<double>::quiet_NaN();
  table.add_target(0);
}

TrainingRequest request(const std::optional<Budget>& budget, const std::string& depth = "3",
                        const std::string& method = "exponential") {
  return {.kind = "tree",
          .method = budget ? method : "none",
          .budget = budget,
          .options = OptionValues(options_of(tree_family(), "tree"),
                                  OptionValues::Raw{{"depth", {depth}}})};
}

const std::vector<std::string> kMethods = {"exponential", "histogram", "sulq", "random"};

TrainedModel train(const std::vector<Record>& all, const Facts& facts, const TrainingRequest& asked,
                   Rng& rng) {
  const Table table = table_of(all, *facts.encoder);
  return plan_training(tree_family(), facts, asked)->run(*table_in_memory(table), rng);
}

TEST(Tree, FindsTheQuestionsThatMadeTheData) {
  for (const Budget& budget : {Budget::pure(2), Budget::approximate(2, kDelta)}) {
    for (const bool number : {false, true}) {
      const TrainingRequest asked = request(budget);
      const Facts facts =
          facts_for(tree_family(), schema("add_remove", number ? kNumber : kThree, 4000), asked);
      Rng rng = Rng::insecure_seed(4);
      const TrainedModel tree = train(records(4000, number), facts, asked, rng);
      const Table test = table_of(records(2000, number, 2), *facts.encoder);
      const Evaluation e = evaluate(!number, tree.value()->score(test));
      if (number) {
        EXPECT_GT(e.regression.r2, 0.9);
      } else {
        EXPECT_GT(e.classification.accuracy, 0.93);
      }
    }
  }
}

TEST(Tree, NoisyCountsFindThemToo) {
  for (const std::string method : {"histogram", "sulq"}) {
    for (const bool number : {false, true}) {
      const TrainingRequest asked = request(Budget::approximate(2, kDelta), "3", method);
      const Facts facts =
          facts_for(tree_family(), schema("add_remove", number ? kNumber : kThree, 4000), asked);
      Rng rng = Rng::insecure_seed(4);
      const TrainedModel tree = train(records(4000, number), facts, asked, rng);
      const Table test = table_of(records(2000, number, 2), *facts.encoder);
      const Evaluation e = evaluate(!number, tree.value()->score(test));
      EXPECT_GT(number ? e.regression.r2 : e.classification.accuracy, 0.9) << method;
    }
  }
}

// With a budget beyond all need every chosen tree is as good as the greedy one.
TEST(Tree, WithMuchBudgetItIsAsGoodAsWithoutNoise) {
  const auto accuracy = [](const std::optional<Budget>& budget, const std::string& method) {
    const TrainingRequest asked = request(budget, "3", method);
    const Facts facts = facts_for(tree_family(), schema("add_remove", kThree, 4000), asked);
    Rng rng = Rng::insecure_seed(4);
    const TrainedModel tree = train(records(4000, false), facts, asked, rng);
    const Table test = table_of(records(2000, false, 2), *facts.encoder);
    return evaluate(true, tree.value()->score(test)).classification.accuracy;
  };
  const double best = accuracy({}, "none");
  for (const std::string method : {"exponential", "histogram", "sulq"})
    EXPECT_NEAR(accuracy(Budget::pure(1000), method), best, 0.01) << method;
}

// The worked example of six students: 4 of 6 pass.
TEST(Entropy, InformationGainOfTheGradeTable) {
  const auto gain = [](const std::vector<std::vector<double>>& sides) {
    double rest = 0;
    for (const std::vector<double>& side : sides) rest += (side[0] + side[1]) / 6 * entropy(side);
    return entropy(std::vector<double>{4, 2}) - rest;
  };
  EXPECT_NEAR(entropy(std::vector<double>{4, 2}), 0.918, 5e-4);
  EXPECT_NEAR(gain({{2, 0}, {1, 1}, {1, 1}}), 0.252, 5e-4);
  EXPECT_NEAR(gain({{1, 0}, {1, 1}, {2, 1}}), 0.126, 5e-4);
  EXPECT_NEAR(gain({{3, 0}, {1, 2}}), 0.459, 5e-4);
}

// Without noise the gain of noisy counts by Gini is what the scores of the exponential mechanism
// say.
TEST(NoisyGains, AgreeWithTheScoresOfExactCounts) {
  const Encoder encoder(schema("add_remove", kThree, 10));
  const BinnedColumns columns(encoder);
  const NodeStatistics statistics(columns, 3);
  const Table table = table_of(records(500, false), encoder);
  const std::vector<TreeModel> root = {{.depth = 0}};
  const std::vector<int128> sums =
      statistics.collect(BinnedRows(*table_in_memory(table), columns), root, Membership::all(1), 0);
  const std::vector<double> cells(sums.begin(), sums.end());
  const std::vector<double> scores = statistics.scores(sums),
                            gains = noisy_gains(statistics.cells(), cells, 3, false,
                                                Criterion::gini, 0);
  const auto best = [](const std::vector<double>& x) {
    return std::max_element(x.begin(), x.end()) - x.begin();
  };
  EXPECT_EQ(best(scores), best(gains));
  for (std::size_t i = 1; i < scores.size(); ++i)
    if (gains[i] >= 0 && gains[0] >= 0) {
      EXPECT_NEAR(scores[i] - scores[0], gains[i] - gains[0], 1e-6);
    }
}

TEST(Tree, WithoutNoiseItIsTheGreedyTree) {
  const TrainingRequest asked = request({}, "2");
  const Facts facts = facts_for(tree_family(), schema("add_remove", kThree, 4000), asked);
  Rng rng = Rng::insecure_seed(4);
  const TrainedModel tree = train(records(4000, false), facts, asked, rng);
  EXPECT_FALSE(tree.event());
  // The first question is a ≥ 40: bin 160 of 256 over [0, 64].
  EXPECT_NE(tree.value()->files().at("model.json").find("0,\n   160"), std::string::npos);
}

// One record is added to random nodes: scores of all questions fall, and by at most one.
TEST(NodeStatistics, ARecordMovesAllScoresOfItsNodeDownwardsByAtMostOne) {
  for (const bool number : {false, true}) {
    const Encoder encoder(schema("add_remove", number ? kNumber : kThree, 10));
    const BinnedColumns columns(encoder);
    const NodeStatistics statistics(columns, number ? 0 : 3);
    std::mt19937 rng(5);
    double largest = 0;
    for (int trial = 0; trial < 300; ++trial) {
      std::vector<Record> all = records(rng() % 12, number, static_cast<unsigned>(trial));
      for (Record& r : all) {
        if (rng() % 2 == 0) r.y = number ? "1" : "2";
      }
      const Table before = table_of(all, encoder);
      all.push_back(
          {static_cast<double>(rng() % 64), "u", "true", number ? (rng() % 2 ? "-1" : "1") : "0"});
      const Table after = table_of(all, encoder);
      const std::vector<TreeModel> root = {{.depth = 0}};
      const auto a = statistics.scores(statistics.collect(
          BinnedRows(*table_in_memory(before), columns), root, Membership::all(1), 0));
      const auto b = statistics.scores(statistics.collect(
          BinnedRows(*table_in_memory(after), columns), root, Membership::all(1), 0));
      for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_LE(b[i] - a[i], 1e-6);
        EXPECT_GE(b[i] - a[i], -1);
        largest = std::max(largest, a[i] - b[i]);
      }
    }
    EXPECT_GT(largest, 0.7);
  }
}

TEST(Tree, EventCostsTheBudgetAndIsKnownBeforeData) {
  for (const char* relation : {"add_remove", "replace_one", "zero_out"}) {
    for (const Budget& budget : {Budget::pure(1), Budget::approximate(1, kDelta)}) {
      for (const std::string& method : kMethods) {
        const TrainingRequest asked = request(budget, "3", method);
        const Facts facts = facts_for(tree_family(), schema(relation, kThree, 500), asked);
        const auto plan = plan_training(tree_family(), facts, asked);
        const Bound bound = epsilon(Spec{facts.relation, {*plan->event()}}, Delta(kDelta));
        EXPECT_LE(bound.upper, 1 + 1e-9) << method;
        EXPECT_GT(bound.upper, 0.8) << method;
      }
    }
  }
}

TEST(Tree, ReplayOnNeighboursStaysWithinTheSensitivity) {
  for (const char* relation : {"add_remove", "replace_one"}) {
    for (const bool number : {false, true}) {
      for (std::size_t variant = 0; variant < 2 * kMethods.size(); ++variant) {
        const Budget budget = variant % 2 ? Budget::pure(1) : Budget::approximate(1, kDelta);
        const TrainingRequest asked = request(budget, "3", kMethods[variant / 2]);
        const Facts facts =
            facts_for(tree_family(), schema(relation, number ? kNumber : kThree, 30), asked);
        const auto all = records(30, number);
        for (std::size_t i = 0; i < 4; ++i) {
          auto neighbour = all;
          if (facts.relation == Relation::add_remove) {
            neighbour.erase(neighbour.begin() + static_cast<std::ptrdiff_t>(i));
          } else {
            neighbour[i] = {i % 2 ? 1e9 : -1e9, "w", "true", number ? "-1" : "1"};
          }
          const auto on = [&](const std::vector<Record>& data) {
            return [&](Rng& rng) { return train(data, facts, asked, rng).event(); };
          };
          EXPECT_EQ(replay::check_neighbours(on(all), on(neighbour)), "");
        }
      }
    }
  }
}

// One boolean is known after one question: deeper nodes choose among all of them.
TEST(Tree, ReplayWhereEveryAnswerIsKnown) {
  for (const char* relation : {"add_remove", "replace_one", "zero_out"}) {
    Schema one = Schema::from_toml(std::string("relation = \"") + relation +
                                   "\"\nrows = 12\n[columns.c]\ntype = \"boolean\"\n"
                                   "[columns.y]\nrole = \"target\"\n" +
                                   kThree);
    for (std::size_t variant = 0; variant < 4 * kMethods.size(); ++variant) {
      const Budget budget = variant % 2 ? Budget::pure(1) : Budget::approximate(1, kDelta);
      const TrainingRequest asked = request(budget, "4", kMethods[variant / 4]);
      Facts facts = facts_for(tree_family(), one, asked);
      facts.contributions = 1 + variant / 2 % 2;  // neighbours differ by one record or by two
      const auto on = [&](std::size_t changed) {
        return [&, changed](Rng& rng) {
          Table table(*facts.encoder);
          for (std::size_t i = 0; i < 12; ++i) {
            if (i < changed && facts.relation == Relation::add_remove) continue;
            const bool other = i < changed;
            Table::Sink sink = table.add_row();
            std::size_t column = 0;
            const std::vector<std::string_view> cells = {(i % 2 == 0) != other ? "true" : "false"};
            sink.factor = facts.encoder->encode(cells, sink.dense, sink.hot, column);
            if (other && facts.relation == Relation::zero_out)
              sink.factor = std::numeric_limits<double>::quiet_NaN();
            table.add_target(other ? 2.0 : static_cast<double>(i % 2));
          }
          return plan_training(tree_family(), facts, asked)
              ->run(*table_in_memory(table), rng)
              .event();
        };
      };
      EXPECT_EQ(replay::check_neighbours(on(0), on(facts.contributions)), "")
          << relation << ", variant " << variant;
    }
  }
}

TEST(Tree, EmptyDataAndOneClassGiveAnswers) {
  const TrainingRequest asked = request(Budget::pure(1), "6");
  const Facts facts = facts_for(tree_family(), schema("add_remove", kThree, 10), asked);
  for (const auto& data : {std::vector<Record>{}, std::vector<Record>(5, {1, "u", "true", "1"})}) {
    Rng rng = Rng::insecure_seed(1);
    const TrainedModel tree = train(data, facts, asked, rng);
    const Table other = table_of(records(20, false), *facts.encoder);
    for (const ScoredRow& row : tree.value()->score(other)) {
      double total = 0;
      for (const double p : row.probabilities) total += p;
      EXPECT_NEAR(total, 1, 1e-9);
    }
  }
}

TEST(Tree, ANullRecordContributesNothing) {
  const TrainingRequest asked = request(Budget::pure(1));
  const Facts facts = facts_for(tree_family(), schema("zero_out", kThree, 50), asked);
  Table table = table_of(records(50, false), *facts.encoder);
  const auto trained_on = [&] {
    Rng rng = Rng::insecure_seed(1);
    return plan_training(tree_family(), facts, asked)
        ->run(*table_in_memory(table), rng)
        .value()
        ->files();
  };
  const Files without = trained_on();
  add_null(table);
  EXPECT_EQ(trained_on(), without);
}

TEST(Tree, ItsFilesLoadAgainAndDamagedOnesAreRefused) {
  const TrainingRequest asked = request(Budget::pure(1));
  Facts facts = facts_for(tree_family(), schema("add_remove", kThree, 10), asked);
  Rng rng = Rng::insecure_seed(1);
  const TrainedModel tree = train(records(100, false), facts, asked, rng);
  const Files files = tree.value()->files();
  const Table table = table_of(records(20, false), *facts.encoder);
  EXPECT_EQ(load_trees(files, facts)->apply(table), tree.value()->apply(table));
  const std::string text = files.at("model.json");
  std::string deeper = text;
  deeper.replace(deeper.find("\"depth\": 3") + 9, 1, "9");
  EXPECT_THROW(load_trees({{"model.json", deeper}}, facts), DataError);
  EXPECT_THROW(load_trees({{"model.json", text.substr(0, 40)}}, facts), DataError);
  std::string huge = text;
  huge.replace(huge.find("\"depth\": 3") + 9, 1, "1e300");
  for (const std::string& hostile : {huge, std::string(1000000, '[')})
    EXPECT_THROW(load_trees({{"model.json", hostile}}, facts), DataError);
}

}  // namespace sotto::tree_test
