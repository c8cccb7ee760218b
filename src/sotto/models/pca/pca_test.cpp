#include <gtest/gtest.h>

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <cmath>

#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/record_replay.hpp"
#include "sotto/learning/fit_evaluation.hpp"
#include "sotto/models/pca/detail/bingham.hpp"
#include "sotto/models/pca/detail/pca_model.hpp"
#include "sotto/models/pca/detail/scatter.hpp"
#include "sotto/models/pca/pca_family.hpp"
#include "sotto/models/rows/unsupervised_data_test.hpp"

namespace sotto::pca_test {

using test::asked;
using test::point_schema;
using test::Points;
using test::table_of;
using test::trained;

// Spread most along (3, 4, 0)/5, less along (4, −3, 0)/5, hardly along the third axis; about a
// middle that is not 0.
Points ellipsoid(std::size_t n, std::uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Points points;
  for (std::size_t i = 0; i < n; ++i) {
    const double a = 0.2 * normal(random), b = 0.08 * normal(random), c = 0.02 * normal(random);
    points.push_back({.3 + .6 * a + .8 * b, -.2 + .8 * a - .6 * b, .1 + c});
  }
  return points;
}

double share(const TrainedModel& model, const Points& points) {
  const auto& projection = dynamic_cast<const ProjectionModel&>(*model.value());
  const Table table = table_of(points, projection.encoder());
  return fit_figures(projection, *table_in_memory(table))
      .at("explained_variance_ratio")
      .get<double>();
}

const OptionValues::Raw kOne = {{"components", {"1"}}}, kTwo = {{"components", {"2"}}};

TEST(Pca, WithoutNoiseItIsTheLeadingEigenvector) {
  const Family family = pca_family();
  const Points points = ellipsoid(4000);
  const TrainedModel model = trained(family, asked(family, "none", {}, kOne), points, 3, 1);
  const auto& projection = dynamic_cast<const ProjectionModel&>(*model.value());
  EXPECT_NEAR(projection.components().row(0)[0], 0.6, 0.02);
  EXPECT_NEAR(projection.components().row(0)[1], 0.8, 0.02);
  EXPECT_NEAR(projection.components().row(0)[2], 0.0, 0.02);
  EXPECT_NEAR(share(model, points), .04 / (.04 + .0064 + .0004), 0.01);
}

TEST(Pca, EveryMethodComesCloseAndAllAgreeWithoutNoise) {
  const Family family = pca_family();
  const Points points = ellipsoid(20000);
  const double best = share(trained(family, asked(family, "none", {}, kOne), points, 3, 1), points);
  const auto ratio = [&](const std::string& method, const Budget& budget) {
    return share(trained(family, asked(family, method, budget, kOne), points, 3, 5), points) / best;
  };
  EXPECT_GT(ratio("gauss", Budget::approximate(1, 1e-6)), 0.99);
  EXPECT_GT(ratio("laplace", Budget::pure(1)), 0.98);
  EXPECT_GT(ratio("bingham", Budget::pure(1)), 0.98);
  EXPECT_GT(ratio("gauss", Budget::zcdp(1e6)), 0.9999);
  EXPECT_GT(ratio("laplace", Budget::pure(1e5)), 0.9999);
  EXPECT_GT(ratio("bingham", Budget::pure(1e3)), 0.9999);
}

TEST(Pca, OddTablesGiveOrthonormalComponents) {
  const Family family = pca_family();
  const std::vector<double> p = {.3, -.2, .9};
  Points line, constant;
  for (int i = 0; i < 50; ++i) {
    line.push_back({.02 * i - .5, .01 * i, 0});        // rank one
    constant.push_back({.02 * i - .5, -.01 * i, .7});  // a constant column
  }
  for (const Points& points : {Points{}, Points{p}, Points{p, p, p, p}, line, constant}) {
    for (const auto& [method, budget] :
         std::vector<std::pair<std::string, Budget>>{{"gauss", Budget::approximate(1, 1e-6)},
                                                     {"gauss", Budget::zcdp(1e6)},
                                                     {"sulq", Budget::approximate(1, 1e-6)},
                                                     {"laplace", Budget::pure(1)},
                                                     {"bingham", Budget::pure(1)},
                                                     {"bingham", Budget::pure(500)}}) {
      // The model checks that its components are orthonormal.
      EXPECT_NO_THROW(
          trained(family, asked(family, method, budget, {{"components", {"3"}}}), points, 3, 2))
          << method;
    }
  }
}

TEST(Pca, WhatIsWrittenCanBeTakenBack) {
  const Family family = pca_family();
  const Points points = ellipsoid(30);
  const TrainedModel model =
      trained(family, asked(family, "none", {}, {{"components", {"3"}}}), points, 3, 1);
  const auto& projection = dynamic_cast<const ProjectionModel&>(*model.value());
  const Table table = table_of(points, projection.encoder());
  const std::vector<double> written = projection.apply(table);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::vector<double> back =
        decoded(projection.encoder(), projection.inverse(std::span(written).subspan(3 * i, 3)));
    for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(back[j], points[i][j], 1e-5);
  }
}

// Brute force: the scatter of one record in the ball has Frobenius norm at most 1, and reaches it.
TEST(Pca, OneRecordMovesTheScatterByAtMostWhatIsDeclared) {
  const Encoder encoder(point_schema(3, Relation::add_remove, 2));
  const std::vector<double> centre = {.2, -.1, .05};
  const auto triangle = [&](const Points& points) {
    const Table table = table_of(points, encoder);
    const auto source = table_in_memory(table);
    return scatter_of(EncodedRows(*source, encoder), centre, 0.8);
  };
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-2, 2);
  double farthest = 0, farthest_replaced = 0;
  for (int i = 0; i < 200; ++i) {
    const std::vector<double> x = {uniform(random), uniform(random), uniform(random)},
                              y = {uniform(random), uniform(random), uniform(random)};
    const auto norm = [](const std::vector<int128>& a, const std::vector<int128>& b) {
      long double square = 0;
      for (std::size_t k = 0, r = 0; r < 3; ++r)
        for (std::size_t c = r; c < 3; ++c, ++k) {
          const long double e = static_cast<long double>(a[k] - b[k]) *
                                (r == c ? kDiagonal : kOffDiagonal) * kTriangleStep;
          square += e * e;
        }
      return static_cast<double>(std::sqrt(square));
    };
    farthest = std::max(farthest, norm(triangle({x, y}), triangle({y})));
    farthest_replaced = std::max(farthest_replaced, norm(triangle({x}), triangle({y})));
  }
  EXPECT_LE(farthest, 1);
  EXPECT_GT(farthest, 0.999);
  EXPECT_LE(farthest_replaced, std::sqrt(2.0));
  EXPECT_GT(farthest_replaced, 1.3);
}

// Rows that are looked at where they are, and rows that were copied because a null record is among
// them: the same sums to the last bit.
TEST(Pca, RowsInMemoryAreSummedAsCopiesAre) {
  const Encoder encoder(point_schema(3, Relation::zero_out, 20));
  Table table = table_of(ellipsoid(20), encoder);
  const auto triangle = [&] {
    const auto source = table_in_memory(table);
    return scatter_of(EncodedRows(*source, encoder), std::vector<double>{.2, -.1, .05}, 0.8);
  };
  const std::vector<int128> in_place = triangle();
  table.add_row().factor = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(in_place == triangle());
}

// E z₁² under density ∝ exp(−Σ aᵢzᵢ²) on the sphere of R³, by a fine grid.
double first_square(const Eigen::Vector3d& a) {
  double mass = 0, sum = 0;
  constexpr int kGrid = 400;
  for (int i = 0; i < kGrid; ++i) {
    const double z = -1 + (i + .5) * 2 / kGrid;
    for (int j = 0; j < kGrid; ++j) {
      const double t = (j + .5) * 2 * M_PI / kGrid, r = std::sqrt(1 - z * z);
      const double x = r * std::cos(t), y = r * std::sin(t);
      const double w = std::exp(-a[0] * x * x - a[1] * y * y - a[2] * z * z);
      mass += w;
      sum += w * x * x;
    }
  }
  return sum / mass;
}

TEST(Bingham, DrawsFromItsDensity) {
  for (const Eigen::Vector3d& a :
       {Eigen::Vector3d(0, 0, 0), Eigen::Vector3d(0, 1, 5), Eigen::Vector3d(0, 30, 50)}) {
    Rng rng = Rng::insecure_seed(1);
    constexpr int kDraws = 40000;
    double sum = 0, squares = 0;
    for (int i = 0; i < kDraws; ++i) {
      const Eigen::VectorXd z = bingham_direction(Eigen::MatrixXd((-a).asDiagonal()), rng);
      EXPECT_NEAR(z.norm(), 1, 1e-12);
      sum += z[0] * z[0];
      squares += z[0] * z[0] * z[0] * z[0];
    }
    const double mean = sum / kDraws,
                 deviation = std::sqrt((squares / kDraws - mean * mean) / kDraws);
    // |z| < 4.9 fails with probability 1e-6.
    EXPECT_LT(std::fabs(mean - first_square(a)), 4.9 * deviation) << a.transpose();
    if (a[2] > 0) {
      EXPECT_GT(std::fabs(mean - first_square(0.8 * a)), 4.9 * deviation) << "mutant";
    }
  }
}

// The law is that of the matrix, whatever basis it comes in: turned, flat, or with eigenvalues that
// no solver can tell apart.
TEST(Bingham, DrawsFromTheDensityOfAMatrixInAnyBasis) {
  const Eigen::Vector3d a(0, 3, 3 + 1e-13);
  Eigen::Matrix3d turn;
  turn = Eigen::AngleAxisd(0.7, Eigen::Vector3d(1, 2, 3).normalized());
  const Eigen::Matrix3d exponent = -(turn * a.asDiagonal() * turn.transpose());
  Rng rng = Rng::insecure_seed(5);
  constexpr int kDraws = 40000;
  double sum = 0, squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = turn.col(0).dot(bingham_direction(exponent, rng));
    sum += x * x;
    squares += x * x * x * x;
  }
  const double mean = sum / kDraws,
               deviation = std::sqrt((squares / kDraws - mean * mean) / kDraws);
  // |z| < 4.9 fails with probability 1e-6.
  EXPECT_LT(std::fabs(mean - first_square(a)), 4.9 * deviation);
  EXPECT_GT(std::fabs(mean - first_square(0.8 * a)), 4.9 * deviation) << "mutant";
}

// On a circle the probability of any arc can be written down: two neighbouring scatters, ratio of
// the chances of every arc within e^ε.
TEST(Bingham, LikelihoodRatiosOfNeighboursStayWithinEpsilon) {
  const BinghamPlan plan(Relation::add_remove, 1, 1.0, 2);
  const double eta = plan.eta();
  const auto log_chance = [&](const Eigen::Matrix2d& c, double angle) {
    double mass = 0;
    for (int i = 0; i < 20000; ++i) {
      const double t = (i + .5) * 2 * M_PI / 20000;
      const Eigen::Vector2d v(std::cos(t), std::sin(t));
      mass += std::exp(eta * v.dot(c * v));
    }
    const Eigen::Vector2d v(std::cos(angle), std::sin(angle));
    return eta * v.dot(c * v) - std::log(mass);
  };
  double worst = 0;
  for (int i = 0; i < 12; ++i) {
    const double t = i * M_PI / 12;
    const Eigen::Vector2d y(std::cos(t), std::sin(t));
    Eigen::Matrix2d c;
    c << 4, 1, 1, 2;
    for (int k = 0; k < 24; ++k)
      worst = std::max(worst, std::fabs(log_chance(c + y * y.transpose(), k * M_PI / 24) -
                                        log_chance(c, k * M_PI / 24)));
  }
  EXPECT_LE(worst, 1.0);
  EXPECT_GT(worst, 0.5);  // not wasteful either
}

class PcaNeighbours : public testing::TestWithParam<Relation> {};

TEST_P(PcaNeighbours, ReplayWithinTheirSensitivity) {
  const Family family = pca_family();
  const Points points = ellipsoid(30);
  const std::vector<double> extremes[] = {{1, 1, 1}, {-1, 1, -1}, {0, 0, 0}};
  for (const auto& [method, budget] :
       std::vector<std::pair<std::string, Budget>>{{"auto", Budget::approximate(1, 1e-6)},
                                                   {"auto", Budget::pure(1)},
                                                   {"sulq", Budget::approximate(1, 1e-6)},
                                                   {"laplace", Budget::pure(1)},
                                                   {"bingham", Budget::pure(1)}}) {
    for (const std::string centring : {"paid", "declared"}) {
      if (method == "sulq" && centring == "declared") continue;
      OptionValues::Raw options = kTwo;
      if (centring == "declared") options["centring"] = {centring};
      const TrainingRequest request = asked(family, method, budget, options);
      const Facts facts = facts_for(family, point_schema(3, GetParam(), 30), request);
      const auto plan = plan_training(family, facts, request);
      EXPECT_LE(guarantee(Spec{GetParam(), {*plan->event()}}, budget.is_pure() ? 0 : 1e-6).upper,
                1 + 1e-9);
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
        EXPECT_EQ(replay::check_neighbours(run(points), run(other)), "") << method << centring;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Relations, PcaNeighbours,
                         testing::Values(Relation::add_remove, Relation::replace_one,
                                         Relation::zero_out));

TEST(Pca, RefusesWhatItCannotDoBeforeData) {
  const Family family = pca_family();
  const auto plan = [&](const std::string& method, const Budget& budget,
                        const OptionValues::Raw& options) {
    const TrainingRequest request = asked(family, method, budget, options);
    return plan_training(
        family, facts_for(family, point_schema(3, Relation::add_remove, 30), request), request);
  };
  EXPECT_THROW(plan("gauss", Budget::pure(1), kOne), InvalidArgument);
  EXPECT_THROW(plan("bingham", Budget::approximate(1, 1e-6), kOne), InvalidArgument);
  EXPECT_THROW(plan("auto", Budget::pure(1), {{"components", {"4"}}}), InvalidArgument);
}

TEST(Pca, AStrangersComponentsAreChecked) {
  Facts facts = table_facts(point_schema(2, Relation::add_remove, 3));
  const auto load = [&](const std::string& rest) {
    return load_pca({{"model.json", R"({"schema":1,"type":"pca")" + rest + "}"}}, facts);
  };
  EXPECT_THROW(load(""), DataError);
  EXPECT_THROW(load(R"(,"mean":[0,0],"reach":[1],"components":[[1,1]])"), DataError);
  EXPECT_THROW(load(R"(,"mean":[0],"reach":[1],"components":[[1,0]])"), DataError);
  EXPECT_THROW(load(R"(,"mean":[0,0],"reach":[0],"components":[[1,0]])"), DataError);
  EXPECT_THROW(load(R"(,"mean":[0,0],"reach":[1,1,1],"components":[[1,0],[0,1],[1,0]])"),
               DataError);
  EXPECT_NO_THROW(load(R"(,"mean":[0,0],"reach":[1],"components":[[1,0]])"));
}

}  // namespace sotto::pca_test
