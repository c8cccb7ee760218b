// The clip of a number's residuals, and the sums that it follows from.
#include "sotto/models/kernel/detail/margin_loss.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/core/record_replay.hpp"
#include "sotto/models/boosting/boosting_family.hpp"
#include "sotto/models/kernel/crossed_data_test.hpp"
#include "sotto/models/kernel/kernel_family.hpp"

namespace sotto::margin_loss_test {

using crossed::kNumber;
using crossed::Record;

TEST(MarginLoss, APartOfTheReachIsBetweenZeroAndOneWhateverARecordSays) {
  for (const double clip : {0.02, 0.1, 0.5, 1.0}) {
    double most = 0;
    for (const double margin : {-1e300, -1.0, -0.3, 0.0, 0.01, 1.0, 1e300, std::nan("")}) {
      for (const float target : {-1.0f, -0.2f, 0.0f, 1.0f}) {
        const double part = part_of_reach(margin, target, reach_of(clip));
        EXPECT_GE(part, 0.0);
        EXPECT_LE(part, 1.0);
        most = std::max(most, part);
      }
    }
    EXPECT_EQ(most, 1.0) << clip;
  }
}

// What a record has depends on no other, and is what it has alone.
TEST(MarginLoss, ResidualsOfManyRecordsAreThoseOfEach) {
  for (const MarginLoss loss : {MarginLoss::two_classes, MarginLoss::number, MarginLoss::classes}) {
    const std::size_t own = loss == MarginLoss::classes ? 3 : 1, count = 301;
    std::vector<double> margins, out(count * own), curvatures(count);
    std::vector<float> targets;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t k = 0; k < own; ++k)
        margins.push_back(std::ldexp(static_cast<double>((i * 37 + k * 11) % 101) - 50,
                                     static_cast<int>(i % 12) - 6));
      targets.push_back(static_cast<float>(i % (own + (loss == MarginLoss::two_classes ? 1 : 0))));
    }
    residuals_of_all(loss, 0.6, margins, targets, out, curvatures);
    to_residual_steps(out, own);
    for (std::size_t i = 0; i < count; ++i) {
      const std::span<const double> m = std::span(margins).subspan(i * own, own);
      std::vector<double> alone(own), again(own);
      EXPECT_NEAR(curvatures[i], residuals(loss, 0.6, m, targets[i], alone), 1e-12);
      residuals_of_all(loss, 0.6, m, std::span(targets).subspan(i, 1), again);
      to_residual_steps(again, own);
      double square = 0;
      for (std::size_t k = 0; k < own; ++k) {
        EXPECT_EQ(out[i * own + k], again[k]);
        EXPECT_EQ(again[k], std::trunc(again[k]));
        square += again[k] * again[k];
        if (own == 1) {
          EXPECT_NEAR(again[k] * 0x1p-20, alone[k], 1.001 * 0x1p-20);
        }
      }
      EXPECT_LE(square, 0x1p40);
    }
  }
  std::vector<double> odd = {std::nan(""), HUGE_VAL, -1e300, 0.5};
  to_residual_steps(odd, 1);
  EXPECT_EQ(odd, (std::vector<double>{0, 0, -0x1p20, 0x1p19}));
}

TEST(MarginLoss, TheClipFollowsResidualsDownAndUp) {
  const auto settled = [](double clip, double residual) {
    for (std::size_t i = 0; i < kResidualReleases; ++i)
      clip = next_clip(clip, part_of_reach(residual, 0, reach_of(clip)));
    return clip;
  };
  for (const double residual : {0.05, 0.2, 0.5}) {
    EXPECT_NEAR(settled(1, residual), 1.2 * residual, 1e-9);
    EXPECT_NEAR(settled(0.02, residual), 1.2 * residual, 1e-9);
  }
  // Noise that hides everything: neither nothing nor more than all.
  EXPECT_NEAR(next_clip(0.3, -5), 0.1, 1e-12);
  EXPECT_EQ(next_clip(0.02, -5), 0.02);
  EXPECT_EQ(next_clip(1, 50), 1.0);
}

// One user's labels are far from those of all others, whose cells are the same: nothing can learn
// them, and the reach becomes too short for them.
TEST(MarginLoss, AnOutlierMovesTheSumsByWhatIsDeclared) {
  struct Offer {
    Family family;
    std::string method;
    OptionValues::Raw options;
  };
  const std::vector<Offer> offers = {
      {kernel_family(), "gradient", {{"iterations", {"32"}}, {"waves", {"3"}}, {"trees", {"2"}}}},
      {boosting_family(), "random", {{"trees", {"32"}}, {"batch", {"1"}}}},
      {boosting_family(), "after_kernel", {{"trees", {"32"}}, {"batch", {"1"}}}}};
  for (const Offer& offer : offers) {
    for (const char* relation : {"add_remove", "replace_one", "zero_out"}) {
      for (const std::size_t copies : {1, 2}) {
        const TrainingRequest request = {
            .kind = offer.family.name,
            .method = offer.method,
            .budget = Budget::zcdp(20000),
            .options = OptionValues(options_of(offer.family, offer.family.name), offer.options)};
        Facts facts = facts_for(offer.family, crossed::schema(relation, kNumber, 100), request);
        facts.contributions = copies;
        std::vector<Record> all(100, {0.5, 0.5, "u", "true", "0"}), neighbour = all;
        all.insert(all.end(), copies, {0.5, 0.5, "u", "true", "1"});
        if (facts.relation == Relation::replace_one)
          neighbour.insert(neighbour.end(), copies, {0.5, 0.5, "u", "true", "0"});
        const std::size_t nulls = facts.relation == Relation::zero_out ? copies : 0;
        const auto on = [&](const std::vector<Record>& data, std::size_t with) {
          return [&, with](Rng& rng) {
            Table table = crossed::table_of(data, *facts.encoder);
            for (std::size_t i = 0; i < with; ++i) crossed::add_null(table);
            return plan_training(offer.family, facts, request)
                ->run(*table_in_memory(table), rng)
                .event();
          };
        };
        const auto a = replay::record(7, on(all, 0)),
                   b = replay::record(7, on(neighbour, nulls), &a);
        EXPECT_EQ(replay::difference(a, b), "") << offer.method << " " << relation << copies;
        double moved = 0;
        for (std::size_t i = 0; i < a.queries.size(); ++i)
          if (a.queries[i].values.size() == 1)
            moved = std::max(moved, static_cast<double>(replay::norm_of_difference(
                                        a.queries[i].values, b.queries[i].values, Norm::l2)) /
                                        a.queries[i].sensitivity);
        // Not loose: without the cut at the reach the bound would be broken.
        EXPECT_GT(moved, 0.95) << offer.method << " " << relation << copies;
      }
    }
  }
}

}  // namespace sotto::margin_loss_test
