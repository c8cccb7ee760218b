#include "sotto/models/synthesis/detail/markov_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sotto/core/error.hpp"

namespace sotto::markov_model_test {

using Terms = std::vector<std::vector<std::uint32_t>>;

// Every combination of levels, the last column fastest.
template <class F>
void each_record(const std::vector<std::uint32_t>& levels, F&& f) {
  std::vector<std::uint32_t> record(levels.size());
  for (;;) {
    f(record);
    std::size_t j = levels.size();
    while (j > 0 && ++record[j - 1] == levels[j - 1]) record[--j] = 0;
    if (j == 0) return;
  }
}

std::size_t cell(const std::vector<std::uint32_t>& record, const std::vector<std::uint32_t>& of,
                 const std::vector<std::uint32_t>& levels) {
  std::size_t at = 0;
  for (const std::uint32_t c : of) at = at * levels[c] + record[c];
  return at;
}

std::size_t cells(const std::vector<std::uint32_t>& of, const std::vector<std::uint32_t>& levels) {
  std::size_t count = 1;
  for (const std::uint32_t c : of) count *= levels[c];
  return count;
}

TEST(JunctionTree, EdgesAreInCliquesAndColumnsAreConnectedInIt) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const std::size_t count = 1 + random() % 9;
    std::vector<std::uint32_t> levels(count);
    for (std::uint32_t& l : levels) l = static_cast<std::uint32_t>(1 + random() % 5);
    std::vector<ColumnPair> edges;
    for (std::uint32_t a = 0; a < count; ++a)
      for (std::uint32_t b = a + 1; b < count; ++b)
        if (random() % 3 == 0) edges.emplace_back(a, b);
    const JunctionTree tree = junction_tree(levels, edges);
    double together = 0;
    for (const auto& clique : tree.cliques)
      together += static_cast<double>(cells(clique.columns, levels));
    EXPECT_EQ(together, junction_cells(levels, edges));
    const auto has = [&](std::size_t c, std::uint32_t column) {
      const auto& all = tree.cliques[c].columns;
      return std::find(all.begin(), all.end(), column) != all.end();
    };
    for (const auto& [a, b] : edges) {
      bool inside = false;
      for (std::size_t c = 0; c < tree.cliques.size(); ++c) inside |= has(c, a) && has(c, b);
      EXPECT_TRUE(inside);
    }
    // The cliques of a column are a subtree: all but one of them have it in common with a parent.
    for (std::uint32_t column = 0; column < count; ++column) {
      int tops = 0;
      for (std::size_t c = 0; c < tree.cliques.size(); ++c) {
        const auto& clique = tree.cliques[c];
        if (c > 0) {
          EXPECT_LT(clique.parent, c);
        }
        const auto& s = clique.shared;
        if (has(c, column) && std::find(s.begin(), s.end(), column) == s.end()) ++tops;
      }
      EXPECT_EQ(tops, 1);
    }
  }
}

TEST(MarkovModel, MarginalsAreThoseOfTheWholeTable) {
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 50; ++trial) {
    const std::size_t count = 2 + random() % 4;
    std::vector<std::uint32_t> levels(count);
    for (std::uint32_t& l : levels) l = static_cast<std::uint32_t>(1 + random() % 4);
    Terms terms;
    for (std::uint32_t a = 0; a < count; ++a) {
      terms.push_back({a});
      for (std::uint32_t b = a + 1; b < count; ++b)
        if (random() % 2 == 0) terms.push_back({a, b});
    }
    MarkovModel model(levels, terms);
    std::vector<std::vector<double>> theta;
    for (const auto& t : terms) {
      theta.emplace_back(cells(t, levels));
      for (double& x : theta.back()) x = 2 * normal(random);
    }
    model.set_potentials(theta);
    double total = 0;
    std::vector<std::vector<double>> expected;
    for (const auto& t : terms) expected.emplace_back(cells(t, levels));
    each_record(levels, [&](const std::vector<std::uint32_t>& record) {
      double sum = 0;
      for (std::size_t t = 0; t < terms.size(); ++t)
        sum += theta[t][cell(record, terms[t], levels)];
      total += std::exp(sum);
      for (std::size_t t = 0; t < terms.size(); ++t)
        expected[t][cell(record, terms[t], levels)] += std::exp(sum);
    });
    for (std::size_t t = 0; t < terms.size(); ++t) {
      const std::vector<double> found = model.marginal(t);
      for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(found[i], expected[t][i] / total, 1e-12);
    }
  }
}

// Three columns in a ring: each pair agrees more often than not.
TEST(MarkovModel, FitsMarginalsThatADistributionHasAndDrawsRecordsOfIt) {
  const std::vector<std::uint32_t> levels = {2, 2, 3};
  const Terms terms = {{0}, {0, 1}, {0, 2}, {1, 2}};
  std::vector<std::vector<double>> truth;
  for (const auto& t : terms) truth.emplace_back(cells(t, levels));
  double total = 0;
  std::uint32_t weight = 1;
  each_record(levels, [&](const std::vector<std::uint32_t>& record) {
    weight = weight * 5 % 17;
    const double p = weight + (record[0] == record[1] ? 20.0 : 0.0);
    total += p;
    for (std::size_t t = 0; t < terms.size(); ++t) truth[t][cell(record, terms[t], levels)] += p;
  });
  std::vector<Marginal> measured;
  for (std::size_t t = 0; t < terms.size(); ++t) measured.push_back({terms[t], truth[t], 0.01});
  MarkovModel model(levels, terms);
  model.fit(measured, total, 2000);
  for (std::size_t t = 0; t < terms.size(); ++t) {
    const std::vector<double> found = model.marginal(t);
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], truth[t][i] / total, 2e-3) << t << " " << i;
  }
  Rng rng = Rng::insecure_seed(3);
  const std::size_t rows = 10000;
  const std::vector<std::uint32_t> drawn = model.sample(rows, rng);
  ASSERT_EQ(drawn.size(), rows * 3);
  for (std::size_t t = 0; t < terms.size(); ++t) {
    std::vector<double> counts(truth[t].size());
    for (std::size_t r = 0; r < rows; ++r)
      ++counts[cell({drawn[3 * r], drawn[3 * r + 1], drawn[3 * r + 2]}, terms[t], levels)];
    // Systematic sampling is within a few records of the probabilities; independent draws of 10000
    // would be off by 50.
    for (std::size_t i = 0; i < counts.size(); ++i)
      EXPECT_NEAR(counts[i] / rows, model.marginal(t)[i], 12.0 / rows);
  }
}

TEST(MarkovModel, ImpossibleAndContradictoryMarginalsDoNotBreakIt) {
  const std::vector<std::uint32_t> levels = {3, 2};
  const Terms terms = {{0}, {1}, {0, 1}};
  const std::vector<std::vector<std::vector<double>>> cases = {
      {{0, 0, 0}, {0, 0}, {0, 0, 0, 0, 0, 0}},
      {{-5, -5, -5}, {-1, -1}, {-1, -1, -1, -1, -1, -1}},
      {{1e9, 0, 0}, {0, 1e9}, {0, 0, 0, 0, 0, 1e9}},
      {{1, 1, 1}, {1e6, -1e6}, {-3, 3, -3, 3, -3, 3}}};
  for (const auto& counts : cases) {
    for (const double total : {1.0, 100.0, 1e9}) {
      MarkovModel model(levels, terms);
      std::vector<Marginal> measured;
      for (std::size_t t = 0; t < 3; ++t) measured.push_back({terms[t], counts[t], 1});
      model.fit(measured, total, 100);
      double sum = 0;
      for (const double p : model.marginal(2)) {
        EXPECT_TRUE(p >= 0 && p <= 1);
        sum += p;
      }
      EXPECT_NEAR(sum, 1, 1e-9);
    }
  }
}

// A term of groups of levels has one potential for each combination of groups.
TEST(MarkovModel, GroupsOfLevelsAreOneCellEach) {
  const std::vector<std::uint32_t> levels = {3, 2, 4};
  const Terms terms = {{0}, {1, 2}, {0, 1, 2}};
  const std::vector<LevelGrouping> groups = {{}, {}, {{0, 1, 1}, {0, 1}, {1, 0, 0, 1}}};
  const std::vector<std::uint32_t> group = grouped_cells(groups[2]);
  ASSERT_EQ(group.size(), 24u);
  EXPECT_EQ(cells_of_groups(groups[2]), 8u);
  MarkovModel model(levels, terms, groups);
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  std::vector<std::vector<double>> theta = {std::vector<double>(3), std::vector<double>(8),
                                            std::vector<double>(8)};
  for (auto& t : theta)
    for (double& x : t) x = normal(random);
  model.set_potentials(theta);
  double total = 0;
  std::vector<double> expected(8);
  each_record(levels, [&](const std::vector<std::uint32_t>& record) {
    const std::size_t at = group[cell(record, terms[2], levels)];
    const double p =
        std::exp(theta[0][record[0]] + theta[1][cell(record, terms[1], levels)] + theta[2][at]);
    total += p;
    expected[at] += p;
  });
  const std::vector<double> found = model.marginal(2);
  ASSERT_EQ(found.size(), 8u);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(found[i], expected[i] / total, 1e-12);
  EXPECT_THROW(MarkovModel(levels, terms, {{}, {}, {{0, 1}, {0, 1}, {0, 0, 0, 0}}}),
               InvalidArgument);
}

}  // namespace sotto::markov_model_test
