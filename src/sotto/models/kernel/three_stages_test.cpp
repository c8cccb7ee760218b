// Kernel models of many records: main effects, a scan of pairs, a trial of all features, the rest.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
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

// The same run on all records and on neighbours without so many of them, which are null records
// where a relation has these.
std::pair<replay::Recording, replay::Recording> recorded(const Facts& facts,
                                                         const TrainingRequest& request,
                                                         const std::vector<Record>& all,
                                                         const std::vector<Record>& neighbour,
                                                         std::size_t fewer) {
  const auto on = [&](const std::vector<Record>& data, std::size_t nulls) {
    return [&, nulls](Rng& rng) {
      Table table = table_of(data, *facts.encoder);
      for (std::size_t i = 0; i < nulls; ++i) crossed::add_null(table);
      return train(table, facts, request, rng).event();
    };
  };
  const auto a = replay::record(5, on(all, 0));
  return {a,
          replay::record(5, on(neighbour, facts.relation == Relation::zero_out ? fewer : 0), &a)};
}

// All but the label of the last record is learnt, so the trial makes its loss much larger, and that
// of its partner smaller.
TEST(ThreeStages, AMislabelledRecordMovesTheTrialByWhatIsDeclared) {
  for (const char* relation : {"add_remove", "replace_one", "zero_out"}) {
    for (const std::size_t copies : {1, 2}) {  // that one user has
      const TrainingRequest request =
          asked(kMuch, {{"iterations", {"40"}}, {"waves", {"20"}}, {"trees", {"20"}}});
      Facts facts = facts_for(kernel_family(), schema(relation, kThree, 400), request);
      facts.contributions = copies;
      const bool replaced = facts.relation == Relation::replace_one;
      auto all = records(400, kThree, 3), neighbour = all;
      all.insert(all.end(), copies, {.95, .95, "w", "true", "0"});
      if (replaced) neighbour.insert(neighbour.end(), copies, {.95, .95, "w", "true", "2"});
      const auto [a, b] = recorded(facts, request, all, neighbour, copies);
      EXPECT_EQ(replay::difference(a, b), "") << relation << " " << copies;
      double moved = 0;
      for (std::size_t i = 0; i < a.queries.size(); ++i)
        if (a.queries[i].values.size() == 1)  // the trial's
          moved = static_cast<double>(replay::norm_of_difference(a.queries[i].values,
                                                                 b.queries[i].values, Norm::l2)) /
                  a.queries[i].sensitivity;
      // The bound is not loose: without a clip, or a factor of the relation, it would be broken.
      EXPECT_GT(moved, replaced ? 0.5 : 0.9) << relation << " " << copies;
    }
  }
}

// One record far from all others, for whom both products are as large as they can be.
TEST(ThreeStages, ARecordMovesTheWorthOfANumberByWhatIsDeclared) {
  for (const char* relation : {"add_remove", "replace_one", "zero_out"}) {
    for (const std::size_t copies : {1, 2}) {
      const TrainingRequest request =
          asked(kMuch, {{"iterations", {"40"}}, {"waves", {"20"}}, {"trees", {"20"}}});
      Facts facts = facts_for(kernel_family(), schema(relation, kNumber, 2000), request);
      facts.contributions = copies;
      const bool replaced = facts.relation == Relation::replace_one;
      // Targets near the product of two columns; the last record has the opposite of it.
      auto all = records(2000, kNumber, 3), neighbour = all;
      all.insert(all.end(), copies, {.95, .95, "w", "true", "-1"});
      if (replaced) neighbour.insert(neighbour.end(), copies, {.95, .95, "w", "true", "1"});
      const auto [a, b] = recorded(facts, request, all, neighbour, copies);
      EXPECT_EQ(replay::difference(a, b), "") << relation << " " << copies;
      ASSERT_EQ(a.queries.back().values.size(), 2u);
      const double moved = static_cast<double>(replay::norm_of_difference(
                               a.queries.back().values, b.queries.back().values, Norm::l2)) /
                           a.queries.back().sensitivity;
      EXPECT_GT(moved, replaced ? 0.3 : 0.9) << relation << " " << copies;
    }
  }
}

// Noise only: without it every prediction would be off by as much as the budget is small.
TEST(ThreeStages, WhereNothingIsFoundANumberIsPredictedByItsMean) {
  const TrainingRequest request = asked(Budget::zcdp(0.03));
  const Facts facts = facts_for(kernel_family(), schema("add_remove", kNumber, 8000), request);
  std::mt19937 random(4);
  const auto drawn = [&](std::size_t count) {
    auto all = records(count, kNumber, static_cast<unsigned>(random()));
    for (Record& r : all) r.y = random() % 2 == 0 ? "0.8" : "-0.2";
    return all;
  };
  Rng rng = Rng::insecure_seed(3);
  const TrainedModel model = train(table_of(drawn(8000), *facts.encoder), facts, request, rng);
  const Evaluation reached =
      evaluate(false, model.value()->score(table_of(drawn(2000), *facts.encoder)));
  EXPECT_GT(reached.regression.r2, -0.03);
}

TEST(ThreeStages, APlanNamesAllThatIsReleased) {
  const auto words = [](const char* trees, std::size_t rows) {
    const TrainingRequest request =
        asked(Budget::zcdp(0.1), {{"waves", {"9"}}, {"trees", {trees}}});
    const Facts facts = facts_for(kernel_family(), schema("add_remove", kTwo, rows), request);
    return plan_training(kernel_family(), facts, request)->explain().words;
  };
  const std::string with = words("5", 100000), without = words("0", 100000);
  EXPECT_NE(with.find("residuals in pairs of columns"), std::string::npos) << with;
  EXPECT_NE(with.find("what the loss fell by"), std::string::npos) << with;
  EXPECT_EQ(without.find("pairs of columns"), std::string::npos) << without;
  EXPECT_NE(without.find("what the loss fell by"), std::string::npos) << without;
  EXPECT_EQ(words("5", 100).find("what the loss fell by"), std::string::npos);
}

TEST(ThreeStages, BecomeOneWhereTheNoiseOfTheFirstWouldBeTooMuch) {
  const Encoder encoder(schema("add_remove", kTwo, 100000000));
  const BinnedColumns columns(encoder);
  const auto stages = [&](Relation relation, double rho, double contributions,
                          std::optional<std::uint64_t> rounds = {}) {
    return KernelMechanisms({relation,
                             1e8,
                             contributions,
                             MarginLoss::two_classes,
                             1,
                             columns,
                             {.iterations = rounds}},
                            rho)
        .stages.size();
  };
  EXPECT_EQ(stages(Relation::add_remove, 4e-6, 1), 3u);
  EXPECT_EQ(stages(Relation::add_remove, 4e-7, 1), 1u);
  EXPECT_EQ(stages(Relation::replace_one, 4e-6, 1), 3u);
  EXPECT_EQ(stages(Relation::replace_one, 1.6e-6, 1), 1u);
  EXPECT_EQ(stages(Relation::add_remove, 4e-5, 10), 1u);
  EXPECT_EQ(stages(Relation::add_remove, 4e-6, 1, 1000), 1u);
  // No budget is refused on the way from one to three.
  for (double rho = 3e-7; rho < 1e-5; rho *= 1.02)
    for (const std::uint64_t rounds : {6u, 7u, 11u, 60u})
      EXPECT_NO_THROW(stages(Relation::add_remove, rho, 1, rounds)) << rho << " " << rounds;
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
                           std::size_t outputs, float margin = 0) const {
    const Table table = table_of(all, *facts.encoder);
    const auto source = table_in_memory(table);
    const BinnedRows rows(*source, columns);
    std::vector<float> margins(rows.size() * outputs);  // sure of the first class, not the last
    for (std::size_t i = 0; i < rows.size(); ++i) {
      margins[i * outputs + outputs - 1] = -margin;
      margins[i * outputs] = margin;
    }
    return scan.sums(rows, margins, margin_loss(facts), 0.6);
  }
};

TEST(PairScan, NoRecordMovesTheSumsByMoreThanTheRootOfThePairs) {
  for (const std::string& target : {kTwo, kThree, kNumber}) {
    const Scanned on(target);
    const std::size_t outputs = target == kThree ? 3 : 1;
    const PairScan scan(on.scales, std::vector<double>(4, 0.25), 4, outputs);
    const auto all = records(30, target);
    for (const float margin : {0.0f, 10.0f, 1e38f}) {
      const std::vector<int128> whole = on.sums(scan, all, outputs, margin);
      EXPECT_EQ(whole.size(), PairScan::pairs_of(4) * PairScan::kCells * outputs);
      double most = 0;
      for (std::size_t i = 0; i < all.size(); ++i) {
        auto without = all;
        without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
        const std::vector<int128> less = on.sums(scan, without, outputs, margin);
        double square = 0;
        for (std::size_t c = 0; c < whole.size(); ++c) {
          const double moved = static_cast<double>(whole[c] - less[c]) * PairScan::kUnit;
          square += moved * moved;
        }
        EXPECT_LE(square, 6.0) << target << margin;
        most = std::max(most, square);
      }
      EXPECT_GT(most, margin > 0 ? 5.9 : 1.0) << target << margin;
    }
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

// A slope along one column times a bowl along the other: one coordinate among 49 of noise.
TEST(PairScan, FindsSmoothPairsThatNoiseInAllCellsWouldHide) {
  const Scanned on(kNumber);
  const PairScan scan(on.scales, std::vector<double>(4, 0.25), 4, 1);
  constexpr std::size_t k = PairScan::kCuts;
  std::mt19937 rng(2);
  std::normal_distribution<double> noise(0, 20);
  std::size_t found = 0, others = 0, of_noise = 0;
  for (int trial = 0; trial < 40; ++trial) {
    std::vector<double> noisy(PairScan::pairs_of(4) * PairScan::kCells);
    for (double& x : noisy) x = noise(rng);
    of_noise += scan.credits(noisy, 20, 4000).size();
    // Pair (0, 1), Σ R² about 150², 1.2 standard deviations of noise alone.
    for (std::size_t a = 0; a < k; ++a)
      for (std::size_t b = 0; b < k; ++b) {
        const double x = (static_cast<double>(a) - 3.5) / 6.48,
                     y = (static_cast<double>(b) - 3.5) * (static_cast<double>(b) - 3.5) - 5.25;
        noisy[a * k + b] += 150 * x * y / 12.96;
      }
    for (const PairCredit& pair : scan.credits(noisy, 20, 4000))
      (pair.first == 0 && pair.second == 1 ? found : others)++;
  }
  EXPECT_GT(found, 36u);
  EXPECT_LT(others, 12u);
  EXPECT_LT(of_noise, 14u);
}

TEST(PairScan, TablesStaySmall) {
  EXPECT_EQ(PairScan::columns_of(1, 1), 1u);
  EXPECT_EQ(PairScan::columns_of(14, 1), 14u);
  EXPECT_EQ(PairScan::columns_of(500, 1), 32u);
  EXPECT_LE(PairScan::pairs_of(PairScan::columns_of(500, 100)) * PairScan::kCells * 100,
            std::size_t{1} << 18);
}

}  // namespace sotto::three_stages_test
