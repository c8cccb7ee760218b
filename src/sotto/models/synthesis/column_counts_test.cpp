#include "sotto/models/synthesis/detail/column_counts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/learning/facts.hpp"
#include "sotto/models/synthesis/detail/synthesis_design.hpp"
#include "sotto/models/synthesis/synthesis_family.hpp"

namespace sotto::column_counts_test {

// Two numbers whose whole values have cells of their own, one whose have none, and a category.
Schema schema_of(const std::string& relation, std::size_t rows) {
  return Schema::from_toml("relation = \"" + relation + "\"\nrows = " + std::to_string(rows) +
                           "\n[columns.a]\ntype = \"numeric\"\nbounds = [0, 10]\n"
                           "[columns.b]\ntype = \"numeric\"\nbounds = [-5, 60]\n"
                           "[columns.c]\ntype = \"numeric\"\nbounds = [0, 0.7]\n"
                           "[columns.d]\ntype = \"categorical\"\nvalues = [\"x\", \"y\"]\n");
}

TrainingRequest request_for(const Budget& budget) {
  return {.kind = "synthesis",
          .method = "columns",
          .budget = budget,
          .options = OptionValues(options_of(synthesis_family(), "synthesis"), {})};
}

using Row = std::vector<std::string>;

std::vector<int128> sums_of(const std::vector<Row>& rows, const Encoder& encoder,
                            const ColumnCounts& counts, std::int64_t weight) {
  Table table(encoder);
  for (const Row& row : rows) {
    const std::vector<std::string_view> cells(row.begin(), row.end());
    Table::Sink sink = table.add_row();
    std::size_t culprit = 0;
    sink.factor = encoder.encode(cells, sink.dense, sink.hot, culprit);
  }
  std::vector<int128> sums(counts.size());
  counts.add(table, std::vector<std::int64_t>(4, weight), 1, sums);
  return sums;
}

// By the algebra of synthesis_design.hpp, which some neighbours attain; the noise is made for it.
TEST(ColumnCounts, ARecordMovesThemAsFarAsTheirNoiseIsMadeFor) {
  const std::vector<Row> records = {{"3", "7", "0.1", "x"},
                                    {"9.5", "33.25", "0.6", "y"},
                                    {"9", "33.25", "0.1", "y"},
                                    {"0", "60", "0.7", "x"}};
  for (const std::string relation : {"add_remove", "replace_one", "zero_out"}) {
    for (const Budget& budget : {Budget::zcdp(0.02), Budget::pure(0.5)}) {
      const Facts facts =
          facts_for(synthesis_family(), schema_of(relation, 300), request_for(budget));
      const CellColumns cells(*facts.encoder, 128);
      const SynthesisDesign design(cells, facts, budget, true);
      const ColumnCounts counts(cells, design.coarse);
      ASSERT_EQ(counts.kinds(), 2u);
      const SynthesisMechanisms made(design, counts, budget);
      const std::int64_t v = made.of_columns();
      EXPECT_EQ(v, budget.is_pure() ? 8 : 4);
      double l1 = 0, l2 = 0;
      for (const Row& with : records) {
        for (const Row& without : records) {
          const std::vector<int128> a = sums_of({with}, *facts.encoder, counts, v),
                                    b = relation == "replace_one"
                                            ? sums_of({without}, *facts.encoder, counts, v)
                                            : std::vector<int128>(a.size());
          double sum = 0, square = 0;
          for (std::size_t i = 0; i < a.size(); ++i) {
            const auto far = static_cast<double>(a[i] - b[i]);
            sum += std::abs(far), square += far * far;
          }
          l1 = std::max(l1, sum), l2 = std::max(l2, std::sqrt(square));
        }
      }
      const double moved = relation == "replace_one" ? 2 : 1;
      EXPECT_EQ(l1, moved * (static_cast<double>(v) * 4 + 2));
      EXPECT_NEAR(l2 * l2, moved * static_cast<double>(v * v) * 4 + moved * moved * 2, 1e-9);
      const double least = budget.is_pure() ? l1 / 0.5 : l2 / std::sqrt(2 * 0.02);
      EXPECT_GE(made.columns().scale(), least * (1 - 1e-12));
      EXPECT_NEAR(made.columns().scale() / least, 1, 1e-6);
    }
  }
}

TEST(ColumnCounts, KindsAreToldFromTheirSumOrTakenForOne) {
  const Facts facts =
      facts_for(synthesis_family(), schema_of("add_remove", 300), request_for(Budget::zcdp(0.02)));
  const CellColumns cells(*facts.encoder, 128);
  const ColumnCounts counts(cells, 8);
  std::vector<double> all(counts.size());
  const auto gaps = [&](double sum, double deviation) {
    all[8] = sum;  // of the first column, behind its parts
    return counts.gaps(0, all, deviation, 100);
  };
  EXPECT_EQ(gaps(100, 1), 0);
  EXPECT_EQ(gaps(-100, 1), 1);
  EXPECT_EQ(gaps(90, 10), 0);
  EXPECT_EQ(gaps(-130, 10), 1);
  EXPECT_NEAR(gaps(40, 5), 0.3, 1e-12);
  EXPECT_NEAR(gaps(-40, 5), 0.7, 1e-12);
  EXPECT_EQ(counts.gaps(2, all, 1, 100), 0);
}

// Between few whole numbers there may be fewer cells than parts were asked for: a part without any
// is none, or noise could make a level of it that no value belongs to.
TEST(ColumnCounts, EveryPartHasACellWhateverNoiseSays) {
  const Facts facts =
      facts_for(synthesis_family(), schema_of("add_remove", 300), request_for(Budget::zcdp(0.02)));
  const CellColumns cells(*facts.encoder, 128);
  for (const std::uint32_t coarse : {128u, 141u, 160u, 178u}) {
    const ColumnCounts counts(cells, coarse);
    const std::vector<double> all(counts.size());
    for (const std::size_t column : {0u, 1u, 2u}) {
      const std::size_t parts = counts.of(column, all).size();
      EXPECT_LE(parts, coarse + 2);
      for (std::size_t p = 0; p < parts; ++p) {
        std::vector<double> noisy(parts);
        for (std::size_t q = p == 0 ? 0 : p - 1; q < std::min(p + 2, parts); ++q) noisy[q] = 30;
        const ColumnLevels made = counts.levels(column, noisy, 1, 0, 16, 1e300, 100);
        std::vector<bool> seen(made.levels);
        for (const std::uint32_t level : made.level) seen.at(level) = true;
        EXPECT_EQ(std::ranges::count(seen, false), 0) << column << ' ' << coarse << ' ' << p;
      }
    }
  }
}

// Below twenty deviations of noise no pair is looked at, and nothing is kept for them.
TEST(SynthesisDesign, OfHardlyAnyRecordsColumnsTrendsAndTheirCheckHaveAll) {
  const std::string text = [] {
    std::string made = "relation = \"add_remove\"\nrows = 150\n";
    for (int j = 0; j < 8; ++j)
      made += "[columns.c" + std::to_string(j) + "]\ntype = \"numeric\"\nbounds = [0, 1.5]\n" +
              (j == 7 ? "role = \"target\"\n" : "");
    return made;
  }();
  for (const double rho : {0.03, 0.3}) {
    const Budget budget = Budget::zcdp(rho);
    TrainingRequest request = request_for(budget);
    request.method = "marginals";
    const Facts facts = facts_for(synthesis_family(), Schema::from_toml(text), request);
    const CellColumns cells(*facts.encoder, 128);
    const SynthesisDesign design(cells, facts, budget, false);
    const SynthesisMechanisms made(design, ColumnCounts(cells, design.coarse), budget);
    EXPECT_EQ(design.route, PairRoute::few);
    EXPECT_TRUE(made.trends() && made.check());
    EXPECT_EQ(made.again().has_value(), rho > 0.1);
    EXPECT_EQ(made.scores().has_value(), rho > 0.1);
    EXPECT_NEAR(design.share_of_columns + design.share_of_trends + design.share_of_check +
                    design.share_of_choice + design.share_of_scores + design.share_of_rest +
                    2 * design.share_of_triples,
                1, 1e-12);
    EXPECT_TRUE(design.coarse == 8 || design.coarse == 16 || design.coarse == 32) << design.coarse;
  }
}

}  // namespace sotto::column_counts_test
