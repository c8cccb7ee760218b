#include "sotto/models/synthesis/input_route.hpp"

#include <gtest/gtest.h>

#include <random>

#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/record_replay.hpp"
#include "sotto/models/kmeans/kmeans_family.hpp"
#include "sotto/models/linear/linear_family.hpp"
#include "sotto/models/naive_bayes/naive_bayes_family.hpp"
#include "sotto/models/pca/pca_family.hpp"
#include "sotto/models/tree/tree_family.hpp"

namespace sotto::input_route_test {

Schema schema_of(Relation relation, std::uint64_t rows) {
  Schema schema = Schema::from_toml(R"(
relation = "add_remove"
rows = 1
[columns.x]
type = "numeric"
bounds = [0, 10]
[columns.y]
type = "numeric"
bounds = [-1, 1]
[columns.city]
type = "categorical"
values = ["a", "b"]
missing = "other"
[columns.ill]
type = "categorical"
values = ["no", "yes"]
role = "target"
)");
  schema.relation = relation;
  schema.rows = rows;
  return schema;
}

// Whoever has x above 5 is ill, nine times out of ten.
Table records(const Encoder& encoder, std::size_t rows, unsigned seed) {
  std::mt19937 random(seed);
  Table table(encoder);
  for (std::size_t i = 0; i < rows; ++i) {
    const double x = static_cast<double>(random() % 1000) / 100;
    const bool ill = (x > 5) == (random() % 10 != 0);
    const std::string cells[] = {std::to_string(x), "0.25", random() % 2 == 0 ? "a" : "b"};
    const std::vector<std::string_view> views(std::begin(cells), std::end(cells));
    const Table::Sink sink = table.add_row();
    std::size_t column = 0;
    sink.factor =
        encoder.encode(std::span<const std::string_view>(views), sink.dense, sink.hot, column);
    if (encoder.has_target()) table.add_target(encoder.encode_target(ill ? "yes" : "no"));
  }
  return table;
}

TrainingRequest asked(const Family& family, const Budget& budget) {
  TrainingRequest request = make_request(family, family.kinds.front().name, budget);
  request.method = "input";
  return request;
}

TEST(InputRoute, AnyTrainerLearnsFromSyntheticRecords) {
  for (Family family : {naive_bayes_family(), tree_family()}) {
    family = with_input(std::move(family));
    const TrainingRequest request = asked(family, Budget::approximate(1, 1e-6));
    const Facts facts = facts_for(family, schema_of(Relation::add_remove, 5000), request);
    const auto plan = plan_training(family, facts, request);
    EXPECT_LE(guarantee(Spec{plan->relation(), {*plan->event()}}, 1e-6).upper, 1 + 1e-9);
    EXPECT_EQ(plan->explain().method, "input");
    const Table train = records(*facts.encoder, 5000, 1), test = records(*facts.encoder, 2000, 2);
    Rng rng = Rng::insecure_seed(3);
    const TrainedModel model = plan->run(*table_in_memory(train), rng);
    EXPECT_EQ(model.event(), plan->event());
    double right = 0;
    for (const ScoredRow& row : model.value()->score(test, {}))
      right += row.target == row.prediction;
    EXPECT_GT(right / 2000, 0.85) << family.name;
  }
}

TEST(InputRoute, ClustersTooAndTransformationsNot) {
  const Family clusters = with_input(kmeans_family());
  ASSERT_NE(find_method(clusters, "input"), nullptr);
  const TrainingRequest request = asked(clusters, Budget::pure(1));
  const Facts facts = facts_for(clusters, schema_of(Relation::replace_one, 500), request);
  const Table train = records(*facts.encoder, 500, 1);
  Rng rng = Rng::insecure_seed(3);
  EXPECT_TRUE(plan_training(clusters, facts, request)->run(*table_in_memory(train), rng).event());
  EXPECT_EQ(find_method(with_input(pca_family()), "input"), nullptr);
}

// The histogram of a linear model's own route has no room for so many columns: the generator has.
TEST(InputRoute, ManyColumnsFallBackToTheGenerator) {
  std::string toml = "relation = \"add_remove\"\nrows = 1000\n";
  for (int j = 0; j < 24; ++j)
    toml += "[columns.x" + std::to_string(j) + "]\ntype = \"numeric\"\nbounds = [0, 1]\n";
  toml += "[columns.y]\ntype = \"boolean\"\nrole = \"target\"\n";
  const Family family = with_input(linear_family());
  TrainingRequest request = make_request(family, "logistic", Budget::approximate(1, 1e-6));
  request.method = "input";
  const Facts facts = facts_for(family, Schema::from_toml(toml), request);
  EXPECT_THROW(plan_training(linear_family(), facts, request), Unsupported);
  EXPECT_EQ(plan_training(family, facts, request)->explain().method, "input");
}

class InputNeighbours : public testing::TestWithParam<Relation> {};

TEST_P(InputNeighbours, ReplayWithinTheirSensitivity) {
  const Family family = with_input(naive_bayes_family());
  const TrainingRequest request = asked(family, Budget::approximate(4, 1e-6));
  const Facts facts = facts_for(family, schema_of(GetParam(), 40), request);
  const auto plan = plan_training(family, facts, request);
  const auto run = [&](bool changed) {
    return [&, changed](Rng& rng) -> std::optional<Event> {
      Table table(*facts.encoder);
      table.append(records(*facts.encoder, 40, 1));
      if (changed) {
        const bool replaced = GetParam() == Relation::replace_one;
        table.append(records(*facts.encoder, 1, replaced ? 77 : 78));
      } else if (GetParam() != Relation::add_remove) {
        const Table other = records(*facts.encoder, 1, 5);
        table.append(other);
      }
      if (GetParam() == Relation::zero_out && !changed) {
        Table nulled(*facts.encoder);
        nulled.append(table, 0, 40);
        nulled.add_row().factor = std::nan("");
        nulled.add_target(0);
        return plan->run(*table_in_memory(nulled), rng).event();
      }
      return plan->run(*table_in_memory(table), rng).event();
    };
  };
  EXPECT_EQ(replay::check_neighbours(run(true), run(false)), "");
}

INSTANTIATE_TEST_SUITE_P(Relations, InputNeighbours,
                         testing::Values(Relation::add_remove, Relation::replace_one,
                                         Relation::zero_out));

}  // namespace sotto::input_route_test
