#include "sotto/models/linear/detail/limited_memory.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/models/linear/detail/minimiser.hpp"

namespace sotto::limited_memory_test {

struct Shape {
  Loss loss;
  std::size_t outputs;
};
const std::vector<Shape> kShapes = {{Loss::logistic, 1},
                                    {Loss::huber_hinge, 1},
                                    {Loss::squared, 1},
                                    {Loss::logistic, 3},
                                    {Loss::huber_hinge, 3}};

double uniform(Rng& rng) { return static_cast<double>(rng.next_u64() >> 11) * 0x1p-52 - 1; }

// Columns of very different sizes, as encoded tables have them; the target follows the first.
ExactRows random_rows(const Shape& shape, std::size_t n, std::size_t features, std::uint64_t seed) {
  Rng rng = Rng::insecure_seed(seed);
  ExactRows rows(features, 1, 1);
  std::vector<float> x(features);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < features; ++j)
      x[j] = static_cast<float>(uniform(rng) / static_cast<double>(1 + j));
    double y = uniform(rng) / 2 + x[0];
    if (shape.outputs > 1) {
      y = std::floor(std::clamp((y + 2) / 4, 0.0, 0.999) * static_cast<double>(shape.outputs));
    } else if (shape.loss != Loss::squared) {
      y = y > 0 ? 1 : -1;
    }
    rows.add(x, static_cast<float>(std::clamp(y, -1.0, static_cast<double>(shape.outputs))));
  }
  return rows;
}

std::vector<double> random_vector(std::size_t size, double scale, std::uint64_t seed) {
  Rng rng = Rng::insecure_seed(seed);
  std::vector<double> v(size);
  for (double& c : v) c = scale * uniform(rng);
  return v;
}

long double slope_of(Loss loss, long double z, long double y) {
  if (loss == Loss::squared) return z - y;
  if (loss == Loss::logistic) return -y / (1 + std::exp(y * z));
  constexpr long double h = 0.5L;  // checked against loss.hpp in HuberHingeIsTheOneOfTheLibrary
  const long double m = y * z;
  return m > 1 + h ? 0 : m < 1 - h ? -y : -y * (1 + h - m) / (2 * h);
}

// ‖∇J‖ in extended precision, written without ConvexProblem.
double exact_gradient_norm(const ExactRows& rows, const Shape& shape,
                           const std::vector<double>& theta, double ridge,
                           const std::vector<double>& linear) {
  const std::size_t p = rows.dimension(), k = shape.outputs;
  std::vector<long double> g(theta.size()), z(k);
  for (std::size_t j = 0; j < g.size(); ++j)
    g[j] = static_cast<long double>(ridge) * theta[j] + linear[j];
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = rows.row(i);
    const float y = rows.target(i);
    long double total = 0;
    for (std::size_t c = 0; c < k; ++c) {
      z[c] = 0;
      for (std::size_t j = 0; j < p; ++j)
        z[c] += static_cast<long double>(row[j]) * theta[c * p + j];
      total += std::exp(z[c]);
    }
    for (std::size_t c = 0; c < k; ++c) {
      const bool own = k > 1 && static_cast<std::size_t>(y) == c;
      const long double slope = k == 1 ? slope_of(shape.loss, z[c], y)
                                : shape.loss == Loss::logistic
                                    ? std::exp(z[c]) / total - (own ? 1 : 0)
                                    : slope_of(shape.loss, z[c], own ? 1 : -1);
      for (std::size_t j = 0; j < p; ++j) g[c * p + j] += slope * row[j];
    }
  }
  long double square = 0;
  for (const long double v : g) square += v * v;
  return static_cast<double>(std::sqrt(square));
}

TEST(LimitedMemory, HuberHingeIsTheOneOfTheLibrary) {
  for (const double z : {-3.0, 0.2, 0.5, 0.9, 1.0, 1.3, 1.5, 2.0}) {
    EXPECT_NEAR(static_cast<double>(slope_of(Loss::huber_hinge, z, 1)),
                loss_slope(Loss::huber_hinge, z, 1), 1e-15);
  }
}

TEST(LimitedMemory, ReachesTheMinimiserOfNewtonForEveryLossAndItsCertificateIsHonest) {
  constexpr double kWanted = 1e-7;
  for (const Shape& shape : kShapes) {
    const ExactRows rows = random_rows(shape, 1500, 8, 21);
    const auto b = random_vector(9 * shape.outputs, 5, 22);
    for (const double ridge : {0.1, 10.0}) {
      const ConvexProblem problem(rows, shape.loss, shape.outputs, ridge, b);
      const Descent descent =
          descend(problem, problem.evaluate(std::vector<double>(problem.size())), kWanted, 2000);
      ASSERT_LE(descent.at.gradient_bound(), kWanted)
          << name(shape.loss) << shape.outputs << ' ' << ridge;
      EXPECT_GT(descent.steps, 0);
      EXPECT_LE(exact_gradient_norm(rows, shape, descent.at.theta, ridge, b),
                descent.at.gradient_bound());
      const Minimum newton = minimise(problem, kWanted);
      EXPECT_EQ(newton.descended, 0);
      double square = 0;
      for (std::size_t j = 0; j < newton.theta.size(); ++j)
        square += std::pow(newton.theta[j] - descent.at.theta[j], 2);
      // Both are within bound/Λ of the minimiser, J being Λ-strongly convex.
      EXPECT_LE(std::sqrt(square), (newton.gradient_bound + descent.at.gradient_bound()) / ridge);
    }
  }
}

TEST(LimitedMemory, IsChosenForManyUnknownsAlsoWhenRowsAreFewer) {
  for (const Shape& shape : {Shape{Loss::logistic, 1}, Shape{Loss::logistic, 3},
                             Shape{Loss::huber_hinge, 1}, Shape{Loss::squared, 1}}) {
    const ExactRows rows = random_rows(shape, 40, kDenseLimit, 23);
    const std::vector<double> none(rows.dimension() * shape.outputs);
    for (const double ridge : {1e-3, 1.0}) {
      const ConvexProblem problem(rows, shape.loss, shape.outputs, ridge);
      ASSERT_GT(problem.size(), kDenseLimit);
      const Minimum minimum = minimise(problem, 1e-9);
      EXPECT_LE(minimum.gradient_bound, 1e-9) << name(shape.loss) << shape.outputs << ' ' << ridge;
      EXPECT_GT(minimum.descended, 0);
      EXPECT_EQ(minimum.iterations, 0) << name(shape.loss) << shape.outputs << ' ' << ridge;
      EXPECT_LE(exact_gradient_norm(rows, shape, minimum.theta, ridge, none),
                minimum.gradient_bound);
    }
  }
}

TEST(LimitedMemory, NewtonGoesOnWhereItStops) {
  const Shape shape{Loss::logistic, 1};
  const ExactRows rows = random_rows(shape, 1000, 30, 24);
  const ConvexProblem problem(rows, shape.loss, 1, 1e-3);
  const Minimum minimum = minimise(problem, 1e-8, {}, {.dense_limit = 0, .descent_steps = 5});
  EXPECT_EQ(minimum.descended, 5);
  EXPECT_GT(minimum.iterations, 0);
  EXPECT_LE(minimum.gradient_bound, 1e-8);
}

TEST(LimitedMemory, EndsWhereRoundingAllowsNoMore) {
  const Shape shape{Loss::logistic, 1};
  const ExactRows rows = random_rows(shape, 500, 5, 25);
  const ConvexProblem problem(rows, shape.loss, 1, 1);
  const Descent descent = descend(problem, problem.evaluate(std::vector<double>(6)), 0, 100000);
  EXPECT_LT(descent.steps, 1000);
  EXPECT_GT(descent.at.gradient_bound(), 0);
  EXPECT_LT(descent.at.gradient_bound(), 1e-8);
}

TEST(LimitedMemory, EveryStepLowersTheObjective) {
  const Shape shape{Loss::huber_hinge, 1};
  const ExactRows rows = random_rows(shape, 300, 6, 26);
  const ConvexProblem problem(rows, shape.loss, 1, 0.01);
  double before = problem.evaluate(std::vector<double>(7)).value;
  for (int steps = 1; steps < 12; ++steps) {
    const Descent descent = descend(problem, problem.evaluate(std::vector<double>(7)), 1e-6, steps);
    if (descent.steps < steps) break;
    EXPECT_LT(descent.at.value, before);
    before = descent.at.value;
  }
}

TEST(LimitedMemory, ResultsDoNotDependOnTheNumberOfThreads) {
  const ExactRows rows = random_rows({Loss::logistic, 1}, 10000, 10, 27);
  const MinimiserOptions options{.dense_limit = 0};
  const Minimum one = minimise(ConvexProblem(rows, Loss::logistic, 1, 1, {}, 1), 1e-7, {}, options);
  const Minimum three =
      minimise(ConvexProblem(rows, Loss::logistic, 1, 1, {}, 3), 1e-7, {}, options);
  EXPECT_GT(one.descended, 0);
  EXPECT_EQ(one.theta, three.theta);
}

}  // namespace sotto::limited_memory_test
