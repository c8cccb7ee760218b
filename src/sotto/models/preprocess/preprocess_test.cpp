#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/record_replay.hpp"
#include "sotto/learning/mapped_source.hpp"
#include "sotto/learning/pipeline.hpp"
#include "sotto/models/kmeans/kmeans_family.hpp"
#include "sotto/models/naive_bayes/naive_bayes_family.hpp"
#include "sotto/models/pca/pca_family.hpp"
#include "sotto/models/preprocess/detail/preprocess_model.hpp"
#include "sotto/models/preprocess/preprocess_family.hpp"
#include "sotto/models/rows/unsupervised_data_test.hpp"

namespace sotto::preprocess_test {

using test::clouds;
using test::Points;
using test::table_of;

Schema wide_schema(Relation relation, std::uint64_t rows) {
  return matrix_schema(
      {.bounds = {Bounds(-1000, 1000), Bounds(0, 1e6)}, .relation = relation, .rows = rows});
}

TrainingRequest asked(const std::string& kind, const std::optional<Budget>& budget,
                      const OptionValues::Raw& options = {}) {
  const Family family = preprocess_family();
  return {.kind = kind,
          .method = budget ? "histogram" : "none",
          .budget = budget,
          .options = OptionValues(options_of(family, kind), options)};
}

// Normal about 30 with deviation 5; between 0 and 100, the more the smaller.
Points skewed(std::size_t n) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal(30, 5);
  std::uniform_real_distribution<double> uniform(0, 1);
  Points points;
  for (std::size_t i = 0; i < n; ++i) {
    const double u = uniform(random);
    points.push_back({normal(random), 1 + 99 * u * u});
  }
  return points;
}

nlohmann::ordered_json figures(const std::string& kind, const Points& points,
                               const std::optional<Budget>& budget,
                               const OptionValues::Raw& options = {}) {
  const Family family = preprocess_family();
  const TrainingRequest request = asked(kind, budget, options);
  const Facts facts = facts_for(family, wide_schema(Relation::add_remove, points.size()), request);
  const Table table = table_of(points, *facts.encoder);
  Rng rng = Rng::insecure_seed(3);
  const TrainedModel model =
      plan_training(family, facts, request)->run(*table_in_memory(table), rng);
  Facts again = facts;
  EXPECT_EQ(load_preprocess(model.value()->files(), again)->apply(table),
            model.value()->apply(table));
  return nlohmann::ordered_json::parse(model.value()->files().at("model.json")).at("figures");
}

TEST(Preprocess, FindsBoundsScalesAndEdges) {
  const Points points = skewed(20000);
  for (const std::optional<Budget>& budget :
       {std::optional<Budget>(), std::optional(Budget::approximate(1, 1e-6)),
        std::optional(Budget::pure(1))}) {
    const auto bounds = figures("bounds", points, budget);
    EXPECT_GE(bounds[0][0].get<double>(), 0);
    EXPECT_LE(bounds[0][1].get<double>(), 63);   // 1000/16
    EXPECT_LE(bounds[1][1].get<double>(), 123);  // 1e6/2^13
    const auto scale = figures("scale", points, budget);
    EXPECT_NEAR(scale[0][0].get<double>(), 30, 2);
  }
  const auto edges = figures("bins", points, Budget::approximate(1, 1e-6), {{"bins", {"4"}}});
  ASSERT_EQ(edges[0].size(), 3u);
  EXPECT_NEAR(edges[0][1].get<double>(), 30, 4);  // the cells are 2000/256 wide
}

TEST(Preprocess, OddTablesGiveUsableSteps) {
  for (const Points& points : {Points{}, Points{{5, 5}}, Points(10, {5, 5}), Points(3, {0, 0})})
    for (const std::string kind : {"bounds", "scale", "bins"})
      for (const std::optional<Budget>& budget :
           {std::optional<Budget>(), std::optional(Budget::pure(0.5))})
        EXPECT_NO_THROW(figures(kind, points, budget)) << kind;
}

class Steps : public testing::TestWithParam<Relation> {
 protected:
  Points neighbour(Points points, const std::vector<double>& x) const {
    if (GetParam() == Relation::add_remove) points.push_back(x);
    if (GetParam() == Relation::replace_one) points[7] = x;
    if (GetParam() == Relation::zero_out)
      points[7] = std::vector<double>(2, std::numeric_limits<double>::quiet_NaN());
    return points;
  }
  void expect_private(TrainingPlan& plan, const Facts& facts, const Points& points,
                      const Budget& budget) const {
    const double delta = budget.is_pure() ? 0 : 1e-6;
    EXPECT_LE(guarantee(Spec{GetParam(), {*plan.event()}}, delta).upper, 1 + 1e-9);
    const auto run = [&](const Points& p) {
      return [&, p](Rng& rng) -> std::optional<Event> {
        const Table table = table_of(p, *facts.encoder);
        return plan.run(*table_in_memory(table), rng).event();
      };
    };
    for (const std::vector<double>& x : {std::vector<double>{1e9, 1e9}, {-1e9, -1e9}, {0, 0}})
      EXPECT_EQ(replay::check_neighbours(run(points), run(neighbour(points, x))), "");
  }
};

TEST_P(Steps, ReplayWithinTheirSensitivity) {
  const Family family = preprocess_family();
  for (const std::string kind : {"bounds", "scale", "bins"}) {
    for (const Budget& budget : {Budget::approximate(1, 1e-6), Budget::pure(1)}) {
      const TrainingRequest request = asked(kind, budget);
      const Facts facts = facts_for(family, wide_schema(GetParam(), 40), request);
      expect_private(*plan_training(family, facts, request), facts, skewed(40), budget);
    }
  }
}

TEST_P(Steps, OfAPipelineReplayTogether) {
  const std::vector<Family> families = {preprocess_family(), pca_family(), kmeans_family()};
  for (const Budget& budget : {Budget::approximate(1, 1e-6), Budget::pure(1)}) {
    for (const std::string text :
         {"[steps.bounds]\n[steps.scale]\n[steps.pca]\ncomponents = 1\nweight = 3\n",
          "[steps.bins]\nbins = 3\n[steps.groups]\nmodel = \"kmeans\"\nclusters = 2\nweight = "
          "4\n"}) {
      PlannedPipeline planned =
          plan_pipeline(families, read_pipeline(text, "steps"), wide_schema(GetParam(), 40), budget,
                        budget.is_pure() ? std::nullopt : std::optional(1e-6));
      expect_private(*planned.plan, planned.facts, skewed(40), budget);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Relations, Steps,
                         testing::Values(Relation::add_remove, Relation::replace_one,
                                         Relation::zero_out));

TEST(Pipeline, ItsModelDoesWhatTheStepsDoOneByOneAndReadsBack) {
  const std::vector<Family> families = {preprocess_family(), pca_family(),
                                        pipeline_family([] { return std::span<const Family>(); })};
  const PlannedPipeline planned = plan_pipeline(
      families,
      read_pipeline("[steps.scale]\nmethod = \"none\"\n[steps.pca]\nmethod = \"none\"\n"
                    "components = 2\n",
                    "steps"),
      wide_schema(Relation::add_remove, 50), {}, {});
  EXPECT_FALSE(planned.plan->event());
  const Points points = skewed(50);
  const Table table = table_of(points, *planned.facts.encoder);
  Rng rng = Rng::insecure_seed(1);
  const TrainedModel model = planned.plan->run(*table_in_memory(table), rng);
  const std::vector<double> written = model.value()->apply(table);
  ASSERT_EQ(written.size(), 100u);
  double sum = 0;
  for (const double x : written) sum += x;
  EXPECT_NEAR(sum / 100, 0, 0.05);  // centred

  Facts facts = planned.facts;
  const Family family = pipeline_family([&] { return std::span<const Family>(families); });
  EXPECT_EQ(family.load(model.value()->files(), facts)->apply(table), written);
  Files damaged = model.value()->files();
  damaged.erase("step_2_model.json");
  EXPECT_THROW(family.load(damaged, facts), DataError);
  damaged = model.value()->files();
  damaged["pipeline.json"] = R"({"schema":1,"type":"pipeline","steps":[{"family":"pipeline"}]})";
  EXPECT_THROW(family.load(damaged, facts), Error);
}

TEST(Pipeline, RefusesBeforeDataWhatCannotBe) {
  const std::vector<Family> families = {preprocess_family(), pca_family(), kmeans_family(),
                                        naive_bayes_family()};
  const auto plan = [&](const std::string& text, const std::optional<Budget>& budget) {
    return plan_pipeline(families, read_pipeline(text, "steps"),
                         wide_schema(Relation::add_remove, 40), budget, 1e-6);
  };
  const Budget budget = Budget::approximate(1, 1e-6);
  EXPECT_NO_THROW(plan("[steps.scale]\nshare = 0.4\n[steps.pca]\nshare = 0.6\n", budget));
  EXPECT_THROW(plan("[steps.scale]\nshare = 0.7\n[steps.pca]\nshare = 0.6\n", budget),
               InvalidArgument);  // overspent
  EXPECT_THROW(plan("[steps.scale]\n[steps.pca]\nshare = 0.6\n", budget), InvalidArgument);
  EXPECT_THROW(plan("[steps.kmeans]\n[steps.pca]\n", budget), InvalidArgument);
  EXPECT_THROW(plan("[steps.scale]\n[steps.pca]\ncomponents = 3\n", budget), InvalidArgument);
  EXPECT_THROW(plan("[steps.scale]\nclusters = 3\n", budget), InvalidArgument);
  EXPECT_THROW(plan("[steps.scale]\nmethod = \"none\"\n[steps.pca]\n", budget), InvalidArgument);
  EXPECT_THROW(plan("[steps.unknown]\n", budget), InvalidArgument);
  EXPECT_THROW(plan("[steps.scale]\n", {}), InvalidArgument);
  EXPECT_THROW(plan("[steps.scale]\n[steps.naive_bayes]\n", budget), Error);  // no target
  for (const char* text : {"", "steps = 3", "[steps]\n", "[steps.a]\nweight = -1\n",
                           "[steps.a]\nweight = \"x\"\n", "[steps.a]\nx = [1]\n", "[other.a]\n"})
    EXPECT_THROW(read_pipeline(text, "steps"), DataError) << text;
}

TEST(Preprocess, AStrangersFiguresAreChecked) {
  Facts facts = table_facts(wide_schema(Relation::add_remove, 3));
  const auto load = [&](const std::string& rest) {
    return load_preprocess({{"model.json", R"({"schema":1,"type":"preprocess",)" + rest + "}"}},
                           facts);
  };
  EXPECT_THROW(load(R"("kind":"scale","figures":[[1,1]])"), DataError);
  EXPECT_THROW(load(R"("kind":"scale","figures":[[1,1],[1,0]])"), DataError);
  EXPECT_THROW(load(R"("kind":"bounds","figures":[[1,2],[2,1]])"), DataError);
  EXPECT_THROW(load(R"("kind":"bins","figures":[[1,2],[2,1]])"), DataError);
  EXPECT_THROW(load(R"("kind":"bins","figures":[[1,2],[1]])"), DataError);
  EXPECT_THROW(load(R"("kind":"what","figures":[[1,2],[1,2]])"), DataError);
  EXPECT_NO_THROW(load(R"("kind":"bins","figures":[[1,2],[1,2]])"));
}

}  // namespace sotto::preprocess_test
