#include "sotto/learning/class_weights.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "majority_family_test.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/record_replay.hpp"

namespace sotto::class_weights_test {

Facts facts_of(const std::string& relation, const std::string& more = "") {
  return table_facts(Schema::from_toml(
      "relation = \"" + relation + "\"\nrows = 50\n" + more +
      "[columns.x]\ntype = \"numeric\"\nbounds = [0, 1]\n"
      "[columns.y]\ntype = \"categorical\"\nvalues = [\"no\", \"maybe\", \"yes\"]\nrole = "
      "\"target\"\n"));
}

Table table_of(const Facts& facts, const std::vector<int>& targets) {
  Table table(*facts.encoder);
  for (const int target : targets) {
    Table::Sink row = table.add_row();
    row.dense[0] = 0.5;
    table.add_target(target);
  }
  return table;
}

// Says the same of every record.
class ConstantModel final : public SupervisedModel {
 public:
  ConstantModel(const Facts& facts, std::vector<double> p)
      : SupervisedModel(facts), p_(std::move(p)) {}
  Files files() const override { return {{"model.json", "{}"}}; }
  std::vector<Prediction> predict(const Block& block) const override {
    const auto best = std::max_element(p_.begin(), p_.end()) - p_.begin();
    return std::vector<Prediction>(block.rows(), {p_, static_cast<double>(best)});
  }

 private:
  std::vector<double> p_;
};

TEST(ClassWeights, ChangeProbabilitiesAndTheClass) {
  const Facts facts = facts_of("add_remove");
  const Table table = table_of(facts, {2});
  const auto model = weighted(
      std::make_unique<ConstantModel>(facts, std::vector<double>{0.7, 0.2, 0.1}), {1, 1, 10});
  const std::vector<double> values = model->apply(table);
  EXPECT_THAT(values, testing::ElementsAre(2, testing::DoubleNear(1 / 1.9, 1e-12),
                                           testing::DoubleNear(0.7 / 1.9, 1e-12),
                                           testing::DoubleNear(0.2 / 1.9, 1e-12),
                                           testing::DoubleNear(1 / 1.9, 1e-12)));
  const ScoredRow row = model->score(table).front();
  EXPECT_EQ(row.prediction, 2);
  EXPECT_NEAR(row.probabilities[0], 0.7 / 1.9, 1e-12);
  EXPECT_EQ(read_class_weights(model->files().at(kClassWeightsFile)),
            (std::vector<double>{1, 1, 10}));
}

TEST(ClassWeights, BalancedOnesAreOneOverTheShares) {
  EXPECT_THAT(balanced_weights({0.8, 0.2}, 0), testing::ElementsAre(0.625, 2.5));
  EXPECT_THAT(
      balanced_weights({90, 10, 0}, 0.01),  // counts do as well
      testing::ElementsAre(testing::DoubleNear(1 / 2.7, 1e-12), testing::DoubleNear(1 / 0.3, 1e-12),
                           testing::DoubleNear(1 / 0.03, 1e-12)));
}

TEST(ClassWeights, StrangersFilesAreRefused) {
  for (const char* text : {"", "[]", "{\"class_weights\":1}", "{\"class_weights\":[-1]}",
                           "{\"class_weights\":[1e999]}", "{\"class_weights\":[\"1\"]}",
                           "{\"class_weights\":[1],\"more\":1}"})
    EXPECT_THROW(read_class_weights(text), DataError) << text;
  const Facts facts = facts_of("add_remove");
  EXPECT_THROW(weighted(std::make_unique<ConstantModel>(facts, std::vector<double>(3)), {1, 1}),
               InvalidArgument);
}

std::unique_ptr<TrainingPlan> plan_for(const Facts& facts, const Family& family,
                                       const Budget& budget) {
  return balanced_training(
      plan_training(family, facts, make_request(family, "majority", budget.part(0.9))), facts,
      budget.part(0.1));
}

// One record more, replaced or nulled; with users, three of them.
TEST(ClassWeights, NeighboursReplayWithinTheSensitivityAndCostTheBudget) {
  const Family family = test::majority_family();
  const std::vector<int> base = {0, 0, 1, 2, 2, 2, 0, 1};
  for (const char* relation : {"add_remove", "replace_one"}) {
    const Facts facts = facts_of(relation);
    std::vector<int> other = base;
    if (facts.relation == Relation::add_remove)
      other.push_back(1);
    else
      other.back() = 2;
    for (const Budget& budget : {Budget::pure(2), Budget::zcdp(0.5)}) {
      const auto plan = plan_for(facts, family, budget);
      if (budget.is_pure()) {
        EXPECT_LE(guarantee(Spec{plan->relation(), {*plan->event()}}, 0).upper, 2 * (1 + 1e-12));
      }
      const auto run = [&](const std::vector<int>& targets) {
        return [&, targets](Rng& rng) -> std::optional<Event> {
          const Table table = table_of(facts, targets);
          return plan->run(*table_in_memory(table, 1), rng).event();
        };
      };
      EXPECT_EQ(replay::check_neighbours(run(base), run(other)), "");
    }
  }
}

// The same slip must be found: a neighbour that moves two records is none.
TEST(ClassWeights, ReplayCatchesWhatIsNoNeighbour) {
  const Family family = test::majority_family();
  const Facts facts = facts_of("add_remove");
  const auto plan = plan_for(facts, family, Budget::pure(2));
  const auto run = [&](const std::vector<int>& targets) {
    return [&, targets](Rng& rng) -> std::optional<Event> {
      const Table table = table_of(facts, targets);
      return plan->run(*table_in_memory(table, 1), rng).event();
    };
  };
  EXPECT_NE(replay::check_neighbours(run({0, 1}), run({0, 1, 1, 1})), "");
}

}  // namespace sotto::class_weights_test
