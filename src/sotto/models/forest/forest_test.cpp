#include <gtest/gtest.h>

#include <cmath>

#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/record_replay.hpp"
#include "sotto/models/forest/forest_family.hpp"
#include "sotto/models/kernel/crossed_data_test.hpp"
#include "sotto/models/tree/detail/membership.hpp"
#include "sotto/models/tree/detail/tree_model.hpp"

namespace sotto::forest_test {

using crossed::kDelta;
using crossed::kNumber;
using crossed::kThree;
using crossed::kTwo;
using crossed::Record;
using crossed::records;
using crossed::table_of;

struct Variant {
  std::string method;
  OptionValues::Raw options;
};
const std::vector<Variant> kVariants = {
    {"exponential", {{"trees", {"3"}}, {"depth", {"2"}}}},
    {"histogram", {{"trees", {"3"}}, {"depth", {"2"}}}},
    {"random", {{"trees", {"5"}}, {"depth", {"3"}}}},
    {"random", {{"trees", {"5"}}, {"depth", {"3"}}, {"records", {"disjoint"}}}}};

TrainingRequest request(const std::optional<Budget>& budget, const Variant& variant) {
  return {.kind = "forest",
          .method = budget ? variant.method : "none",
          .budget = budget,
          .options = OptionValues(options_of(forest_family(), "forest"), variant.options)};
}

Facts facts_of(const std::string& relation, const std::string& target, std::size_t rows,
               const TrainingRequest& asked) {
  return facts_for(forest_family(), crossed::schema(relation, target, rows), asked);
}

TrainedModel train(const Table& table, const Facts& facts, const TrainingRequest& asked, Rng& rng) {
  return plan_training(forest_family(), facts, asked)->run(*table_in_memory(table), rng);
}

TEST(Forest, EventCostsTheBudgetAndIsKnownBeforeData) {
  for (const char* relation : {"add_remove", "replace_one", "zero_out"}) {
    for (const Variant& variant : kVariants) {
      for (const Budget& budget : {Budget::pure(1), Budget::approximate(1, kDelta)}) {
        const TrainingRequest asked = request(budget, variant);
        const Facts facts = facts_of(relation, kTwo, 500, asked);
        const auto plan = plan_training(forest_family(), facts, asked);
        const Bound bound = epsilon(Spec{facts.relation, {*plan->event()}}, Delta(kDelta));
        EXPECT_LE(bound.upper, 1 + 1e-9) << variant.method;
        EXPECT_GT(bound.upper, 0.75) << variant.method;
      }
    }
  }
}

// Trees of records of their own: no noise more than for one tree. Shared ones share the budget.
TEST(Forest, RecordsOfItsOwnCostNothingMoreAndSharedOnesDo) {
  const auto words = [](const std::string& trees, const std::string& of) {
    const TrainingRequest asked =
        request(Budget::pure(1), {"random", {{"trees", {trees}}, {"records", {of}}}});
    const std::string all =
        plan_training(forest_family(), facts_of("add_remove", kTwo, 500, asked), asked)
            ->explain()
            .words;
    return all.substr(all.find("scale"));
  };
  EXPECT_EQ(words("1", "disjoint"), words("8", "disjoint"));
  EXPECT_EQ(words("1", "shared"), "scale 1");
  EXPECT_EQ(words("8", "shared"), "scale 8");
}

TEST(Forest, ReplayOnNeighboursStaysWithinTheSensitivity) {
  for (const char* relation : {"add_remove", "replace_one"}) {
    for (const std::string& target : {kThree, kNumber}) {
      for (std::size_t v = 0; v < 2 * kVariants.size(); ++v) {
        const Budget budget = v % 2 ? Budget::pure(1) : Budget::approximate(1, kDelta);
        const TrainingRequest asked = request(budget, kVariants[v / 2]);
        const Facts facts = facts_of(relation, target, 30, asked);
        const auto all = records(30, target);
        for (std::size_t i = 0; i < 4; ++i) {
          auto neighbour = all;
          if (facts.relation == Relation::add_remove) {
            neighbour.erase(neighbour.begin() + static_cast<std::ptrdiff_t>(i));
          } else {
            neighbour[i] = {i % 2 ? 1e9 : -1e9, i % 2 ? -1.0 : 1.0, "w", "true", "1"};
          }
          const auto on = [&](const std::vector<Record>& data) {
            return [&](Rng& rng) {
              return train(table_of(data, *facts.encoder), facts, asked, rng).event();
            };
          };
          EXPECT_EQ(replay::check_neighbours(on(all), on(neighbour)), "")
              << kVariants[v / 2].method;
        }
      }
    }
  }
}

TEST(Membership, ARecordIsInOneTreeWhateverOthersAreAndTreesGetAboutAsMany) {
  Rng rng = Rng::insecure_seed(1);
  const Membership membership = Membership::one_of(4, rng);
  std::vector<int> count(4);
  for (std::uint32_t i = 0; i < 4000; ++i) {
    const std::vector<BinnedColumns::Cell> cells = {{i % 256, 0.25f}, {i / 256, 0.5f}};
    int trees = 0, again = 0;
    membership.each(cells, 1, [&](std::size_t t) {
      ++count[t];
      ++trees;
      membership.each(cells, 1, [&](std::size_t u) { again += t == u; });
    });
    EXPECT_EQ(trees, 1);
    EXPECT_EQ(again, 1);
  }
  for (const int c : count) EXPECT_NEAR(c, 1000, 140);  // five standard deviations
}

TEST(Forest, LearnsAndDegenerateDataGivesFinitePredictions) {
  for (const Variant& variant : kVariants) {
    for (const std::string& target : {kTwo, kThree, kNumber}) {
      const TrainingRequest asked = request(Budget::approximate(3, kDelta), variant);
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
  const TrainingRequest asked = request(Budget::approximate(3, kDelta),
                                        {"exponential", {{"trees", {"4"}}, {"depth", {"5"}}}});
  const Facts facts = facts_of("add_remove", kTwo, 8000, asked);
  Rng rng = Rng::insecure_seed(3);
  const TrainedModel model =
      train(table_of(records(8000, kTwo), *facts.encoder), facts, asked, rng);
  const Table test = table_of(records(2000, kTwo, 2), *facts.encoder);
  EXPECT_GT(evaluate(true, model.value()->score(test)).classification.accuracy, 0.7);
}

TEST(Forest, ItsFilesLoadAgainAndDamagedOnesAreRefused) {
  const TrainingRequest asked = request(Budget::pure(1), kVariants[0]);
  Facts facts = facts_of("add_remove", kThree, 50, asked);
  const Table table = table_of(records(50, kThree), *facts.encoder);
  Rng rng = Rng::insecure_seed(1);
  const TrainedModel model = train(table, facts, asked, rng);
  const std::string text = model.value()->files().at("model.json");
  EXPECT_EQ(load_trees({{"model.json", text}}, facts)->apply(table), model.value()->apply(table));
  for (const std::string& hostile :
       {std::string("{\"schema\":1,\"type\":\"forest\",\"trees\":[]}"), text.substr(0, 60),
        std::string("{\"schema\":1,\"type\":\"forest\",\"trees\":[{\"depth\":1e300}]}")})
    EXPECT_THROW(load_trees({{"model.json", hostile}}, facts), DataError);
}

}  // namespace sotto::forest_test
