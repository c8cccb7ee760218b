#include "sotto/models/synthesis/detail/even_records.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace sotto::even_records_test {

// Four numbers of eight cells and a target of two classes or of eight cells.
struct Drawn {
  explicit Drawn(bool number)
      : encoder(Schema::from_toml(text(number))), columns(encoder, 6), model{.bins = 6} {
    model.total = 400;
    std::vector<std::uint32_t> levels;
    std::vector<std::vector<std::uint32_t>> terms;
    for (std::uint32_t j = 0; j < columns.columns(); ++j) {
      ColumnLevels column{.levels = columns.cells(j)};
      for (std::uint32_t c = 0; c < columns.cells(j); ++c) {
        column.level.push_back(c);
        column.share.push_back(1);
      }
      levels.push_back(column.levels);
      terms.push_back({j});
      model.columns.push_back(column);
      model.measured.push_back({{j}, std::vector<double>(columns.cells(j), 50), 1});
      model.potentials.emplace_back(columns.cells(j));
    }
    // The target follows the first column.
    terms.push_back({0, 4});
    std::vector<double> potential;
    for (std::uint32_t a = 0; a < levels[0]; ++a)
      for (std::uint32_t t = 0; t < levels[4]; ++t)
        potential.push_back(3 * (a / (levels[0] - 1.0) - 0.5) * (t / (levels[4] - 1.0) - 0.5) * 2);
    model.measured.push_back({{0, 4}, std::vector<double>(potential.size(), 1), 1});
    model.potentials.push_back(potential);
    markov.emplace(levels, terms);
    markov->set_potentials(model.potentials);
  }
  static std::string text(bool number) {
    std::string made = "relation = \"add_remove\"\nrows = 400\n";
    for (const char* const name : {"a", "b", "c", "d"})
      made += std::string("[columns.") + name + "]\ntype = \"numeric\"\nbounds = [0.5, 1.25]\n";
    return made +
           (number ? "[columns.t]\ntype = \"numeric\"\nbounds = [0.5, 1.25]\nrole = \"target\"\n"
                   : "[columns.t]\ntype = \"categorical\"\nvalues = [\"no\", \"yes\"]\nrole = "
                     "\"target\"\n");
  }

  Encoder encoder;
  CellColumns columns;
  SynthesisModel model;
  std::optional<MarkovModel> markov;
};

double correlation(const std::vector<std::uint32_t>& cells, std::size_t a, std::size_t b) {
  const std::size_t rows = cells.size() / 5;
  double sa = 0, sb = 0, aa = 0, bb = 0, ab = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    const double x = cells[r * 5 + a], y = cells[r * 5 + b];
    sa += x, sb += y, aa += x * x, bb += y * y, ab += x * y;
  }
  const auto n = static_cast<double>(rows);
  return (ab - sa * sb / n) / std::sqrt((aa - sa * sa / n) * (bb - sb * sb / n));
}

TEST(EvenRecords, AccidentsGoAndWhatTheModelSaysStays) {
  for (const bool number : {true, false}) {
    const Drawn drawn(number);
    Rng rng = Rng::insecure_seed(3);
    const EvenRecords even(drawn.columns, drawn.model, *drawn.markov, rng);
    const std::vector<std::uint32_t> large = drawn.markov->sample(20000, rng);
    double before = 0, after = 0, kept = 0;
    for (int trial = 0; trial < 3; ++trial) {
      const std::vector<std::uint32_t> first = drawn.markov->sample(200, rng);
      std::vector<std::uint32_t> cells = first;
      even.even_out(cells, rng);
      // A column other than the target holds what it held.
      for (std::size_t j = 0; j < 4; ++j) {
        std::vector<std::uint32_t> was, is;
        for (std::size_t at = j; at < cells.size(); at += 5)
          was.push_back(first[at]), is.push_back(cells[at]);
        std::ranges::sort(was);
        std::ranges::sort(is);
        EXPECT_EQ(was, is);
      }
      for (std::size_t a = 0; a < 5; ++a) {
        for (std::size_t b = a + 1; b < 5; ++b) {
          if (a == 0 && b == 4) continue;
          before += std::pow(correlation(first, a, b), 2);
          after += std::pow(correlation(cells, a, b), 2);
        }
      }
      kept += correlation(cells, 0, 4) / 3;
    }
    EXPECT_LT(after, before / 4) << number;
    EXPECT_NEAR(kept, correlation(large, 0, 4), 0.03) << number;
  }
}

TEST(EvenRecords, FewOrNoRecordsAreLeftAsTheyAre) {
  const Drawn drawn(true);
  Rng rng = Rng::insecure_seed(1);
  const EvenRecords even(drawn.columns, drawn.model, *drawn.markov, rng);
  for (const std::size_t rows : {0u, 1u, 2u, 3u}) {
    std::vector<std::uint32_t> cells = drawn.markov->sample(rows, rng);
    even.even_out(cells, rng);
    EXPECT_EQ(cells.size(), rows * 5);
  }
}

// A model of a stranger may scatter the cells of a level: no bin for each of them.
TEST(EvenRecords, ScatteredLevelsAreNotEvenedOut) {
  Drawn drawn(true);
  EXPECT_TRUE(EvenRecords::suits(drawn.columns, drawn.model, 100));
  std::vector<std::uint32_t>& level = drawn.model.columns[0].level;
  level.resize(2 * EvenRecords::kMostLevels);
  for (std::size_t cell = 0; cell < level.size(); ++cell) level[cell] = cell % 2;
  EXPECT_FALSE(EvenRecords::suits(drawn.columns, drawn.model, 100));
}

}  // namespace sotto::even_records_test
