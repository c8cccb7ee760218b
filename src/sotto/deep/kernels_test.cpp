#include "sotto/deep/detail/kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "sotto/deep/gradient_term.hpp"

namespace sotto::deep::kernels_test {

using torch::Tensor;

double exact_square(const Tensor& a, const Tensor& b) {
  return b.to(torch::kDouble).t().mm(a.to(torch::kDouble)).square().sum().item<double>();
}

// a: (t, d), b: (t, p), in both layouts: by terms, and by columns.
// The figure is off by at most the surcharge, and has it added.
void expect_norm(const Tensor& a, const Tensor& b) {
  const std::int64_t t = a.size(0), d = a.size(1), p = b.size(1);
  const Tensor across = a.t().contiguous(), down = b.t().contiguous();
  const auto norms = [](const Tensor& x) { return x.to(torch::kDouble).square().sum(1).sqrt(); };
  const double mass = (norms(a) * norms(b)).sum().item<double>();
  const double share =
      std::max(TermNorms::kMassShare, 1.01 * static_cast<double>(d + p + 2) * 0x1p-24);
  Grams grams(t);
  for (int turn = 0; turn < 2; ++turn) {  // what an earlier record left must not matter
    const double by_terms =
        grams.squared_norm(d, {a.data_ptr<float>(), d}, p, {b.data_ptr<float>(), p});
    const double by_columns = grams.squared_norm(d, {across.data_ptr<float>(), t, true}, p,
                                                 {down.data_ptr<float>(), t, true});
    const double exact = exact_square(a, b);
    for (const double found : {by_terms, by_columns}) {
      EXPECT_GE(found, exact * (1 - 1e-9)) << t << " terms of " << d << " and " << p;
      EXPECT_LE(found, exact * (1 + 1e-9) + 2.001 * share * mass * mass)
          << t << " terms of " << d << " and " << p;
    }
  }
}

TEST(Grams, NormsAreNeverBelowTheExactOnesInAnyShape) {
  torch::manual_seed(21);
  const std::vector<std::array<std::int64_t, 3>> shapes = {
      {2, 1, 1},     {3, 5, 2},    {4, 4, 4},     {15, 127, 3},   {16, 128, 16},
      {17, 129, 31}, {33, 260, 7}, {64, 512, 40}, {130, 300, 20}, {145, 20, 257}};
  for (const auto& [t, d, p] : shapes) {
    expect_norm(torch::randn({t, d}), torch::randn({t, p}));
    expect_norm(torch::rand({t, d}) * 1e12, torch::rand({t, p}) * 1e-12);
  }
}

// Terms that cancel: what is left is small against what rounds.
TEST(Grams, NormsOfTermsThatCancelAreNotBelowEither) {
  torch::manual_seed(22);
  for (int k = 0; k < 20; ++k) {
    const Tensor half = torch::randn({20, 150}), b = torch::randn({20, 90});
    const Tensor a = torch::cat({half, -half + 1e-4 * torch::randn({20, 150})});
    expect_norm(a, torch::cat({b, b}));
  }
}

TEST(Grams, OneNumberThatIsNoneMakesTheNormNone) {
  const Tensor a = torch::randn({9, 140}), b = torch::randn({9, 5});
  a[4][137] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(
      Grams(9).squared_norm(140, {a.data_ptr<float>(), 140}, 5, {b.data_ptr<float>(), 5})));
}

TEST(Grams, RowsMayLieApart) {
  torch::manual_seed(23);
  const Tensor a = torch::randn({7, 3, 50}), b = torch::randn({7, 3, 6});  // terms, records
  const auto squares = ghost_squares(a.transpose(0, 1), b.transpose(0, 1));
  for (std::int64_t i = 0; i < 3; ++i) {
    const double exact = exact_square(a.select(1, i), b.select(1, i));
    EXPECT_NEAR(squares[static_cast<std::size_t>(i)], exact, 1e-2 * exact);
    EXPECT_GE(squares[static_cast<std::size_t>(i)], exact * (1 - 1e-9));
  }
}

TEST(OuterTerm, SumsOfSingleTermsAreCutIntoBlocksOfAnyShape) {
  torch::manual_seed(24);
  const std::vector<std::array<std::int64_t, 3>> shapes = {
      {1, 1, 1}, {3, 65, 33}, {256, 64, 32}, {257, 70, 10}, {600, 130, 97}};
  for (const auto& [records, d, p] : shapes) {
    const Tensor a = torch::randn({records, 1, d}), b = torch::randn({records, 1, p});
    const Tensor factors = torch::rand({records}), before = torch::randn({p, d});
    const Tensor product = (b.squeeze(1).to(torch::kDouble) * factors.unsqueeze(1))
                               .t()
                               .mm(a.squeeze(1).to(torch::kDouble));
    for (const double beta : {0.0, 1.0}) {
      OuterTerm term(a, b);
      NormRoom room{.memory = 0};
      std::vector<double> squares(static_cast<std::size_t>(records));
      term.add_squared_norms(squares, room);
      Tensor out =
          beta == 0 ? torch::full({p, d}, std::numeric_limits<float>::quiet_NaN()) : before.clone();
      term.weighted_sum(factors, out, beta);
      const Tensor expected = beta == 0 ? product : product + before;
      // Sums of `records` products, each of size about 1.
      EXPECT_LT((out - expected).abs().max().item<double>(),
                static_cast<double>(records + 2) * 0x1p-24 * 16)
          << records << " records, " << d << " × " << p << ", beta " << beta;
    }
  }
}

// Against sums in double, and a row alike wherever it stands and however many there are.
TEST(Products, InBlocksOfAnyShape) {
  torch::manual_seed(25);
  const std::vector<std::array<std::int64_t, 3>> shapes = {
      {16, 64, 64},    {17, 70, 65}, {31, 784, 100}, {127, 64, 512},
      {300, 600, 130}, {15, 64, 64}, {3, 5, 7}};
  for (const auto& [rows, d, p] : shapes) {
    const Tensor x = torch::randn({rows, d}), g = torch::randn({rows, p}), w = torch::randn({p, d}),
                 bias = torch::randn({p}), order = torch::randperm(rows).contiguous();
    const auto wide = [](const Tensor& t) { return t.to(torch::kDouble); };
    const auto near = [&, many = rows](const Tensor& found, const Tensor& exact, std::int64_t n) {
      EXPECT_LT((found - exact).abs().max().item<double>(),
                static_cast<double>(n + 2) * 0x1p-24 * 16)
          << many << " rows, " << d << " × " << p;
    };
    const Tensor y = linear_product(x, w, bias), back = product_with_weight(g, w);
    near(y, wide(x).mm(wide(w).t()) + bias, d);
    near(linear_product(x, w, {}), wide(x).mm(wide(w).t()), d);
    near(back, wide(g).mm(wide(w)), p);
    const Tensor deep = linear_product(x.view({rows, 1, d}), w, bias);
    EXPECT_EQ(deep.sizes(), (std::vector<std::int64_t>{rows, 1, p}));
    if (rows < 32 || !reads_small_matrices()) continue;
    const auto moved = [&](const Tensor& t) { return t.index_select(0, order).contiguous(); };
    EXPECT_TRUE(torch::equal(linear_product(moved(x), w, bias), moved(y))) << rows;
    EXPECT_TRUE(torch::equal(product_with_weight(moved(g), w), moved(back))) << rows;
    const auto few = [](const Tensor& t) { return t.narrow(0, 0, 17).contiguous(); };
    EXPECT_TRUE(torch::equal(linear_product(few(x), w, bias), few(y))) << rows;
    EXPECT_TRUE(torch::equal(product_with_weight(few(g), w), few(back))) << rows;
  }
}

}  // namespace sotto::deep::kernels_test
