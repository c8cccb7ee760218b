// Slopes before main effects: rows of bounded length, a plane, files of strangers.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "sotto/core/error.hpp"
#include "sotto/core/record_replay.hpp"
#include "sotto/models/kernel/crossed_data_test.hpp"
#include "sotto/models/kernel/detail/kernel_mechanisms.hpp"
#include "sotto/models/kernel/detail/kernel_model.hpp"
#include "sotto/models/kernel/kernel_family.hpp"

namespace sotto::slopes_test {

using crossed::kNumber;
using crossed::kTwo;
using crossed::Record;
using crossed::records;
using crossed::schema;
using crossed::table_of;

TrainingRequest asked(const Budget& budget, const OptionValues::Raw& given = {}) {
  return {.kind = "kernel",
          .method = "gradient",
          .budget = budget,
          .options = OptionValues(options_of(kernel_family(), "kernel"), given)};
}

// The features of slopes on even scales of as many numbers.
FeatureDesign even_slopes(std::size_t columns) {
  std::vector<ColumnScale> scales(columns);
  for (ColumnScale& scale : scales)
    for (std::size_t l = 0; l < BinnedColumns::kBins; ++l) {
      scale.start.push_back(static_cast<double>(l) / BinnedColumns::kBins);
      scale.width.push_back(1.0 / BinnedColumns::kBins);
      scale.share.push_back(1.0 / BinnedColumns::kBins);
    }
  FeatureSizes sizes{.fourier = columns, .main = 0, .fourier_part = 1, .main_parts = {1}};
  sizes.slopes = true;
  sizes.least_length = 0.5 * std::sqrt(static_cast<double>(columns));
  Rng rng = Rng::insecure_seed(1);
  return FeatureDesign::draw(sizes, std::move(scales), std::vector<bool>(columns, true),
                             std::vector<double>(columns, 1 / static_cast<double>(columns)), {},
                             rng);
}

double length_of(const FeatureMap& map, const std::vector<BinnedColumns::Cell>& cells) {
  FeatureRow row;
  map.read(cells, row);
  double square = FeatureMap::intercept() * FeatureMap::intercept();
  for (const std::int16_t x : row.waves)
    square += std::ldexp(static_cast<double>(x) * static_cast<double>(x), -30);
  EXPECT_EQ(row.main_factor, 0.0f);
  return std::sqrt(square);
}

TEST(Slopes, RowsAreNeverLongerThanOneAndShortOnesStayShort) {
  std::mt19937 random(1);
  for (const std::size_t columns : {1, 3, 20}) {
    const FeatureMap map(even_slopes(columns));
    std::vector<BinnedColumns::Cell> cells(columns);
    double longest = 0;
    for (int i = 0; i < 2000; ++i) {
      for (BinnedColumns::Cell& cell : cells)
        cell = {i % 4 == 0 ? 255 * static_cast<std::uint32_t>(random() % 2)
                           : static_cast<std::uint32_t>(random() % 256),
                0.5f};
      longest = std::max(longest, length_of(map, cells));
    }
    EXPECT_LE(longest, 1.0) << columns;
    EXPECT_GT(longest, 0.99) << columns;  // corners are cut
    cells.assign(columns, {128, 0.0f});   // the middle
    EXPECT_LT(length_of(map, cells), 0.4) << columns;
  }
}

TEST(Slopes, AreNearlyStraight) {
  const FeatureMap map(even_slopes(4));
  std::vector<BinnedColumns::Cell> cells(4, {128, 0.0f});
  FeatureRow row;
  std::vector<double> steps;
  for (std::uint32_t level = 0; level <= 224; level += 32) {
    cells[2].level = level;
    map.read(cells, row);
    steps.push_back(row.waves[5]);
  }
  for (std::size_t i = 1; i + 1 < steps.size(); ++i)
    EXPECT_NEAR((steps[i + 1] - steps[i]) / (steps[4] - steps[3]), 1, 0.25) << i;
}

// Twelve columns that act alone, and evenly.
Table plane(const Encoder& encoder, std::size_t rows, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::normal_distribution<double> noise(0, 0.1);
  Table table(encoder);
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<std::string> texts;
    double y = noise(random);
    for (int j = 0; j < 12; ++j) {
      const double x = uniform(random);
      texts.push_back(std::to_string(x));
      y += (j % 2 ? -0.1 : 0.1) * x;
    }
    Table::Sink sink = table.add_row();
    std::size_t column = 0;
    sink.factor = encoder.encode(std::vector<std::string_view>(texts.begin(), texts.end()),
                                 sink.dense, sink.hot, column);
    table.add_target(encoder.encode_target(std::to_string(y)));
  }
  return table;
}

// Without slopes R² is 0.73 in the mean: the noise of all features stays.
TEST(Slopes, FindAPlaneWithLittleNoise) {
  std::string text = "relation = \"add_remove\"\nrows = 8000\n";
  for (int j = 0; j < 12; ++j)
    text += "[columns.x" + std::to_string(j) + "]\ntype = \"numeric\"\nbounds = [-1, 1]\n";
  const TrainingRequest request = asked(Budget::zcdp(0.03));
  const Facts facts =
      facts_for(kernel_family(),
                Schema::from_toml(text + "[columns.y]\nrole = \"target\"\n" + kNumber), request);
  double mean = 0;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    Rng rng = Rng::insecure_seed(seed);
    const auto model = plan_training(kernel_family(), facts, request)
                           ->run(*table_in_memory(plane(*facts.encoder, 8000, seed)), rng);
    const Table test = plane(*facts.encoder, 2000, 100 + seed);
    mean += evaluate(false, model.value()->score(test)).regression.r2 / 4;
  }
  EXPECT_GT(mean, 0.75);
}

TEST(Slopes, AreForNumbersAndCountAmongTheSteps) {
  for (const bool number : {true, false}) {
    const Encoder encoder(schema("add_remove", number ? kNumber : kTwo, 40));
    const BinnedColumns columns(encoder);
    for (const std::uint64_t steps : {6u, 8u, 40u, 300u}) {
      const KernelMechanisms plan({Relation::add_remove,
                                   40,
                                   1,
                                   number ? MarginLoss::number : MarginLoss::two_classes,
                                   1,
                                   columns,
                                   {.iterations = steps}},
                                  20000);
      ASSERT_EQ(plan.stages.size(), 3u);
      EXPECT_EQ(plan.slopes.has_value(), number);
      EXPECT_EQ(plan.rounds(), steps);
      // As often as the event says, whatever comes after.
      std::size_t measured = 0;
      for (std::uint64_t round = 0; round < steps + 100; ++round) {
        measured += plan.measures_residuals_at(round);
        EXPECT_FALSE(plan.measures_residuals_at(round) && round >= plan.past_residuals()) << round;
      }
      EXPECT_EQ(measured, 5u) << steps;
    }
  }
  const TrainingRequest request = asked(Budget::zcdp(0.1));
  const Facts facts = facts_for(kernel_family(), schema("add_remove", kNumber, 100000), request);
  const std::string words = plan_training(kernel_family(), facts, request)->explain().words;
  EXPECT_NE(words.find("20 on one slope for each column"), std::string::npos) << words;
}

// What was released says the same model, whether one record or none is behind it.
TEST(Slopes, ATableWithoutRecordsIsNotTold) {
  const TrainingRequest request = asked(Budget::zcdp(0.1), {{"iterations", {"12"}}});
  const Facts facts = facts_for(kernel_family(), schema("add_remove", kNumber, 20000), request);
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    std::string file;
    const auto on = [&](std::size_t count) {
      return [&, count](Rng& rng) {
        const auto model =
            plan_training(kernel_family(), facts, request)
                ->run(*table_in_memory(table_of(records(count, kNumber), *facts.encoder)), rng);
        file = model.value()->files().at("model.json");
        return model.event();
      };
    };
    const auto one = replay::record(seed, on(1));
    const std::string with = file;
    EXPECT_EQ(replay::difference(one, replay::record(seed, on(0), &one)), "");
    EXPECT_EQ(file, with) << seed;
  }
}

TEST(Slopes, AreLeftOutWhereNoiseOrColumnsWouldBeTooMany) {
  std::string text = "relation = \"add_remove\"\nrows = 100000000\n";
  for (int j = 0; j < 201; ++j)
    text += "[columns.x" + std::to_string(j) + "]\ntype = \"numeric\"\nbounds = [-1, 1]\n";
  const auto planned = [](const BinnedColumns& columns, double rows, double rho,
                          std::optional<std::uint64_t> rounds, std::uint64_t trees) {
    return KernelMechanisms({Relation::add_remove,
                             rows,
                             1,
                             MarginLoss::number,
                             1,
                             columns,
                             {.trees = trees, .iterations = rounds}},
                            rho);
  };
  const Encoder few(schema("add_remove", kNumber, 100000000)),
      many(Schema::from_toml(text + "[columns.y]\nrole = \"target\"\n" + kNumber));
  const BinnedColumns few_columns(few), many_columns(many);
  EXPECT_TRUE(planned(few_columns, 1e8, 1e-3, {}, 5).slopes);
  EXPECT_FALSE(planned(many_columns, 1e8, 1e-3, {}, 5).slopes);
  EXPECT_EQ(planned(many_columns, 1e8, 1e-3, 40, 5).rounds(), 40u);
  // No budget is refused on the way from one stage to three, above those too small for one.
  for (const std::uint64_t rounds : {0u, 6u, 7u, 11u, 60u})
    for (double rho = rounds == 6 || rounds == 7 ? 2e-8 : 2e-7; rho < 1e-5; rho *= 1.02)
      EXPECT_NO_THROW(
          planned(few_columns, 1e8, rho, rounds > 0 ? std::optional(rounds) : std::nullopt, 50))
          << rho << " " << rounds;
}

TEST(Slopes, FilesKeepTheLengthAndOddLengthsAreRefused) {
  auto json = to_json(even_slopes(3));
  EXPECT_EQ(feature_design_from_json(json).sizes.least_length, 0.5 * std::sqrt(3.0));
  for (const double odd : {-1.0, 1e9, std::nan("")}) {
    json["least_length"] = odd;
    EXPECT_THROW(feature_design_from_json(json), Error) << odd;
  }
  const auto schema_with = [](const FeatureDesign& design) {
    return schema_of({.parts = {{.design = design}}});
  };
  EXPECT_EQ(schema_with(even_slopes(3)), 2);
  json.erase("least_length");  // models of before
  EXPECT_EQ(schema_with(feature_design_from_json(json)), 1);
  EXPECT_EQ(feature_design_from_json(json).sizes.least_length, 0);
}

}  // namespace sotto::slopes_test
