// Trees, forests, boosting, additive and kernel models, every method of each, held to the same
// promises: neighbours, users, mutants, audits, degenerate data, agreement without noise.
#include <gtest/gtest.h>

#include <cmath>

#include "sotto/core/record_replay.hpp"
#include "sotto/models/additive/additive_family.hpp"
#include "sotto/models/boosting/boosting_family.hpp"
#include "sotto/models/forest/forest_family.hpp"
#include "sotto/models/kernel/crossed_data_test.hpp"
#include "sotto/models/kernel/kernel_family.hpp"
#include "sotto/models/tree/tree_family.hpp"
#include "support/audit_bound.hpp"

namespace sotto::families_of_tables_test {

using crossed::kDelta;
using crossed::kNumber;
using crossed::kThree;
using crossed::kTwo;
using crossed::Record;
using crossed::records;
using crossed::table_of;

// A family, a method of it, and options that keep it small.
struct Offer {
  Family family;
  std::string method;
  OptionValues::Raw options;

  std::string name() const { return family.name + " " + method; }
  TrainingRequest request(const std::optional<Budget>& budget) const {
    return {.kind = family.name,
            .method = budget ? method : "none",
            .budget = budget,
            .options = OptionValues(options_of(family, family.name), options)};
  }
};

std::vector<Offer> small_offers() {
  const OptionValues::Raw forest = {{"trees", {"2"}}, {"depth", {"2"}}};
  return {
      {tree_family(), "exponential", {{"depth", {"2"}}}},
      {tree_family(), "histogram", {{"depth", {"2"}}}},
      {tree_family(), "sulq", {{"depth", {"2"}}}},
      {tree_family(), "random", {{"depth", {"2"}}}},
      {forest_family(), "exponential", forest},
      {forest_family(), "histogram", forest},
      {forest_family(), "random", forest},
      {forest_family(), "random", {{"trees", {"2"}}, {"depth", {"2"}}, {"records", {"disjoint"}}}},
      {boosting_family(), "random", {{"trees", {"6"}}, {"batch", {"2"}}}},
      {additive_family(), "gradient", {{"iterations", {"4"}}}},
      {additive_family(), "gradient", {{"iterations", {"4"}}, {"pairs", {"2"}}}},
      {kernel_family(), "gradient", {{"iterations", {"8"}}, {"waves", {"3"}}, {"trees", {"2"}}}}};
}

// users: how many records of each count; 1 for records as the unit.
Facts facts_of(const Offer& offer, const TrainingRequest& asked, const std::string& relation,
               const std::string& target, std::size_t rows, std::uint64_t users = 1) {
  Schema schema = crossed::schema(relation, target, rows);
  if (users > 1) {
    schema.unit = Unit::user;
    schema.max_contributions = users;
    ColumnSchema id;
    id.name = "id";
    id.type = ColumnType::text;
    id.role = Role::user;
    schema.columns.push_back(id);
  }
  return facts_for(offer.family, std::move(schema), asked);
}

TrainedModel train(const Offer& offer, const Facts& facts, const TrainingRequest& asked,
                   const std::vector<Record>& data, Rng& rng) {
  const Table table = table_of(data, *facts.encoder);
  return plan_training(offer.family, facts, asked)->run(*table_in_memory(table), rng);
}

std::string difference(TrainingPlan& plan, const Facts& facts, const std::vector<Record>& a,
                       const std::vector<Record>& b) {
  const auto on = [&](const std::vector<Record>& data) {
    return [&](Rng& rng) {
      const Table table = table_of(data, *facts.encoder);
      return plan.run(*table_in_memory(table), rng).event();
    };
  };
  return replay::check_neighbours(on(a), on(b));
}

std::string label(const std::string& target, std::size_t i) {
  if (target == kTwo) return i % 2 ? "true" : "false";
  return target == kThree ? std::to_string(i % 3) : (i % 2 ? "1" : "-1");
}

// All tables of up to two records over eight, and each with one of the eight more (or instead of
// the first): every noised query of every run stays within the sensitivity that is claimed.
TEST(FamiliesOfTables, NoNeighbourOfATinyTableMovesAQueryFurtherThanClaimed) {
  const Budget budget = Budget::approximate(1, kDelta);
  for (const Offer& offer : small_offers()) {
    for (const std::string& target : {kTwo, kNumber}) {
      std::vector<Record> domain;
      for (std::size_t i = 0; i < 8; ++i)
        domain.push_back(
            {i & 1 ? 1.0 : -1.0, 0.3, i & 2 ? "u" : "w", "true", label(target, i / 4)});
      for (const char* relation : {"add_remove", "replace_one"}) {
        const TrainingRequest asked = offer.request(budget);
        const Facts facts = facts_of(offer, asked, relation, target, 2);
        const auto plan = plan_training(offer.family, facts, asked);
        for (std::size_t k = 0; k < 64; k += 5) {  // pairs of records, in a sieve
          const std::vector<Record> pair = {domain[k % 8], domain[k / 8]};
          for (std::size_t more = k % 3; more < 8; more += 3) {
            std::vector<Record> neighbour = pair;
            if (facts.relation == Relation::add_remove)
              neighbour.push_back(domain[more]);
            else
              neighbour[0] = domain[more];
            ASSERT_EQ(difference(*plan, facts, pair, neighbour), "")
                << offer.name() << " " << relation << " " << k << " " << more;
          }
        }
      }
    }
  }
}

// A user with two records is the unit: both come and go together. A plan that counts one record of
// a user claims half of that, which the comparison must see in each family.
TEST(FamiliesOfTables, TwoRecordsOfAUserAreCoveredAndAPlanThatCountsOneIsCaught) {
  const Budget budget = Budget::approximate(1, kDelta);
  for (const Offer& offer : small_offers()) {
    for (const std::string& target : {kTwo, kThree, kNumber}) {
      for (const char* relation : {"add_remove", "replace_one"}) {
        const TrainingRequest asked = offer.request(budget);
        std::vector<Record> all = records(30, target), neighbour = all;
        const Record extreme = {1, -1, "w", "true", label(target, 1)},
                     opposite = {-1, 1, "u", "false", label(target, 0)};
        all.insert(all.end(), 2, extreme);
        if (std::string(relation) == "replace_one") neighbour.insert(neighbour.end(), 2, opposite);
        const Facts two = facts_of(offer, asked, relation, target, 32, 2),
                    one = facts_of(offer, asked, relation, target, 32);
        EXPECT_EQ(difference(*plan_training(offer.family, two, asked), two, all, neighbour), "")
            << offer.name() << " " << relation;
        EXPECT_NE(difference(*plan_training(offer.family, one, asked), one, all, neighbour), "")
            << offer.name() << " " << relation;
      }
    }
  }
}

// A replaced record may change its tree: two contributions, which a plan for add_remove does not
// pay for.
TEST(FamiliesOfTables, AReplacedRecordIsNotCoveredByAPlanForAddedOnes) {
  const Budget budget = Budget::approximate(1, kDelta);
  for (const Offer& offer : small_offers()) {
    const TrainingRequest asked = offer.request(budget);
    const Facts added = facts_of(offer, asked, "add_remove", kTwo, 30),
                replaced = facts_of(offer, asked, "replace_one", kTwo, 30);
    std::size_t caught = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      std::vector<Record> all = records(30, kTwo), neighbour = all;
      all[i] = {1, -1, "w", "true", "true"};
      neighbour[i] = {-1, 1 - 0.1 * static_cast<double>(i), "u", "false", "false"};
      caught += difference(*plan_training(offer.family, added, asked), added, all, neighbour) != "";
      EXPECT_EQ(difference(*plan_training(offer.family, replaced, asked), replaced, all, neighbour),
                "")
          << offer.name();
    }
    EXPECT_GT(caught, 0u) << offer.name();
  }
}

// Many models of one record, or of none: what an observer of their predictions can prove stays
// below the claim. The noise of 1000 times the budget must be caught.
TEST(FamiliesOfTables, NoMethodLeaksMoreThanItClaimsAndTooLittleNoiseIsCaught) {
  constexpr double kClaim = 0.5;
  constexpr std::size_t kRuns = 400;
  for (const Offer& offer : small_offers()) {
    const auto lower = [&](double epsilon) {
      const TrainingRequest asked = offer.request(Budget::approximate(epsilon, kDelta));
      const Facts facts = facts_of(offer, asked, "add_remove", kTwo, 1);
      const Record one = {1, 1, "w", "true", "true"};
      const Table with = table_of({one}, *facts.encoder), without = table_of({}, *facts.encoder),
                  probe = table_of({one, {-1, -1, "u", "false", "true"}}, *facts.encoder);
      const auto plan = plan_training(offer.family, facts, asked);
      Rng rng = Rng::insecure_seed(11);
      const auto models = [&](const Table& table) {
        std::vector<std::vector<double>> all;
        for (std::size_t i = 0; i < kRuns; ++i)
          all.push_back(plan->run(*table_in_memory(table), rng).value()->apply(probe));
        return all;
      };
      const auto a = models(with), b = models(without);
      return std::max(test::epsilon_lower(a, b, kDelta), test::epsilon_lower(b, a, kDelta));
    };
    EXPECT_LE(lower(kClaim), kClaim) << offer.name();
    EXPECT_GT(lower(1000 * kClaim), kClaim) << offer.name();
  }
}

TEST(FamiliesOfTables, DegenerateDataTrainsAndPredictsUnderEveryRelation) {
  for (Offer offer : small_offers()) {
    if (offer.family.name == "tree" || offer.family.name == "forest")
      offer.options["depth"] = {"6"};  // more leaves than records
    for (const std::string& target : {kTwo, kThree, kNumber}) {
      const std::string y = label(target, 1), z = label(target, 0);
      std::vector<Record> constant = records(12, target), two_classes = constant;
      for (Record& r : constant) r.a = r.b = 0.5, r.c = "v", r.d = "false";
      for (std::size_t i = 0; i < two_classes.size(); ++i) two_classes[i].y = i % 2 ? y : z;
      std::vector<Record> one_class = records(12, target);
      for (Record& r : one_class) r.y = y;
      const std::vector<std::vector<Record>> all = {
          {},                                                       // nothing
          {{0.1, 0.2, "u", "true", y}},                             // fewer records than leaves
          one_class,                                                // a class alone
          two_classes,                                              // a class without records
          constant,                                                 // features that say nothing
          std::vector<Record>(12, {0.1, 0.2, "u", "true", y}),      // duplicates only
          std::vector<Record>(12, {1e300, -1e300, "?", "no", y})};  // beyond what is declared
      for (const char* relation : {"add_remove", "replace_one", "zero_out"}) {
        const TrainingRequest asked = offer.request(Budget::approximate(1, kDelta));
        const Facts facts = facts_of(offer, asked, relation, target, 12);
        const Table probe = table_of(records(5, target), *facts.encoder);
        for (std::size_t i = 0; i < all.size(); ++i) {
          Rng rng = Rng::insecure_seed(3);
          const auto model = train(offer, facts, asked, all[i], rng);
          for (const double x : model.value()->apply(probe))
            EXPECT_TRUE(std::isfinite(x)) << offer.name() << " " << i;
        }
      }
    }
  }
}

// With so much budget that noise vanishes a method is as good as without any.
TEST(FamiliesOfTables, AHugeBudgetGivesWhatNoNoiseGives) {
  for (Offer offer : small_offers()) {
    if (offer.method == "sulq" || offer.method == "histogram") continue;  // another criterion
    if (offer.family.name == "tree" || offer.family.name == "forest") {
      if (offer.method == "random") continue;  // "none" asks the best questions
      offer.options["depth"] = {"4"};
    } else {
      offer.options.erase("iterations");
      // Few random features would make one draw much better than another.
      if (offer.family.name == "kernel") offer.options.erase("waves"), offer.options.erase("trees");
      if (offer.family.name == "boosting") offer.options["trees"] = {"200"};
    }
    for (const std::string& target : {kTwo, kNumber}) {
      const auto quality = [&](const std::optional<Budget>& budget) {
        const TrainingRequest asked = offer.request(budget);
        const Facts facts = facts_of(offer, asked, "add_remove", target, 3000);
        Rng rng = Rng::insecure_seed(5);
        const TrainedModel model = train(offer, facts, asked, records(3000, target), rng);
        const Evaluation e =
            evaluate(target == kTwo,
                     model.value()->score(table_of(records(2000, target, 2), *facts.encoder)));
        return target == kTwo ? e.classification.accuracy : e.regression.r2;
      };
      EXPECT_NEAR(quality(Budget::zcdp(1e6)), quality({}), 0.05) << offer.name();
    }
  }
}

}  // namespace sotto::families_of_tables_test
