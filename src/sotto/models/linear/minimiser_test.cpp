#include "sotto/models/linear/detail/minimiser.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/models/linear/detail/non_private_fit.hpp"

namespace sotto::minimiser_test {

struct Shape {
  Loss loss;
  std::size_t outputs;
};
const std::vector<Shape> kShapes = {{Loss::logistic, 1},    {Loss::huber_hinge, 1},
                                    {Loss::squared, 1},     {Loss::logistic, 3},
                                    {Loss::huber_hinge, 3}, {Loss::logistic, 2}};

double uniform(Rng& rng) { return static_cast<double>(rng.next_u64() >> 11) * 0x1p-52 - 1; }

float target(const Shape& shape, Rng& rng, double lean) {
  if (shape.outputs > 1) return static_cast<float>(rng.next_u64() % shape.outputs);
  if (shape.loss == Loss::squared) return static_cast<float>(uniform(rng));
  return uniform(rng) + lean > 0 ? 1.0f : -1.0f;
}

ExactRows random_rows(const Shape& shape, std::size_t n, std::size_t features, std::uint64_t seed) {
  Rng rng = Rng::insecure_seed(seed);
  ExactRows rows(features, 1, 1);
  std::vector<float> x(features);
  for (std::size_t i = 0; i < n; ++i) {
    for (float& v : x) v = static_cast<float>(uniform(rng));
    rows.add(x, target(shape, rng, x[0]));
  }
  return rows;
}

std::vector<double> random_vector(std::size_t size, double scale, std::uint64_t seed) {
  Rng rng = Rng::insecure_seed(seed);
  std::vector<double> v(size);
  for (double& c : v) c = scale * uniform(rng);
  return v;
}

TEST(ConvexProblem, GradientIsTheDerivativeOfTheValue) {
  for (const Shape& shape : kShapes) {
    const ExactRows rows = random_rows(shape, 300, 4, 1);
    const auto b = random_vector(5 * shape.outputs, 2, 2);
    const ConvexProblem problem(rows, shape.loss, shape.outputs, 0.7, b);
    const auto theta = random_vector(problem.size(), 3, 3);
    const auto at = problem.evaluate(theta);
    for (std::size_t j = 0; j < theta.size(); ++j) {
      auto up = theta, down = theta;
      const double h = 1e-5;
      up[j] += h;
      down[j] -= h;
      const double slope = (problem.evaluate(up).value - problem.evaluate(down).value) / (2 * h);
      EXPECT_NEAR(at.gradient[j], slope, 1e-5 * (1 + std::fabs(slope)))
          << name(shape.loss) << shape.outputs;
    }
  }
}

TEST(ConvexProblem, HessianIsTheDerivativeOfTheGradientAndItsProductAgrees) {
  for (const Shape& shape : kShapes) {
    const ExactRows rows = random_rows(shape, 40, 3, 4);
    const ConvexProblem problem(rows, shape.loss, shape.outputs, 0.3);
    const auto theta = random_vector(problem.size(), 2, 5), v = random_vector(problem.size(), 1, 6);
    const auto h = problem.hessian(theta), product = problem.hessian_times(theta, v);
    const std::size_t d = theta.size();
    auto up = theta, down = theta;
    const double step = 1e-7;
    for (std::size_t j = 0; j < d; ++j) up[j] += step * v[j], down[j] -= step * v[j];
    const auto above = problem.evaluate(up).gradient, below = problem.evaluate(down).gradient;
    for (std::size_t i = 0; i < d; ++i) {
      double row = 0;
      for (std::size_t j = 0; j < d; ++j) {
        row += h[i * d + j] * v[j];
        EXPECT_EQ(h[i * d + j], h[j * d + i]);
      }
      EXPECT_NEAR(row, product[i], 1e-12 * (1 + std::fabs(row)));
      EXPECT_NEAR(row, (above[i] - below[i]) / (2 * step), 1e-4)
          << name(shape.loss) << shape.outputs;
    }
  }
}

TEST(ConvexProblem, OneRecordRespectsTheConstantsOfTheProofs) {
  for (const Shape& shape : kShapes) {
    if (shape.loss == Loss::squared) continue;
    double largest_slope = 0, largest_trace = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      const ExactRows rows = random_rows(shape, 1, 2, seed);
      const ConvexProblem problem(rows, shape.loss, shape.outputs, 1e-300);
      const auto theta = random_vector(problem.size(), seed % 2 ? 30 : 1, seed);
      largest_slope = std::max(largest_slope, problem.evaluate(theta).gradient_norm());
      const auto h = problem.hessian(theta);
      double trace = 0;
      for (std::size_t j = 0; j < problem.size(); ++j) trace += h[j * problem.size() + j];
      largest_trace = std::max(largest_trace, trace);
    }
    EXPECT_LE(largest_slope, slope_norm(shape.loss, shape.outputs));
    EXPECT_GT(largest_slope, 0.5 * slope_norm(shape.loss, shape.outputs));
    EXPECT_LE(largest_trace, curvature_trace(shape.loss, shape.outputs));
    EXPECT_GT(largest_trace, 0.5 * curvature_trace(shape.loss, shape.outputs));
  }
}

// The gradient of the binary logistic loss in extended precision.
double exact_gradient_norm(const ExactRows& rows, const std::vector<double>& theta, double ridge) {
  std::vector<long double> g(theta.begin(), theta.end());
  for (long double& v : g) v *= ridge;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    long double z = 0;
    for (std::size_t j = 0; j < theta.size(); ++j)
      z += static_cast<long double>(rows.row(i)[j]) * theta[j];
    const long double y = rows.target(i), slope = -y / (1 + std::exp(y * z));
    for (std::size_t j = 0; j < theta.size(); ++j) g[j] += slope * rows.row(i)[j];
  }
  long double square = 0;
  for (long double v : g) square += v * v;
  return static_cast<double>(std::sqrt(square));
}

TEST(Minimiser, CertifiesTheTrueGradientNorm) {
  const Shape shape{Loss::logistic, 1};
  const ExactRows rows = random_rows(shape, 20000, 20, 7);
  for (const double ridge : {1e-3, 1.0, 100.0}) {
    const ConvexProblem problem(rows, shape.loss, 1, ridge);
    const Minimum minimum = minimise(problem, 1e-7);
    EXPECT_LE(minimum.gradient_bound, 1e-7);
    EXPECT_LE(exact_gradient_norm(rows, minimum.theta, ridge), minimum.gradient_bound);
    const auto far = problem.evaluate(random_vector(problem.size(), 5, 8));
    EXPECT_NEAR(far.gradient_norm(), exact_gradient_norm(rows, far.theta, ridge),
                far.gradient_error);
    EXPECT_LT(far.gradient_error, 1e-8);
  }
}

TEST(Minimiser, ConvergesForEveryLossAndBothSolversOfNewtonsEquation) {
  for (const Shape& shape : kShapes) {
    const ExactRows rows = random_rows(shape, 3000, 6, 9);
    const auto b = random_vector(7 * shape.outputs, 20, 10);
    for (const double ridge : {0.01, 1.0, 50.0}) {
      const ConvexProblem problem(rows, shape.loss, shape.outputs, ridge, b);
      const Minimum dense = minimise(problem, 1e-7);
      const Minimum iterative =
          minimise(problem, 1e-7, {}, {.dense_limit = 0, .limited_memory = false});
      EXPECT_LE(dense.gradient_bound, 1e-7) << name(shape.loss) << shape.outputs << ' ' << ridge;
      EXPECT_LE(iterative.gradient_bound, 1e-7)
          << name(shape.loss) << shape.outputs << ' ' << ridge;
      for (std::size_t j = 0; j < dense.theta.size(); ++j)
        EXPECT_NEAR(dense.theta[j], iterative.theta[j], 2.1e-7 / ridge);
    }
  }
}

TEST(Minimiser, HandlesSeparableEmptyOneClassWideAndIllConditionedData) {
  const Shape shape{Loss::logistic, 1};
  for (const Loss loss : {Loss::logistic, Loss::huber_hinge}) {
    ExactRows separable(1, 1, 0), empty(3, 1, 1), one_class(2, 1, 1), conditioned(2, 1, 0),
        null(2, 1, 1);
    for (int i = 0; i < 5000; ++i) {
      const float side = i % 2 ? 1.0f : -1.0f;
      separable.add(std::vector<float>{side}, side);
      one_class.add(std::vector<float>{0.5f, side}, 1);
      conditioned.add(std::vector<float>{1.0f, 2e-5f * side}, i % 3 ? side : -side);
      null.add(std::vector<float>{NAN, 1}, 1);
    }
    const ExactRows wide = random_rows(shape, 20, 200, 11);
    for (const ExactRows* rows : std::initializer_list<const ExactRows*>{
             &separable, &empty, &one_class, &conditioned, &null, &wide}) {
      for (const double ridge : {1e-4, 0.1, 10.0}) {
        const Minimum minimum = minimise(ConvexProblem(*rows, loss, 1, ridge), 1e-7);
        EXPECT_LE(minimum.gradient_bound, 1e-7)
            << rows->size() << ' ' << ridge << ' ' << name(loss);
      }
    }
  }
}

TEST(Minimiser, ResultsDoNotDependOnTheNumberOfThreads) {
  const ExactRows rows = random_rows({Loss::logistic, 1}, 30000, 10, 12);
  const Minimum one = minimise(ConvexProblem(rows, Loss::logistic, 1, 1, {}, 1), 1e-7);
  const Minimum three = minimise(ConvexProblem(rows, Loss::logistic, 1, 1, {}, 3), 1e-7);
  EXPECT_EQ(one.theta, three.theta);
}

TEST(Minimiser, ARecordWithAnUnknownTargetContributesNothing) {
  for (const Shape& shape : kShapes) {
    if (shape.loss == Loss::squared) continue;
    ExactRows rows = random_rows(shape, 50, 2, 13);
    const auto before = ConvexProblem(rows, shape.loss, shape.outputs, 1)
                            .evaluate(random_vector(3 * shape.outputs, 1, 1));
    for (const float bad : {-7.0f, 0.5f, 99.0f}) rows.add(std::vector<float>{0.3f, 0.4f}, bad);
    const auto after = ConvexProblem(rows, shape.loss, shape.outputs, 1).evaluate(before.theta);
    EXPECT_EQ(before.gradient, after.gradient);
  }
}

TEST(NonPrivateFit, SeparatesWhatCanBeSeparated) {
  const ExactRows rows = random_rows({Loss::logistic, 3}, 100, 2, 14);
  EXPECT_EQ(fit_without_privacy(rows, {.loss = Loss::logistic, .outputs = 3}).value.weights.size(),
            9u);
  ExactRows two(1, 1, 1);
  for (int i = 0; i < 100; ++i)
    two.add(std::vector<float>{i % 2 ? 1.0f : -1.0f}, i % 2 ? 1.0f : -1.0f);
  const LinearModel model = fit_without_privacy(two, {}).value;
  EXPECT_EQ(model.classify(std::vector<float>{0.9f}), 1u);
  EXPECT_EQ(model.classify(std::vector<float>{-0.9f}), 0u);
}

}  // namespace sotto::minimiser_test
