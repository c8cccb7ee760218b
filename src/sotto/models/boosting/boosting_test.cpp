#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/record_replay.hpp"
#include "sotto/models/boosting/boosting_family.hpp"
#include "sotto/models/boosting/detail/boosting_model.hpp"
#include "sotto/models/boosting/detail/boosting_rows.hpp"
#include "sotto/models/boosting/detail/tree_choice.hpp"
#include "sotto/models/kernel/crossed_data_test.hpp"

namespace sotto::boosting_test {

using crossed::kDelta;
using crossed::kNumber;
using crossed::kThree;
using crossed::kTwo;
using crossed::Record;
using crossed::records;
using crossed::table_of;

TrainingRequest request(const std::optional<Budget>& budget, const OptionValues::Raw& given = {}) {
  return {.kind = "boosting",
          .method = budget ? "random" : "none",
          .budget = budget,
          .options = OptionValues(options_of(boosting_family(), "boosting"), given)};
}

Facts facts_of(const std::string& relation, const std::string& target, std::size_t rows,
               const TrainingRequest& asked) {
  return facts_for(boosting_family(), crossed::schema(relation, target, rows), asked);
}

TrainedModel train(const Table& table, const Facts& facts, const TrainingRequest& asked, Rng& rng) {
  return plan_training(boosting_family(), facts, asked)->run(*table_in_memory(table), rng);
}

Evaluation trained(const std::string& target, const std::optional<Budget>& budget) {
  const TrainingRequest asked = request(budget);
  const Facts facts = facts_of("add_remove", target, 8000, asked);
  const Table data = table_of(records(8000, target), *facts.encoder),
              test = table_of(records(3000, target, 2), *facts.encoder);
  Rng rng = Rng::insecure_seed(1);
  return evaluate(target != kNumber, train(data, facts, asked, rng).value()->score(test));
}

GridTree tree_of(std::vector<std::uint32_t> columns, std::vector<std::vector<std::uint32_t>> cuts) {
  return {.columns = std::move(columns), .cuts = std::move(cuts)};
}

long double length(const std::vector<int128>& a, const std::vector<int128>& b) {
  long double square = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto d = static_cast<long double>(a[i] - b[i]);
    square += d * d;
  }
  return std::sqrt(square) * BoostingRows::kUnit;
}

// Records of three numbers that stand at given places of even scales.
struct Places {
  Encoder encoder{Schema::from_toml(
      "relation = \"add_remove\"\nrows = 9\n[columns.a]\ntype = \"numeric\"\nbounds = [0, 256]\n"
      "[columns.b]\ntype = \"numeric\"\nbounds = [0, 256]\n"
      "[columns.c]\ntype = \"numeric\"\nbounds = [0, 256]\n"
      "[columns.y]\nrole = \"target\"\ntype = \"numeric\"\nbounds = [-1, 1]\n")};
  BinnedColumns columns{encoder};
  Table table{encoder};
  std::vector<ColumnScale> scales = even();

  static std::vector<ColumnScale> even() {
    ColumnScale scale;
    for (int l = 0; l < 256; ++l) {
      scale.start.push_back(l / 256.0);
      scale.width.push_back(1 / 256.0);
    }
    return std::vector<ColumnScale>(3, scale);
  }
  void add(const std::vector<std::uint8_t>& places, float target) {
    const Table::Sink sink = table.add_row();
    for (std::size_t j = 0; j < 3; ++j) sink.dense[j] = (places[j] + 0.5) / 128 - 1;
    table.add_target(static_cast<double>(target));
  }
};

TEST(Boosting, LearnsWhatTwoColumnsSayTogether) {
  const Budget budget = Budget::approximate(3, kDelta);
  EXPECT_GT(trained(kTwo, budget).classification.accuracy, 0.85);
  EXPECT_GT(trained(kThree, budget).classification.accuracy, 0.70);
  EXPECT_GT(trained(kNumber, budget).regression.r2, 0.75);
}

TEST(Boosting, WithoutNoiseItFitsNearlyEverything) {
  EXPECT_GT(trained(kTwo, {}).classification.accuracy, 0.95);
  EXPECT_GT(trained(kThree, {}).classification.accuracy, 0.85);
  EXPECT_GT(trained(kNumber, {}).regression.r2, 0.95);
}

TEST(Boosting, EventCostsTheBudgetAndIsKnownBeforeData) {
  for (const char* relation : {"add_remove", "replace_one", "zero_out"}) {
    for (const std::string& target : {kTwo, kThree, kNumber}) {
      const TrainingRequest asked = request(Budget::approximate(1, kDelta));
      const Facts facts = facts_of(relation, target, 5000, asked);
      const auto plan = plan_training(boosting_family(), facts, asked);
      const Bound bound = epsilon(Spec{facts.relation, {*plan->event()}}, Delta(kDelta));
      EXPECT_LE(bound.upper, 1 + 1e-9);
      EXPECT_GT(bound.upper, 0.97);
    }
  }
}

TEST(Boosting, RefusesAPureEpsilon) {
  const TrainingRequest asked = request(Budget::pure(1));
  EXPECT_THROW(plan_training(boosting_family(), facts_of("add_remove", kTwo, 50, asked), asked),
               InvalidArgument);
}

// Every release on neighbours, with records at every edge; the trees that follow see the same past.
TEST(Boosting, ReplayOnNeighboursStaysWithinTheSensitivity) {
  for (const char* relation : {"add_remove", "replace_one"}) {
    for (const std::string& target : {kTwo, kThree, kNumber}) {
      const TrainingRequest asked =
          request(Budget::approximate(2, kDelta), {{"trees", {"24"}}, {"batch", {"3"}}});
      const Facts facts = facts_of(relation, target, 40, asked);
      const auto all = records(40, target);
      for (std::size_t i = 0; i < 4; ++i) {
        auto neighbour = all;
        if (facts.relation == Relation::add_remove) {
          neighbour.erase(neighbour.begin() + static_cast<std::ptrdiff_t>(i));
        } else {
          neighbour[i] = {i % 2 ? 1e9 : -1e9, i % 2 ? -1.0 : 1.0, "w", "true",
                          target == kTwo ? "false" : "1"};
        }
        const auto on = [&](const std::vector<Record>& data) {
          return [&](Rng& rng) {
            return train(table_of(data, *facts.encoder), facts, asked, rng).event();
          };
        };
        EXPECT_EQ(replay::check_neighbours(on(all), on(neighbour)), "");
      }
    }
  }
}

// Brute force: one record more, in any place, whatever the trees before have said.
TEST(BoostingRows, NoRecordMovesTheSumsOfABatchByMoreThanItsBound) {
  std::mt19937 random(3);
  for (const MarginLoss loss : {MarginLoss::two_classes, MarginLoss::classes, MarginLoss::number}) {
    const std::size_t margins = loss == MarginLoss::classes ? 5 : 1;
    long double largest = 0;
    for (int trial = 0; trial < 300; ++trial) {
      std::vector<GridTree> batch = {tree_of({0}, {{30, 60, 200}}),
                                     tree_of({0, 2}, {{100}, {1, 255}}),
                                     tree_of({1, 2}, {{128}, {128}})};
      std::vector<GridTree> said = batch;
      for (GridTree& tree : said)
        for (std::size_t v = 0; v < tree.leaves() * margins; ++v)
          tree.values.push_back((static_cast<double>(random() % 2001) - 1000) / 100 *
                                (random() % 5 == 0 ? 1e2 : 1));
      Places with, without;
      const std::size_t rows = random() % 6;
      for (std::size_t i = 0; i <= rows; ++i) {
        const std::vector<std::uint8_t> places = {static_cast<std::uint8_t>(random()),
                                                  static_cast<std::uint8_t>(random()),
                                                  static_cast<std::uint8_t>(random())};
        const int drawn =
            static_cast<int>(random() % (loss == MarginLoss::number ? 3 : margins + 1));
        const auto target = static_cast<float>(loss == MarginLoss::number    ? drawn - 1
                                               : loss == MarginLoss::classes ? drawn % 5
                                                                             : drawn);
        with.add(places, target);
        if (i > 0) without.add(places, target);
      }
      const double clip = trial % 2 ? 0.02 : 1;
      const auto sums = [&](const Places& places) {
        const BinnedRows records(*table_in_memory(places.table), places.columns);
        BoostingRows own(records, places.scales, margins);
        own.apply(said);
        return own.sums(batch, 6, loss, clip);
      };
      largest = std::max(largest, length(sums(with), sums(without)));
    }
    const long double bound = std::sqrt(3 * 1.09L);
    EXPECT_LE(largest, bound);
    EXPECT_GT(largest, 0.9L * bound / std::sqrt(1.09L));  // a bound half as large would be caught
  }
}

TEST(BoostingRows, SumsAreTheSameForAnyNumberOfThreads) {
  Places all;
  std::mt19937 random(1);
  for (int i = 0; i < 30000; ++i)
    all.add({static_cast<std::uint8_t>(random()), static_cast<std::uint8_t>(random()), 0},
            static_cast<float>(random() % 2));
  const BinnedRows records(*table_in_memory(all.table), all.columns);
  BoostingRows rows(records, all.scales, 1);
  std::vector<GridTree> said = {tree_of({0, 1}, {{50, 100}, {128}})};
  said[0].values = {0.1, -0.7, 0.3, 1.2, -1.1, 0.01};
  rows.apply(said, 2);
  EXPECT_EQ(rows.sums(said, 8, MarginLoss::two_classes, 0.6, 1),
            rows.sums(said, 8, MarginLoss::two_classes, 0.6, 3));
}

TEST(GridTree, EveryCombinationOfIntervalsIsALeafOfItsOwn) {
  const GridTree tree = tree_of({4, 7}, {{10, 20}, {100, 150, 255}});
  const std::vector<GridTree::Table> tables = tree.tables();
  std::set<int> leaves;
  for (const int a : {0, 10, 200})
    for (const int b : {0, 100, 254, 255})
      leaves.insert(tables[0][static_cast<std::size_t>(a)] +
                    tables[1][static_cast<std::size_t>(b)]);
  EXPECT_EQ(leaves.size(), 12u);
  EXPECT_EQ(*leaves.rbegin(), 11);
  EXPECT_EQ(tables[0][9], tables[0][0]);
  EXPECT_NE(tables[0][9], tables[0][10]);
}

TEST(TreeChoice, TheFirstTreesAreThoseOfFoundPairs) {
  const std::vector<PairCredit> found = {{1, 4, 2.0}, {0, 7, 9.0}, {2, 3, 5.0}};
  TreeChoice choice(std::vector<double>(12, 1.0 / 12), 32, found);
  Rng rng = Rng::insecure_seed(5);
  for (const std::vector<std::uint32_t>& pair : {std::vector<std::uint32_t>{0, 7}, {2, 3}, {1, 4}})
    EXPECT_EQ(choice.draw(rng).columns, pair);
}

// Columns 2 and 3 say something together and nothing alone.
TEST(TreeChoice, DrawsTheColumnsThatSaidSomethingTogether) {
  TreeChoice choice(std::vector<double>(12, 1.0 / 12), 32);
  Rng rng = Rng::insecure_seed(5);
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  const auto rate = [&] {
    int both = 0;
    for (int i = 0; i < 1000; ++i) {
      const std::vector<std::uint32_t> c = choice.draw(rng).columns;
      both += std::count(c.begin(), c.end(), 2u) > 0 && std::count(c.begin(), c.end(), 3u) > 0;
    }
    return both;
  };
  const int before = rate();
  for (int round = 0; round < 400; ++round) {
    const GridTree tree = choice.draw(rng);
    const auto at = [&](std::uint32_t column) {
      return std::find(tree.columns.begin(), tree.columns.end(), column) - tree.columns.begin();
    };
    const auto size = static_cast<std::ptrdiff_t>(tree.columns.size());
    const std::vector<GridTree::Table> tables = tree.tables();
    std::vector<double> sums(tree.leaves()), weights(tree.leaves(), 400);
    for (int i = 0; i < 3000; ++i) {
      std::vector<std::uint8_t> places(12);
      for (std::uint8_t& p : places) p = static_cast<std::uint8_t>(random());
      std::size_t leaf = 0;
      for (std::size_t c = 0; c < tree.columns.size(); ++c)
        leaf += tables[c][places[tree.columns[c]]];
      if (at(2) < size || at(3) < size)
        sums[leaf] += (places[2] < 128) == (places[3] < 128) ? 1 : -1;
    }
    for (double& s : sums) s += 20 * normal(random);
    choice.learn(tree, sums, weights, 20);
  }
  EXPECT_GT(rate(), 4 * before);
}

TEST(Boosting, ANullRecordContributesNothing) {
  const TrainingRequest asked = request(Budget::approximate(2, kDelta), {{"trees", {"12"}}});
  const Facts facts = facts_of("zero_out", kNumber, 50, asked);
  Table table = table_of(records(50, kNumber), *facts.encoder);
  const auto files = [&] {
    Rng rng = Rng::insecure_seed(1);
    return train(table, facts, asked, rng).value()->files();
  };
  const Files without = files();
  crossed::add_null(table);
  EXPECT_EQ(files(), without);
}

TEST(Boosting, DegenerateDataGivesFinitePredictions) {
  for (const std::string& target : {kTwo, kThree, kNumber}) {
    const TrainingRequest asked = request(Budget::approximate(1, kDelta));
    const Facts facts = facts_of("add_remove", target, 30, asked);
    const std::string y = target == kTwo ? "true" : "1";
    for (const auto& data :
         {std::vector<Record>{}, std::vector<Record>(30, {0, 0, "u", "true", y})}) {
      Rng rng = Rng::insecure_seed(3);
      const TrainedModel model = train(table_of(data, *facts.encoder), facts, asked, rng);
      for (const double x : model.value()->apply(table_of(records(10, target), *facts.encoder)))
        EXPECT_TRUE(std::isfinite(x));
    }
  }
}

TEST(Boosting, AUserWithManyRecordsCostsTheSameAndGetsMoreNoise) {
  const TrainingRequest asked = request(Budget::approximate(1, kDelta), {{"trees", {"40"}}});
  Facts facts = facts_of("add_remove", kTwo, 5000, asked);
  const auto plan_of = [&](std::uint64_t records_of_a_user) {
    facts.contributions = records_of_a_user;
    return plan_training(boosting_family(), facts, asked);
  };
  const auto one = plan_of(1), five = plan_of(5);
  EXPECT_LE(epsilon(Spec{facts.relation, {*five->event()}}, Delta(kDelta)).upper, 1 + 1e-9);
  EXPECT_NE(one->explain().words, five->explain().words);
}

TEST(Boosting, ItsFilesLoadAgainAndDamagedOnesAreRefused) {
  const TrainingRequest asked =
      request(Budget::approximate(2, kDelta), {{"trees", {"4"}}, {"batch", {"2"}}});
  Facts facts = facts_of("add_remove", kThree, 50, asked);
  const Table table = table_of(records(50, kThree), *facts.encoder);
  Rng rng = Rng::insecure_seed(1);
  const TrainedModel model = train(table, facts, asked, rng);
  const std::string text = model.value()->files().at("model.json");
  EXPECT_EQ(load_boosting({{"model.json", text}}, facts)->apply(table),
            model.value()->apply(table));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string broken = text;
    broken.replace(broken.find(from), from.size(), to);
    return broken;
  };
  for (const std::string& hostile :
       {with("\"schema\":1", "\"schema\":9"), with("\"columns\":[", "\"columns\":[4000000000,"),
        with("\"cuts\":[[", "\"cuts\":[[255,"), with("\"values\":[", "\"values\":[1e300,"),
        with("\"values\":[", "\"values\":[0,"), text.substr(0, 100), std::string(100000, '[')})
    EXPECT_THROW(load_boosting({{"model.json", hostile}}, facts), DataError);
}

}  // namespace sotto::boosting_test
