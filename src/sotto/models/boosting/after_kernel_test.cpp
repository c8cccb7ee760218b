// Trees that go on from a kernel model: --model boosting --method after_kernel.
#include <gtest/gtest.h>

#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/core/record_replay.hpp"
#include "sotto/models/boosting/boosting_family.hpp"
#include "sotto/models/boosting/detail/boosting_model.hpp"
#include "sotto/models/kernel/crossed_data_test.hpp"
#include "sotto/models/kernel/kernel_family.hpp"

namespace sotto::after_kernel_test {

using crossed::kDelta;
using crossed::kNumber;
using crossed::kThree;
using crossed::kTwo;
using crossed::Record;
using crossed::records;
using crossed::table_of;

TrainingRequest request(double epsilon, const std::string& method,
                        const OptionValues::Raw& given = {}) {
  return {.kind = "boosting",
          .method = method,
          .budget = Budget::approximate(epsilon, kDelta),
          .options = OptionValues(options_of(boosting_family(), "boosting"), given)};
}

Facts facts_of(const std::string& relation, const std::string& target, std::size_t rows,
               const TrainingRequest& asked) {
  return facts_for(boosting_family(), crossed::schema(relation, target, rows), asked);
}

TrainedModel train(const Table& table, const Facts& facts, const TrainingRequest& asked, Rng& rng) {
  return plan_training(boosting_family(), facts, asked)->run(*table_in_memory(table), rng);
}

TEST(AfterKernel, LearnsWhatTwoColumnsSayTogether) {
  for (const std::string& target : {kTwo, kNumber}) {
    const TrainingRequest asked = request(3, "after_kernel");
    const Facts facts = facts_of("add_remove", target, 8000, asked);
    Rng rng = Rng::insecure_seed(1);
    const TrainedModel model =
        train(table_of(records(8000, target), *facts.encoder), facts, asked, rng);
    const Evaluation reached =
        evaluate(target != kNumber,
                 model.value()->score(table_of(records(3000, target, 2), *facts.encoder)));
    EXPECT_GT(target == kTwo ? reached.classification.accuracy : reached.regression.r2, 0.8);
  }
}

TEST(AfterKernel, BothPartsTogetherCostTheBudget) {
  for (const char* relation : {"add_remove", "replace_one", "zero_out"}) {
    for (const auto& [target, rows] : std::vector<std::pair<std::string, std::size_t>>{
             {kTwo, 5000}, {kThree, 5000}, {kNumber, 5000}, {kTwo, 1000000}, {kNumber, 100000}}) {
      const TrainingRequest asked = request(1, "after_kernel");
      const Facts facts = facts_of(relation, target, rows, asked);
      const auto plan = plan_training(boosting_family(), facts, asked);
      const Bound bound = epsilon(Spec{facts.relation, {*plan->event()}}, Delta(kDelta));
      EXPECT_LE(bound.upper, 1 + 1e-9);
      EXPECT_GT(bound.upper, 0.97);
      EXPECT_EQ(plan->explain().method, "after_kernel");
    }
  }
}

// The margins that the trees go on from are private: what one record adds to the trees' sums must
// stay bounded whatever the kernel model said of it.
TEST(AfterKernel, ReplayOnNeighboursStaysWithinTheSensitivity) {
  for (const char* relation : {"add_remove", "replace_one", "zero_out"}) {
    for (const std::string& target : {kTwo, kThree, kNumber}) {
      const TrainingRequest asked =
          request(50, "after_kernel", {{"trees", {"12"}}, {"batch", {"3"}}});
      const Facts facts = facts_of(relation, target, 40, asked);
      const auto all = records(40, target);
      const auto on = [&](const std::vector<Record>& data, bool null) {
        return [&facts, &asked, &data, null](Rng& rng) {
          Table table = table_of(data, *facts.encoder);
          if (null) crossed::add_null(table);
          return train(table, facts, asked, rng).event();
        };
      };
      for (std::size_t i = 0; i < 2; ++i) {
        auto neighbour = all;
        if (facts.relation == Relation::replace_one)
          neighbour[i] = {i % 2 ? 1e9 : -1e9, i % 2 ? -1.0 : 1.0, "w", "true",
                          target == kTwo ? "false" : "1"};
        else
          neighbour.erase(neighbour.begin() + static_cast<std::ptrdiff_t>(i));
        const bool null = facts.relation == Relation::zero_out;
        EXPECT_EQ(replay::check_neighbours(on(all, false), on(neighbour, null)), "")
            << relation << " " << target;
      }
    }
  }
}

// Where the trial of the kernel model finds nothing, for some noise, trees take most of its last
// rounds, and main effects what is left where trees find nothing either and the model is not mostly
// noise. Neighbours see the same, and no more is spent.
struct TakeOver {
  std::string relation, target;
  std::uint64_t users = 1;  // records of each
  bool own_trees = true;
};

std::vector<TakeOver> take_overs() {
  return {
      {"add_remove", kNumber},        {"replace_one", kNumber},       {"zero_out", kNumber},
      {"add_remove", kTwo},           {"replace_one", kTwo},          {"zero_out", kTwo},
      {"add_remove", kTwo, 2},        {"replace_one", kTwo, 2},       {"add_remove", kNumber, 2},
      {"add_remove", kTwo, 1, false}, {"replace_one", kTwo, 2, false}};
}

TEST(AfterKernel, TreesThatTakeOverStayWithinTheSensitivityAndTheEvent) {
  constexpr std::size_t kOwn = 4, kTaken = 108, kTried = 37;  // rounds; 8000 records per unit
  for (const TakeOver& c : take_overs()) {
    SCOPED_TRACE(c.relation + " " + c.target + std::to_string(c.users));
    OptionValues::Raw given = {{"batch", {"3"}}};
    if (c.own_trees) given["trees"] = {"12"};
    TrainingRequest asked = request(1, "after_kernel", given);
    // With which forty records are many, and a trial of zeros is small beside its noise.
    const bool replaced = c.relation == "replace_one";
    const double further = (replaced ? 2.0 : 1.0) * static_cast<double>(c.users),
                 rho = 20000 * further * further;
    asked.budget = Budget::zcdp(rho);
    Schema schema = crossed::schema(c.relation, c.target, 40);
    if (c.users > 1) {
      schema.unit = Unit::user;
      schema.max_contributions = c.users;
      ColumnSchema id;
      id.name = "id";
      id.type = ColumnType::text;
      id.role = Role::user;
      schema.columns.push_back(id);
    }
    const Facts facts = facts_for(boosting_family(), std::move(schema), asked);
    std::vector<Record> all = records(40, c.target);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (c.target == kNumber)
        all[i].y = "0";
      else
        all[i] = {0.1, 0.2, "u", "true", i / 2 % 2 ? "true" : "false"};
    }
    std::vector<Record> neighbour = all;
    for (std::uint64_t i = 0; i < c.users; ++i) {
      if (replaced)
        neighbour[i] = {-1e9, 1.0, "w", "true", c.target == kNumber ? "1" : "true"};
      else
        neighbour[0].y = c.target == kNumber ? "1" : "true", all.erase(all.begin());
    }
    if (!replaced && c.users > 1) neighbour[1] = neighbour[0];
    const bool null = facts.relation == Relation::zero_out;
    const auto on = [&](const std::vector<Record>& data, bool with_null) {
      return [&, with_null](Rng& rng) {
        Table table = table_of(data, *facts.encoder);
        if (with_null) crossed::add_null(table);
        return train(table, facts, asked, rng).event();
      };
    };
    const std::size_t own = c.own_trees ? kOwn : 0;
    bool taken_over = false, given_back = c.target == kNumber;
    for (std::uint64_t seed = 1; seed < 60 && !(taken_over && given_back); ++seed) {
      const replay::Recording a = replay::record(seed, on(all, null));
      std::size_t of_trees = 0;
      double spent = 0;
      for (const replay::QueryRecord& query : a.queries) {
        const double ratio = query.sensitivity / query.scale;
        spent += ratio * ratio / 2;
        of_trees += query.values.size() == 3 * 32 * 2 ? 1 : 0;
      }
      EXPECT_LE(spent, rho * (1 + 1e-9));
      if (of_trees == own) continue;
      EXPECT_TRUE(of_trees == own + kTaken || of_trees == own + kTried) << of_trees;
      EXPECT_LT(spent, 0.995 * rho);  // means and shares of features are not released
      EXPECT_GT(spent, 0.9 * rho);
      const replay::Recording b = replay::record(seed, on(neighbour, false), &a);
      EXPECT_EQ(replay::difference(a, b), "");
      taken_over = true;
      given_back = given_back || of_trees == own + kTried;
    }
    EXPECT_TRUE(taken_over && given_back);
  }
}

// Of very many declared records the third stage has few rounds: trees are not judged before they
// can have shown something. (The trial finds nothing where most of the declared are not there.)
TEST(AfterKernel, TreesThatFindSomethingKeepFewRoundsToo) {
  TrainingRequest asked = request(1, "after_kernel");
  constexpr std::size_t kDeclared = 125'000;
  const double signal = 1e6, mu = signal / kDeclared;
  asked.budget = Budget::zcdp(mu * mu / 2);
  const Facts facts = facts_of("add_remove", kTwo, kDeclared, asked);
  std::vector<Record> all = records(3000, kTwo);
  for (Record& r : all) r.y = (r.a * r.b > 0) == (r.d == "true") ? "true" : "false";
  const Table table = table_of(all, *facts.encoder);
  const replay::Recording a = replay::record(
      5, [&](Rng& rng) -> std::optional<Event> { return train(table, facts, asked, rng).event(); });
  std::size_t of_trees = 0, after_trees = 0;
  for (const replay::QueryRecord& query : a.queries) {
    if (query.values.size() == 4 * 32 * 2) ++of_trees;
    if (of_trees > 0 && query.values.size() > 4 * 32 * 2) ++after_trees;
  }
  EXPECT_GT(of_trees, 200u);
  EXPECT_EQ(after_trees, 0u);
}

// Whichever way the rounds of the third stage go, the event is that of a kernel model alone.
TEST(AfterKernel, BetweenTheLimitsTwoClassesCostWhatAKernelModelCosts) {
  const TrainingRequest asked = request(1, "after_kernel");
  for (const char* relation : {"add_remove", "replace_one", "zero_out"}) {
    const Facts facts = facts_of(relation, kTwo, 24000, asked);
    const auto plan = plan_training(boosting_family(), facts, asked);
    TrainingRequest of_kernel = asked;
    of_kernel.kind = "kernel";
    of_kernel.method = "gradient";
    of_kernel.options = OptionValues(options_of(kernel_family(), "kernel"), {});
    const auto kernel = plan_training(kernel_family(), facts, of_kernel);
    EXPECT_EQ(to_json(*plan->event()), to_json(*kernel->event())) << relation;
    EXPECT_NE(plan->explain().words.find("finds little"), std::string::npos);
  }
}

// Three signs that count together: no pair says anything.
TEST(AfterKernel, LearnsWhatThreeColumnsSayTogether) {
  const TrainingRequest asked = request(1, "after_kernel");
  const Facts facts = facts_of("add_remove", kTwo, 16000, asked);
  const auto signs = [](std::size_t n, unsigned seed) {
    std::vector<Record> all = records(n, kTwo, seed);
    for (Record& r : all) r.y = (r.a * r.b > 0) == (r.d == "true") ? "true" : "false";
    return all;
  };
  Rng rng = Rng::insecure_seed(4);
  const TrainedModel model = train(table_of(signs(16000, 1), *facts.encoder), facts, asked, rng);
  const Evaluation reached =
      evaluate(true, model.value()->score(table_of(signs(3000, 2), *facts.encoder)));
  EXPECT_GT(reached.classification.accuracy, 0.85);
}

TEST(AfterKernel, IsChosenByPublicFactsWhereRecordsAreMany) {
  const auto method = [&](std::size_t rows, const std::string& target, double epsilon) {
    const TrainingRequest asked = request(epsilon, "auto");
    return plan_training(boosting_family(), facts_of("add_remove", target, rows, asked), asked)
        ->explain()
        .method;
  };
  EXPECT_EQ(method(50000, kTwo, 1), "after_kernel");
  EXPECT_EQ(method(50000, kNumber, 1), "after_kernel");
  EXPECT_EQ(method(2000, kTwo, 1), "random");
  EXPECT_EQ(method(2000, kNumber, 0.1), "random");
  EXPECT_EQ(method(50000, kThree, 1), "random");
}

TEST(AfterKernel, DegenerateDataGivesFinitePredictions) {
  for (const std::string& target : {kTwo, kThree, kNumber}) {
    const TrainingRequest asked = request(1, "after_kernel");
    const Facts facts = facts_of("replace_one", target, 12, asked);
    const std::string y = target == kTwo ? "true" : "1";
    const std::vector<std::vector<Record>> all = {
        {},
        std::vector<Record>(12, {0.1, 0.2, "u", "true", y}),
        std::vector<Record>(12, {1e300, -1e300, "?", "no", y})};
    for (const auto& data : all) {
      Rng rng = Rng::insecure_seed(3);
      const TrainedModel model = train(table_of(data, *facts.encoder), facts, asked, rng);
      for (const double x : model.value()->apply(table_of(records(10, target), *facts.encoder)))
        EXPECT_TRUE(std::isfinite(x));
    }
  }
}

TEST(AfterKernel, ItsFilesLoadAgainAndDamagedOnesAreRefused) {
  const TrainingRequest asked = request(2, "after_kernel", {{"trees", {"4"}}, {"batch", {"2"}}});
  Facts facts = facts_of("add_remove", kThree, 50, asked);
  const Table table = table_of(records(50, kThree), *facts.encoder);
  Rng rng = Rng::insecure_seed(1);
  const TrainedModel model = train(table, facts, asked, rng);
  const std::string text = model.value()->files().at("model.json");
  EXPECT_EQ(load_boosting({{"model.json", text}}, facts)->apply(table),
            model.value()->apply(table));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string broken = text;
    broken.replace(broken.find(from), from.size(), to);
    return broken;
  };
  for (const std::string& hostile :
       {with("\"start\":[{", "\"start\":[],\"other\":[{"), with("\"start\":[{", "\"start\":[7,{"),
        with("\"parameters\":[[", "\"parameters\":[[0,"),
        with("\"parameters\":[[", "\"parameters\":[],\"old\":[[")})
    EXPECT_THROW(load_boosting({{"model.json", hostile}}, facts), DataError);
}

}  // namespace sotto::after_kernel_test
