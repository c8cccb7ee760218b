// Kernel models of many records: main effects, a scan of pairs, a trial of all features, the rest.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "sotto/accounting/account.hpp"
#include "sotto/core/record_replay.hpp"
#include "sotto/models/kernel/crossed_data_test.hpp"
#include "sotto/models/kernel/detail/kernel_mechanisms.hpp"
#include "sotto/models/kernel/kernel_family.hpp"

namespace sotto::three_stages_test {

using crossed::kDelta;
using crossed::kNumber;
using crossed::kThree;
using crossed::kTwo;
using crossed::Record;
using crossed::records;
using crossed::schema;
using crossed::table_of;

// A budget with which forty records are many.
const Budget kMuch = Budget::zcdp(20000);

TrainingRequest asked(const Budget& budget, const OptionValues::Raw& given = {}) {
  const Family family = kernel_family();
  return {.kind = "kernel",
          .method = "gradient",
          .budget = budget,
          .options = OptionValues(options_of(family, "kernel"), given)};
}

TrainedModel train(const Table& table, const Facts& facts, const TrainingRequest& request,
                   Rng& rng) {
  return plan_training(kernel_family(), facts, request)->run(*table_in_memory(table), rng);
}

std::vector<std::size_t> waves_of_parts(const Model& model) {
  std::vector<std::size_t> waves;
  const auto json = nlohmann::ordered_json::parse(model.files().at("model.json"));
  for (const auto& part : json.at("parts"))
    waves.push_back(part.at("features").at("fourier").get<std::size_t>());
  return waves;
}

TEST(ThreeStages, CostTheSameWhateverTheTrialSays) {
  for (const char* relation : {"add_remove", "replace_one", "zero_out"}) {
    const Encoder encoder(schema(relation, kTwo, 40));
    const BinnedColumns columns(encoder);
    const KernelMechanisms plan(
        {parse_relation(relation), 40, 1, MarginLoss::two_classes, 1, columns, {}}, 20000);
    ASSERT_EQ(plan.stages.size(), 3u);
    // The same noise on fewer coordinates: those that are not released were paid for.
    EXPECT_EQ(plan.otherwise->gradient->scale_in_steps(),
              plan.stages[2].gradient->scale_in_steps());
    EXPECT_EQ(plan.otherwise->gradient->granularity(), plan.stages[2].gradient->granularity());
    EXPECT_LT(plan.otherwise->gradient->dimension(), plan.stages[2].gradient->dimension());
    EXPECT_EQ(plan.otherwise->rounds, plan.stages[2].rounds);
    EXPECT_FALSE(plan.otherwise->waves || plan.otherwise->leaves);
  }
}

TEST(ThreeStages, ReplayOnNeighboursStaysWithinTheSensitivity) {
  for (const char* relation : {"add_remove", "replace_one", "zero_out"}) {
    for (const std::string& target : {kTwo, kThree, kNumber}) {
      const TrainingRequest request =
          asked(kMuch, {{"iterations", {"8"}}, {"waves", {"9"}}, {"trees", {"5"}}});
      const Facts facts = facts_for(kernel_family(), schema(relation, target, 40), request);
      for (const bool alike : {false, true}) {  // nothing that features could find
        auto all = records(40, target);
        for (Record& r : all)
          if (alike) r.y = all[0].y;
        for (std::size_t i = 0; i < 2; ++i) {
          auto neighbour = all;
          const bool null = facts.relation == Relation::zero_out;
          if (facts.relation == Relation::replace_one)
            neighbour[i] = {i % 2 ? 1e9 : -1e9, i % 2 ? -1.0 : 1.0, "w", "true",
                            target == kTwo ? "false" : "1"};
          else
            neighbour.erase(neighbour.begin() + static_cast<std::ptrdiff_t>(i));
          const auto on = [&](const std::vector<Record>& data, bool with_null) {
            return [&, with_null](Rng& rng) {
              Table table = table_of(data, *facts.encoder);
              if (with_null) crossed::add_null(table);
              return train(table, facts, request, rng).event();
            };
          };
          EXPECT_EQ(replay::check_neighbours(on(all, false), on(neighbour, null)), "")
              << relation << " " << target << " " << alike;
        }
      }
    }
  }
}

TEST(ThreeStages, GoOnWithMainEffectsWhereColumnsActAlone) {
  for (const bool crossed : {false, true}) {
    const TrainingRequest request = asked(Budget::approximate(3, kDelta));
    const Facts facts = facts_for(kernel_family(), schema("add_remove", kTwo, 8000), request);
    auto all = records(8000, kTwo);
    std::mt19937 coin(3);
    for (Record& r : all)
      if (!crossed) r.y = (coin() % 100 < (r.c == "u" ? 80 : 30)) ? "true" : "false";
    Rng rng = Rng::insecure_seed(1);
    const TrainedModel model = train(table_of(all, *facts.encoder), facts, request, rng);
    const std::vector<std::size_t> waves = waves_of_parts(*model.value());
    if (crossed) {
      ASSERT_EQ(waves.size(), 3u);
      EXPECT_GT(waves[2], 0u);
    } else {
      EXPECT_EQ(waves, (std::vector<std::size_t>{0, 0}));
    }
    Facts again = facts;
    const Table test = table_of(records(50, kTwo, 2), *facts.encoder);
    EXPECT_EQ(kernel_family().load(model.value()->files(), again)->apply(test),
              model.value()->apply(test));
  }
}

// Sums of residuals on a table small enough to go through all neighbours.
struct Scanned {
  Facts facts;
  BinnedColumns columns;
  std::vector<ColumnScale> scales;

  explicit Scanned(const std::string& target)
      : facts(facts_for(kernel_family(), schema("add_remove", target, 30), asked(kMuch))),
        columns(*facts.encoder) {
    for (std::size_t j = 0; j < columns.columns(); ++j) {
      const std::size_t levels = columns.levels(j);
      const double width = 1 / static_cast<double>(levels);
      ColumnScale& scale = scales.emplace_back();
      for (std::size_t l = 0; l < levels; ++l)
        scale.start.push_back(static_cast<double>(l) * width), scale.width.push_back(width);
      // Of a boolean nothing is missing.
      scale.share.assign(levels, levels == 3 && j == 3 ? 0.5 : width);
      if (j == 3) scale.share[2] = 0;
    }
  }
  std::vector<int128> sums(const PairScan& scan, const std::vector<Record>& all,
                           std::size_t outputs) const {
    const Table table = table_of(all, *facts.encoder);
    const auto source = table_in_memory(table);
    const BinnedRows rows(*source, columns);
    return scan.sums(rows, std::vector<float>(rows.size() * outputs), margin_loss(facts), 0.6);
  }
};

TEST(PairScan, NoRecordMovesTheSumsByMoreThanTheRootOfThePairs) {
  for (const std::string& target : {kTwo, kThree, kNumber}) {
    const Scanned on(target);
    const std::size_t outputs = target == kThree ? 3 : 1;
    const PairScan scan(on.scales, std::vector<double>(4, 0.25), 4, outputs);
    const auto all = records(30, target);
    const std::vector<int128> whole = on.sums(scan, all, outputs);
    EXPECT_EQ(whole.size(), PairScan::pairs_of(4) * PairScan::kCells * outputs);
    double most = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      auto without = all;
      without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
      const std::vector<int128> less = on.sums(scan, without, outputs);
      double square = 0;
      for (std::size_t c = 0; c < whole.size(); ++c) {
        const double moved = static_cast<double>(whole[c] - less[c]) * PairScan::kUnit;
        square += moved * moved;
      }
      EXPECT_LE(square, 6.0);
      most = std::max(most, square);
    }
    EXPECT_GT(most, 1.0);  // a bound of one pair would be broken
  }
}

TEST(PairScan, FindsThePairsThatCountTogetherAndNoOthers) {
  const Scanned on(kTwo);
  const PairScan scan(on.scales, std::vector<double>(4, 0.25), 4, 1);
  std::vector<double> noisy;
  std::mt19937 rng(1);
  std::normal_distribution<double> noise(0, 20);
  for (const int128 sum : on.sums(scan, records(4000, kTwo), 1))
    noisy.push_back(static_cast<double>(sum) * PairScan::kUnit + noise(rng));
  const std::vector<PairCredit> found = scan.credits(noisy, 20, 4000);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].first, 0u);
  EXPECT_EQ(found[0].second, 1u);
  // c counts for less where the product is large, so it counts together with a and b too.
  for (std::size_t p = 1; p < found.size(); ++p) {
    EXPECT_LT(found[p].credit, found[0].credit / 5);
    EXPECT_NE(found[p].second, 3u);
  }
  for (double& x : noisy) x = noise(rng);
  EXPECT_TRUE(scan.credits(noisy, 20, 4000).empty());
}

TEST(PairScan, TablesStaySmall) {
  EXPECT_EQ(PairScan::columns_of(1, 1), 1u);
  EXPECT_EQ(PairScan::columns_of(14, 1), 14u);
  EXPECT_EQ(PairScan::columns_of(500, 1), 32u);
  EXPECT_LE(PairScan::pairs_of(PairScan::columns_of(500, 100)) * PairScan::kCells * 100,
            std::size_t{1} << 18);
}

}  // namespace sotto::three_stages_test
