#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/record_replay.hpp"
#include "sotto/models/additive/additive_family.hpp"
#include "sotto/models/kernel/crossed_data_test.hpp"
#include "sotto/models/kernel/detail/kernel_model.hpp"
#include "sotto/models/kernel/detail/kernel_rows.hpp"
#include "sotto/models/kernel/kernel_family.hpp"

namespace sotto::kernel_test {

using crossed::add_null;
using crossed::kDelta;
using crossed::kNumber;
using crossed::kThree;
using crossed::kTwo;
using crossed::Record;
using crossed::records;
using crossed::schema;
using crossed::table_of;

TrainingRequest request_of(const std::string& kind, const Family& family, const Budget& budget,
                           const OptionValues::Raw& given = {}) {
  return {.kind = kind,
          .method = "gradient",
          .budget = budget,
          .options = OptionValues(options_of(family, kind), given)};
}

Evaluation trained(const Family& family, const std::string& target, const Budget& budget,
                   std::uint64_t seed) {
  const TrainingRequest request = request_of(family.name, family, budget);
  const Facts facts = facts_for(family, schema("add_remove", target, 8000), request);
  const Table train = table_of(records(8000, target), *facts.encoder),
              test = table_of(records(3000, target, 2), *facts.encoder);
  Rng rng = Rng::insecure_seed(seed);
  const TrainedModel model =
      plan_training(family, facts, request)->run(*table_in_memory(train), rng);
  return evaluate(target != kNumber, model.value()->score(test));
}

TEST(Kernel, LearnsWhatTwoColumnsSayTogether) {
  const Budget budget = Budget::approximate(3, kDelta);
  EXPECT_GT(trained(kernel_family(), kTwo, budget, 1).classification.accuracy, 0.85);
  EXPECT_GT(trained(kernel_family(), kThree, budget, 1).classification.accuracy, 0.70);
  EXPECT_GT(trained(kernel_family(), kNumber, budget, 1).regression.r2, 0.75);
}

TEST(Additive, LearnsWhatEachColumnSaysAndNoMore) {
  const Budget budget = Budget::approximate(3, kDelta);
  const double additive = trained(additive_family(), kTwo, budget, 1).classification.accuracy;
  EXPECT_GT(additive, 0.55);
  EXPECT_LT(additive, 0.75);
}

TEST(Additive, PairsSeeWhatTwoColumnsSayTogether) {
  const Family family = additive_family();
  const auto accuracy = [&](const std::string& pairs) {
    const TrainingRequest request =
        request_of("additive", family, Budget::approximate(3, kDelta), {{"pairs", {pairs}}});
    const Facts facts = facts_for(family, schema("add_remove", kTwo, 8000), request);
    const Table train = table_of(records(8000, kTwo), *facts.encoder),
                test = table_of(records(3000, kTwo, 2), *facts.encoder);
    Rng rng = Rng::insecure_seed(1);
    const auto plan = plan_training(family, facts, request);
    const TrainedModel model = plan->run(*table_in_memory(train), rng);
    Facts again = facts;
    EXPECT_EQ(load_kernel(model.value()->files(), again)->apply(test), model.value()->apply(test));
    EXPECT_LE(epsilon(Spec{facts.relation, {*model.event()}}, Delta(kDelta)).upper, 3 + 1e-9);
    return evaluate(true, model.value()->score(test)).classification.accuracy;
  };
  EXPECT_GT(accuracy("6"), accuracy("0") + 0.1);
  accuracy("1000");  // more than there are
}

// A step function with a jump: the curve shows it, and the band says how sure it is.
TEST(Additive, ItsPortraitShowsWhatEachColumnAdds) {
  const Family family = additive_family();
  const TrainingRequest request = request_of("additive", family, Budget::approximate(3, kDelta));
  const Facts facts = facts_for(family, schema("add_remove", kNumber, 8000), request);
  std::vector<Record> all = records(8000, kNumber);
  for (Record& r : all) r.y = r.a > 0.5 ? "0.6" : "-0.2";
  const Table train = table_of(all, *facts.encoder);
  Rng rng = Rng::insecure_seed(1);
  const TrainedModel model =
      plan_training(family, facts, request)->run(*table_in_memory(train), rng);
  const Portrait portrait = model.value()->portrait();
  ASSERT_EQ(portrait.curves.size(), 4u);
  EXPECT_EQ(portrait.curves[0].column, "a");
  EXPECT_EQ(portrait.curves[2].points[1].label, "v");
  double low = 0, high = 0;
  for (const PortraitCurve::Point& p : portrait.curves[0].points) {
    EXPECT_GE(p.x, -1);
    EXPECT_LE(p.x, 1);
    EXPECT_GT(p.spread, 0);
    (p.x > 0.55 ? high : low) += p.value;
  }
  EXPECT_GT(high, 0);
  EXPECT_LT(low, 0);
}

// What two columns say together: one curve for each third of the first of them.
TEST(Additive, ItsPortraitShowsPairs) {
  const Family family = additive_family();
  const TrainingRequest request =
      request_of("additive", family, Budget::approximate(8, kDelta), {{"pairs", {"6"}}});
  const Facts facts = facts_for(family, schema("add_remove", kNumber, 8000), request);
  const Table train = table_of(records(8000, kNumber), *facts.encoder);
  Rng rng = Rng::insecure_seed(1);
  const TrainedModel model =
      plan_training(family, facts, request)->run(*table_in_memory(train), rng);
  const Portrait portrait = model.value()->portrait();
  std::vector<const PortraitCurve*> crossed;  // a and b, whose product is the label
  for (const PortraitCurve& curve : portrait.curves)
    if (curve.column.starts_with("a (b ") || curve.column.starts_with("b (a "))
      crossed.push_back(&curve);
  ASSERT_EQ(crossed.size(), 3u);
  for (const PortraitCurve* curve : crossed) {
    ASSERT_EQ(curve->points.size(), 4u) << curve->column;
    EXPECT_LT(curve->points[0].x, -0.5);
    EXPECT_GT(curve->points[3].x, 0.5);
    EXPECT_GT(curve->points[0].spread, 0);
  }
  const auto rise = [](const PortraitCurve& c) { return c.points[3].value - c.points[0].value; };
  EXPECT_LT(rise(*crossed[0]), 0);  // where the other is negative the product falls
  EXPECT_GT(rise(*crossed[2]), 0);
}

// Random trees mix columns: there is no curve of a pair.
TEST(Kernel, HasAPortraitOfMainEffectsOnly) {
  const Family family = kernel_family();
  for (const char* trees : {"0", "3"}) {
    const TrainingRequest request = request_of("kernel", family, Budget::approximate(1, kDelta),
                                               {{"waves", {"0"}}, {"trees", {trees}}});
    const Facts facts = facts_for(family, schema("add_remove", kTwo, 200), request);
    const Table train = table_of(records(200, kTwo), *facts.encoder);
    Rng rng = Rng::insecure_seed(1);
    const TrainedModel model =
        plan_training(family, facts, request)->run(*table_in_memory(train), rng);
    EXPECT_EQ(model.value()->portrait().curves.size(), *trees == '0' ? 4u : 0u);
  }
}

TEST(Kernel, EventCostsTheBudgetAndIsKnownBeforeData) {
  for (const char* relation : {"add_remove", "replace_one", "zero_out"}) {
    for (const std::string& target : {kTwo, kThree, kNumber}) {
      const Family family = kernel_family();
      const TrainingRequest request = request_of("kernel", family, Budget::approximate(1, kDelta));
      const Facts facts = facts_for(family, schema(relation, target, 5000), request);
      const auto plan = plan_training(family, facts, request);
      const Bound bound = epsilon(Spec{facts.relation, {*plan->event()}}, Delta(kDelta));
      EXPECT_LE(bound.upper, 1 + 1e-9);
      EXPECT_GT(bound.upper, 0.97);
    }
  }
}

// Every release on neighbours, with records at every edge.
TEST(Kernel, ReplayOnNeighboursStaysWithinTheSensitivity) {
  for (const char* relation : {"add_remove", "replace_one"}) {
    for (const std::string& target : {kTwo, kThree, kNumber}) {
      const Family family = kernel_family();
      const TrainingRequest request =
          request_of("kernel", family, Budget::approximate(2, kDelta),
                     {{"iterations", {"8"}}, {"waves", {"9"}}, {"trees", {"5"}}});
      const Facts facts = facts_for(family, schema(relation, target, 40), request);
      const auto all = records(40, target);
      for (std::size_t i = 0; i < 4; ++i) {
        auto neighbour = all;
        if (facts.relation == Relation::add_remove) {
          neighbour.erase(neighbour.begin() + static_cast<std::ptrdiff_t>(i));
        } else {
          neighbour[i] = {i % 2 ? 1e9 : -1e9, i % 2 ? -1.0 : 1.0, "w", "true",
                          target == kTwo ? "false" : "1"};
        }
        const auto on = [&](const std::vector<Record>& data) {
          return [&](Rng& rng) {
            const Table table = table_of(data, *facts.encoder);
            return plan_training(family, facts, request)->run(*table_in_memory(table), rng).event();
          };
        };
        EXPECT_EQ(replay::check_neighbours(on(all), on(neighbour)), "");
      }
    }
  }
}

// One record's contribution, for parameters and shares that make it as long as can be.
TEST(KernelRows, NoRecordMovesTheSumByMoreThanOne) {
  const Encoder encoder(schema("add_remove", kTwo, 10));
  const BinnedColumns columns(encoder);
  std::mt19937 seeds(7);
  for (int trial = 0; trial < 40; ++trial) {
    std::vector<ColumnScale> scales(columns.columns());
    std::vector<bool> numeric;
    for (std::size_t j = 0; j < scales.size(); ++j) {
      const std::size_t levels = columns.levels(j);
      double total = 0, before = 0;
      scales[j].share.resize(levels);
      for (double& share : scales[j].share)
        total += share = seeds() % 5 == 0 ? static_cast<double>(seeds() % 100) : 0.01;
      // A spike brings the finest layer in.
      if (trial % 2 == 1) total += scales[j].share[levels / 3] += total;
      for (double& share : scales[j].share) {
        share /= total;
        scales[j].start.push_back(before);
        scales[j].width.push_back(share);
        before += share;
      }
      numeric.push_back(columns.is_numeric(j));
    }
    Rng rng = Rng::insecure_seed(static_cast<std::uint64_t>(trial));
    FeatureDesign design = FeatureDesign::draw(
        {.fourier = 7, .trees = 3, .main = 0.3, .fourier_part = 0.3, .tree_part = 0.4}, scales,
        numeric, drawing_shares(scales), {}, rng);
    for (float& mean : design.fourier_means) mean = static_cast<float>(seeds() % 200) / 100 - 1;
    const FeatureMap map(design);
    for (const Record& r : records(20, kTwo, static_cast<unsigned>(trial))) {
      const Table table = table_of({r}, encoder);
      const BinnedRows one(*table_in_memory(table), columns);
      const FeatureRows features(one, design);
      long double wave_square = 0, leaves = 0;
      for (const int128 x : features.wave_sums())
        wave_square += static_cast<long double>(x) * static_cast<long double>(x);
      for (const int128 x : features.leaf_counts()) leaves += static_cast<long double>(x);
      EXPECT_LE(std::sqrt(wave_square) * 0x1p-15L, std::sqrt(7.0L));
      EXPECT_GT(std::sqrt(wave_square) * 0x1p-15L, 0.99L * std::sqrt(7.0L));
      EXPECT_EQ(leaves, 3);
      const KernelRows rows(features, map, one);
      const std::vector<std::vector<double>> theta(2, std::vector<double>(map.dimension(), 3.0));
      for (const double slope : {1e100, 1.0, -0.3}) {
        const std::vector<int128> sum = rows.weighted_sum(
            theta,
            [&](std::span<const double>, std::span<const float> targets, std::span<double> out) {
              ASSERT_EQ(targets.size(), 1u);
              out[0] = slope;
              out[1] = -slope / 2;
            });
        long double square = 0;
        for (const int128 x : sum)
          square += static_cast<long double>(x) * static_cast<long double>(x);
        const long double norm = std::sqrt(square) * KernelRows::kUnit;
        EXPECT_LE(norm, 1.0L);
        if (std::abs(slope) >= 1) {
          EXPECT_GT(norm, 0.99L);
        }
      }
    }
  }
}

TEST(OneHotBlock, LayersAddUpLikeTheVectorsTheyStandFor) {
  const OneHotBlock block({{{0.1, 0.2, 0.05, 0.05, 0.3, 0.1, 0.1, 0.1}, {{1, 0.4}, {2, 0.7}, {4}}},
                           {{0.5, 0.25, 0.25}, {{1, 0}, {2, 1}}}},
                          0.01, 0.9);
  ASSERT_EQ(block.size(), 8u + 4 + 2 + 3 + 2);
  ASSERT_EQ(block.levels(), 11u);
  std::vector<double> theta(block.size());
  for (std::size_t c = 0; c < theta.size(); ++c) theta[c] = std::sin(static_cast<double>(c));
  const OneHotBlock::Products products = block.products(theta);
  std::vector<std::int64_t> all(block.levels());
  std::vector<int128> of_all(block.size()), one_by_one(block.size());
  std::int64_t records = 0;
  for (std::uint16_t a = 0; a < 8; ++a) {
    for (std::uint16_t b = 0; b < 3; ++b, ++records) {
      const std::uint16_t levels[] = {a, b};
      std::vector<std::int64_t> own(block.levels());
      block.add(std::span<const std::uint16_t>(levels), 1, own);
      block.add(std::span<const std::uint16_t>(levels), 1, all);
      std::vector<int128> v(block.size());
      block.expand(own, 1, v);
      double square = 0, product = 0;
      for (std::size_t c = 0; c < v.size(); ++c) {
        const double x = static_cast<double>(v[c]) * 0x1p-16;
        square += x * x;
        product += theta[c] * x;
        one_by_one[c] += v[c];
      }
      const float factor = block.factor(std::span<const std::uint16_t>(levels));
      EXPECT_LE(std::sqrt(square) * static_cast<double>(factor), 0.9);
      EXPECT_NEAR(std::sqrt(square) * static_cast<double>(factor), 0.9, 1e-6);
      EXPECT_NEAR(block.product(products, std::span<const std::uint16_t>(levels), factor),
                  product * static_cast<double>(factor), 1e-5);
    }
  }
  block.expand(all, records, of_all);
  EXPECT_TRUE(of_all == one_by_one);
}

TEST(FeatureDesign, OfOlderFilesHasOneLayerAndColumnsAlike) {
  ColumnScale scale{.start = {0, 0.5}, .width = {0.5, 0.5}, .share = {0.5, 0.5}};
  Rng rng = Rng::insecure_seed(1);
  nlohmann::ordered_json json =
      to_json(FeatureDesign::draw({}, {scale, scale}, {true, false}, {0.9, 0.1}, {}, rng));
  EXPECT_EQ(feature_design_from_json(json).weights[0], 1);
  EXPECT_NEAR(feature_design_from_json(json).weights[1], 1.0 / 3, 1e-12);
  for (const std::vector<int>& parts :
       std::vector<std::vector<int>>{{}, {0}, {32, 5}, {8, 32}, {8192}}) {
    json["main_parts"] = parts;
    EXPECT_THROW(feature_design_from_json(json), DataError);
  }
  json["main_parts"] = {1e300};
  EXPECT_THROW(feature_design_from_json(json), DataError);
  json.erase("main_parts");
  for (auto& column : json["columns"]) column.erase("weight"), column.erase("fine");
  const FeatureDesign old = feature_design_from_json(json);
  EXPECT_EQ(FeatureMap(old).dimension(), 1u + 16 + 2);
  EXPECT_EQ(old.weights, (std::vector<double>{1, 1}));
}

TEST(Kernel, ItsFilesLoadAgainAndDamagedOnesAreRefused) {
  const Family family = kernel_family();
  const TrainingRequest request =
      request_of("kernel", family, Budget::approximate(2, kDelta),
                 {{"iterations", {"5"}}, {"waves", {"4"}}, {"trees", {"3"}}});
  Facts facts = facts_for(family, schema("add_remove", kThree, 50), request);
  const Table table = table_of(records(50, kThree), *facts.encoder);
  Rng rng = Rng::insecure_seed(1);
  const TrainedModel model =
      plan_training(family, facts, request)->run(*table_in_memory(table), rng);
  const Files files = model.value()->files();
  const auto loaded = load_kernel(files, facts);
  EXPECT_EQ(loaded->apply(table), model.value()->apply(table));
  const std::string text = files.at("model.json");
  for (const std::string from : {"\"fourier\":4", "\"trees\":3", "\"schema\":1"}) {
    std::string broken = text;
    broken.replace(broken.find(from) + from.size() - 1, 1, "9");
    EXPECT_THROW(load_kernel({{"model.json", broken}}, facts), DataError) << from;
  }
  EXPECT_THROW(load_kernel({{"model.json", text.substr(0, 100)}}, facts), DataError);
  auto weightless = nlohmann::ordered_json::parse(text);
  for (auto& column : weightless["parts"][0]["features"]["columns"]) column["weight"] = 0;
  EXPECT_THROW(load_kernel({{"model.json", weightless.dump()}}, facts), DataError);
}

TEST(Kernel, ANullRecordContributesNothing) {
  const Family family = kernel_family();
  const TrainingRequest request =
      request_of("kernel", family, Budget::approximate(2, kDelta),
                 {{"iterations", {"5"}}, {"waves", {"4"}}, {"trees", {"3"}}});
  const Facts facts = facts_for(family, schema("zero_out", kNumber, 50), request);
  Table table = table_of(records(50, kNumber), *facts.encoder);
  const auto trained_on = [&] {
    Rng rng = Rng::insecure_seed(1);
    return plan_training(family, facts, request)
        ->run(*table_in_memory(table), rng)
        .value()
        ->files();
  };
  const Files without = trained_on();
  add_null(table);
  EXPECT_EQ(trained_on(), without);
}

TEST(Kernel, RefusesAPureEpsilon) {
  const Family family = kernel_family();
  const TrainingRequest request = request_of("kernel", family, Budget::pure(1));
  const Facts facts = facts_for(family, schema("add_remove", kTwo, 50), request);
  EXPECT_THROW(plan_training(family, facts, request), InvalidArgument);
}

TEST(Kernel, DegenerateDataGivesFinitePredictions) {
  const Family family = kernel_family();
  for (const std::string& target : {kTwo, kThree, kNumber}) {
    const TrainingRequest request = request_of("kernel", family, Budget::approximate(1, kDelta));
    const Facts facts = facts_for(family, schema("add_remove", target, 30), request);
    const std::string y = target == kTwo ? "true" : "1";
    for (const auto& data :
         {std::vector<Record>{}, std::vector<Record>(30, {0, 0, "u", "true", y})}) {
      const Table table = table_of(data, *facts.encoder);
      Rng rng = Rng::insecure_seed(3);
      const TrainedModel model =
          plan_training(family, facts, request)->run(*table_in_memory(table), rng);
      const Table other = table_of(records(10, target), *facts.encoder);
      for (const double x : model.value()->apply(other)) EXPECT_TRUE(std::isfinite(x));
    }
  }
}

}  // namespace sotto::kernel_test
