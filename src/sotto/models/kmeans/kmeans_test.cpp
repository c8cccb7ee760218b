#include <gtest/gtest.h>

#include <cmath>

#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/record_replay.hpp"
#include "sotto/learning/fit_evaluation.hpp"
#include "sotto/models/kmeans/detail/kmeans_model.hpp"
#include "sotto/models/kmeans/detail/lloyd.hpp"
#include "sotto/models/kmeans/kmeans_family.hpp"
#include "sotto/models/rows/detail/ball_sums.hpp"
#include "sotto/models/rows/unsupervised_data_test.hpp"
#include "support/statistics.hpp"

namespace sotto::kmeans_test {

using test::asked;
using test::clouds;
using test::point_schema;
using test::Points;
using test::table_of;
using test::trained;

const Points kFour = {{.6, .6, 0}, {-.6, .6, .2}, {.6, -.6, -.2}, {-.6, -.6, 0}};

double inertia(const TrainedModel& model, const Points& points) {
  const auto& clusters = dynamic_cast<const ClusterModel&>(*model.value());
  const Table table = table_of(points, clusters.encoder());
  return fit_figures(clusters, *table_in_memory(table)).at("inertia").get<double>();
}

double inertia_about(const Points& centres, const Points& points) {
  double sum = 0;
  for (const auto& p : points) {
    double best = 1e300;
    for (const auto& c : centres) {
      double square = 0;
      for (std::size_t j = 0; j < p.size(); ++j) {
        const double x = std::clamp(p[j], -1.0, 1.0) - c[j];
        square += x * x;
      }
      best = std::min(best, square);
    }
    sum += best;
  }
  return sum;
}

TEST(Kmeans, FindsTheCloudsWithEveryMethod) {
  const Family family = kmeans_family();
  const Points points = clouds(kFour, 8000, 0.1, 1);
  const double best = inertia_about(kFour, points);
  const OptionValues::Raw four = {{"clusters", {"4"}}};
  const auto ratio = [&](const std::string& method, const std::optional<Budget>& budget) {
    return inertia(trained(family, asked(family, method, budget, four), points, 3, 1), points) /
           best;
  };
  EXPECT_LT(ratio("none", {}), 1.001);
  EXPECT_LT(ratio("coreset", Budget::approximate(1, 1e-6)), 1.02);
  EXPECT_LT(ratio("coreset", Budget::pure(1)), 1.1);
  EXPECT_LT(ratio("lloyd", Budget::approximate(1, 1e-6)), 1.5);
  // ε → ∞: what noise is left changes nothing.
  EXPECT_LT(ratio("coreset", Budget::zcdp(1e6)), 1.001);
}

// The parts start where released centres are, so that they agree on what is which.
TEST(Kmeans, PartsAgreeOnFourClouds) {
  const Family family = kmeans_family();
  const Points points = clouds(kFour, 8000, 0.1, 1);
  const double best = inertia_about(kFour, points);
  for (const Budget& budget : {Budget::approximate(1, 1e-6), Budget::pure(2)}) {
    const TrainingRequest request = asked(family, "aggregate", budget, {{"clusters", {"4"}}});
    EXPECT_LT(inertia(trained(family, request, points, 3, 1), points) / best, 1.05);
  }
}

TEST(Kmeans, AnOddTableStillGivesAsManyCentres) {
  const Family family = kmeans_family();
  const std::vector<double> p = {.3, -.2, .9};
  const Points odd[] = {{}, {p}, {p, p, p, p, p}, {{0, 0, 0}, {1, 1, 1}, {-1, -1, -1}}};
  for (const Points& points : odd) {
    for (const std::string method : {"coreset", "lloyd", "aggregate"}) {
      for (const Budget& budget :
           {Budget::approximate(1, 1e-6), Budget::pure(1), Budget::zcdp(1e6)}) {
        const TrainedModel model =
            trained(family, asked(family, method, budget, {{"clusters", {"6"}}}), points, 3, 2);
        const auto& clusters = dynamic_cast<const ClusterModel&>(*model.value());
        ASSERT_EQ(clusters.centres().rows, 6u);
        for (const double x : clusters.centres().values) EXPECT_TRUE(std::isfinite(x));
      }
    }
  }
}

// The sum of what one record adds is never beyond what the noise was made for, and comes close.
TEST(Kmeans, OneRecordMovesARoundByAtMostWhatItDeclares) {
  const Points points = clouds(kFour, 12, 0.3, 3);
  const Encoder encoder(point_schema(3, Relation::add_remove, 12));
  Rng rng = Rng::insecure_seed(1);
  const Facts facts = table_facts(point_schema(3, Relation::add_remove, 12));
  const PointSumsPlan plan(facts, Budget::zcdp(1), 5, 3, std::sqrt(3.0));
  const auto query = [&](const Points& p) {
    const Table table = table_of(p, encoder);
    const auto source = table_in_memory(table);
    const EncodedRows rows(*source, encoder);
    const BallRows ball(rows, std::vector<double>{.1, 0, -.1}, 0.7);
    Rng fixed = Rng::insecure_seed(9);
    const ClusterSums sums = cluster_sums(ball, packed_centres(5, 3, 0.5, fixed));
    std::vector<double> all;
    for (const PointSums& s : plan.exact(sums.points, sums.counts)) {
      for (const double x : s.point) all.push_back(x * 15 / 16);
      all.push_back(s.count * std::sqrt(1 - 15.0 * 15 / 256));
    }
    return all;
  };
  double farthest = 0;
  for (std::size_t out = 0; out < points.size(); ++out) {
    Points fewer = points;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(out));
    const std::vector<double> a = query(points), b = query(fewer);
    double square = 0;
    for (std::size_t i = 0; i < a.size(); ++i) square += (a[i] - b[i]) * (a[i] - b[i]);
    EXPECT_LE(std::sqrt(square), 1 + 1e-9);
    farthest = std::max(farthest, std::sqrt(square));
  }
  EXPECT_GT(farthest, 0.99);  // clipped records: the bound is met
}

TEST(Kmeans, TheNoiseOfARoundHasTheScaleOfItsEvent) {
  const Facts facts = table_facts(point_schema(2, Relation::add_remove, 10));
  const PointSumsPlan plan(facts, Budget::zcdp(0.5), 50, 2, std::sqrt(2.0));  // σ = 1
  const std::vector<int128> none(100), counts(50);
  Rng rng = Rng::insecure_seed(4);
  double square = 0;
  std::size_t n = 0;
  for (int i = 0; i < 200; ++i)
    for (const PointSums& s : plan.release(none, counts, rng))
      for (const double x : s.point) square += x * x * 15 * 15 / 256, ++n;
  // n squares of standard normals: mean n, variance 2n; |z| < 4.9 fails with probability 1e-6.
  const double z = (square - static_cast<double>(n)) / std::sqrt(2.0 * static_cast<double>(n));
  EXPECT_LT(std::fabs(z), 4.9);
  const double mutant =
      (0.9 * square - static_cast<double>(n)) / std::sqrt(2.0 * static_cast<double>(n));
  EXPECT_GT(std::fabs(mutant), 4.9);
}

class KmeansNeighbours : public testing::TestWithParam<Relation> {};

TEST_P(KmeansNeighbours, ReplayWithinTheirSensitivity) {
  const Family family = kmeans_family();
  const Points points = clouds(kFour, 40, 0.3, 3);
  const std::vector<double> extremes[] = {{1, 1, 1}, {-1, 1, -1}, {0, 0, 0}};
  for (const std::string method : {"coreset", "lloyd", "aggregate"}) {
    for (const Budget& budget : {Budget::approximate(1, 1e-6), Budget::pure(1)}) {
      const TrainingRequest request = asked(family, method, budget, {{"clusters", {"3"}}});
      const Facts facts = facts_for(family, point_schema(3, GetParam(), 40), request);
      const auto plan = plan_training(family, facts, request);
      const double delta = budget.is_pure() ? 0 : 1e-6;
      EXPECT_LE(guarantee(Spec{GetParam(), {*plan->event()}}, delta).upper, 1 + 1e-9);
      for (const auto& x : extremes) {
        Points other = points;
        if (GetParam() == Relation::add_remove) other.push_back(x);
        if (GetParam() == Relation::replace_one) other[7] = x;
        if (GetParam() == Relation::zero_out)
          other[7] = std::vector<double>(3, std::numeric_limits<double>::quiet_NaN());
        const auto run = [&](const Points& p) {
          return [&, p](Rng& rng) -> std::optional<Event> {
            const Table table = table_of(p, *facts.encoder);
            return plan->run(*table_in_memory(table), rng).event();
          };
        };
        EXPECT_EQ(replay::check_neighbours(run(points), run(other)), "") << method;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Relations, KmeansNeighbours,
                         testing::Values(Relation::add_remove, Relation::replace_one,
                                         Relation::zero_out));

TEST(Kmeans, AUnitWithManyRecordsPaysForAllOfThem) {
  Facts facts = table_facts(point_schema(2, Relation::add_remove, 10));
  const Event one = PointSumsPlan(facts, Budget::zcdp(1), 1, 2, 2).event();
  facts.contributions = 4;
  const Event four = PointSumsPlan(facts, Budget::zcdp(1), 1, 2, 2).event();
  EXPECT_DOUBLE_EQ(four.get_if<DiscreteGaussianEvent>()->sensitivity,
                   4 * one.get_if<DiscreteGaussianEvent>()->sensitivity);
}

TEST(Kmeans, InertiaIsInTheUnitThatTheColumnsShare) {
  const Schema shared = matrix_schema({.bounds = {Bounds(0, 10), Bounds(5, 15)}, .rows = 3});
  const Schema mixed = matrix_schema({.bounds = {Bounds(0, 10), Bounds(0, 1)}, .rows = 3});
  const Family family = kmeans_family();
  const auto unit = [&](const Schema& schema) {
    const TrainingRequest request = asked(family, "none", {}, {{"clusters", {"1"}}});
    const Facts facts = facts_for(family, schema, request);
    const std::vector<double> flat = {0, 5, 10, 15, 5, 10};
    const Table table = matrix_table(*facts.encoder, {flat.data(), 3, 2, 2, 1});
    Rng rng = Rng::insecure_seed(1);
    const TrainedModel model =
        plan_training(family, facts, request)->run(*table_in_memory(table), rng);
    const auto& clusters = dynamic_cast<const ClusterModel&>(*model.value());
    return fit_figures(clusters, *table_in_memory(table)).at("inertia").get<double>();
  };
  EXPECT_NEAR(unit(shared), 100, 0.01);  // (±5, ±5) twice
  EXPECT_NEAR(unit(mixed), 2, 0.01);     // (±1) twice; the second column is clamped to its bound
}

TEST(Kmeans, AStrangersCentresAreChecked) {
  Facts facts = table_facts(point_schema(2, Relation::add_remove, 3));
  for (const std::string& text :
       {std::string("{}"), std::string("[]"), std::string(R"({"schema":1,"type":"kmeans"})"),
        std::string(R"({"schema":1,"type":"kmeans","centres":[]})"),
        std::string(R"({"schema":1,"type":"kmeans","centres":[[1]]})"),
        std::string(R"({"schema":1,"type":"kmeans","centres":[[1,"a"]]})"),
        std::string(R"({"schema":1,"type":"kmeans","centres":[[1,1e999]]})")})
    EXPECT_THROW(load_kmeans({{"model.json", text}}, facts), DataError) << text;
  EXPECT_NO_THROW(
      load_kmeans({{"model.json", R"({"schema":1,"type":"kmeans","centres":[[1,0.5]]})"}}, facts));
}

}  // namespace sotto::kmeans_test
