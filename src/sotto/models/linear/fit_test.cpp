#include "sotto/learning/fit.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/models/linear/linear_family.hpp"

namespace sotto::fit_test {

struct Numbers {
  std::vector<double> x, y;
  MatrixView view() const { return {x.data(), y.size(), 2, 2, 1}; }
};

// y = 1 where x1 > x2.
Numbers numbers(std::size_t rows) {
  Numbers n;
  for (std::size_t i = 0; i < rows; ++i) {
    const double a = std::fmod(0.618 * static_cast<double>(i), 1),
                 b = std::fmod(0.414 * static_cast<double>(i), 1);
    n.x.insert(n.x.end(), {a, b});
    n.y.push_back(a > b ? 1 : 0);
  }
  return n;
}

const Schema kSchema =
    matrix_schema({.bounds = {Bounds(0, 1), Bounds(0, 1)}, .classes = 2, .rows = 4000});

TEST(Fit, LearnsFromMemoryWithinItsBudgetAndPredicts) {
  const Numbers n = numbers(4000);
  Rng rng = Rng::insecure_seed(3);
  const Fitted fitted =
      fit(linear_family(), "logistic", kSchema, n.view(), n.y, Budget::approximate(1, 1e-6), rng);
  EXPECT_LE(fitted.certificate.epsilon, 1);
  EXPECT_EQ(fitted.certificate.delta, 1e-6);
  ASSERT_TRUE(fitted.model.event());
  const std::vector<double> out = fitted.apply(n.view());
  const std::size_t columns = fitted.model.value()->columns().size();
  std::size_t right = 0;
  for (std::size_t i = 0; i < n.y.size(); ++i) right += out[i * columns] == n.y[i];
  EXPECT_GT(static_cast<double>(right), 0.9 * static_cast<double>(n.y.size()));
}

TEST(Fit, RefusesABudgetThatNoCertificateStates) {
  const Numbers n = numbers(10);
  Rng rng = Rng::insecure_seed(3);
  EXPECT_THROW(fit(linear_family(), "logistic", kSchema, n.view(), n.y, Budget::zcdp(0.1), rng),
               InvalidArgument);
}

}  // namespace sotto::fit_test
