#include "sotto/models/linear/linear_family.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sotto/core/error.hpp"

namespace sotto::linear_family_test {

Facts class_facts() {
  return table_facts(Schema::from_toml(
      "relation = \"add_remove\"\nrows = 500\n[columns.x]\ntype = \"numeric\"\nbounds = [0, 1]\n"
      "[columns.y]\ntype = \"boolean\"\nrole = \"target\"\n"));
}

std::string value_for(const Option& option) {
  if (!option.choices.empty()) return option.choices.front();
  return option.range.holds(10) ? "10" : "1";
}

TEST(LinearFamily, AMethodRefusesEveryOptionThatItDoesNotKnow) {
  const Family family = linear_family();
  const Facts facts = class_facts();
  int refused = 0;
  for (const Method& method : family.methods) {
    if (method.name == "auto") continue;
    for (const Option& option : family.options) {
      const bool known = std::find(method.options.begin(), method.options.end(), option.name) !=
                         method.options.end();
      if (known) continue;
      TrainingRequest request = make_request(family, "logistic", Budget::approximate(1, 1e-6),
                                             {{option.name, {value_for(option)}}});
      request.method = method.name;
      if (method.name == "none") request.budget.reset();
      try {
        plan_training(family, facts, request);
        ADD_FAILURE() << method.name << " took " << option.name;
      } catch (const InvalidArgument& e) {
        EXPECT_THAT(e.what(), testing::HasSubstr("`" + option.name + "` means nothing"));
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 40);
}

TEST(LinearFamily, AutoRefusesWhatTheMethodItChoosesDoesNotKnow) {
  const Family family = linear_family();
  const auto request =
      make_request(family, "logistic", Budget::approximate(1, 1e-6), {{"parts", {"4"}}});
  EXPECT_THROW(plan_training(family, class_facts(), request), InvalidArgument);
}

TEST(LinearFamily, AModelThatDoesNotFitItsEncoderIsRefused) {
  const Family family = linear_family();
  Facts facts = class_facts();
  const std::string model =
      R"({"schema":1,"kind":"linear","loss":"LOSS","features":N,"outputs":1,"norm_bound":1,
          "scale":1,"intercept":0,"weights":[W]})";
  const auto load = [&](std::string loss, std::string n, std::string weights) {
    std::string text = model;
    text.replace(text.find("LOSS"), 4, loss);
    text.replace(text.find(":N"), 2, ":" + n);
    text.replace(text.find("[W]"), 3, "[" + weights + "]");
    return family.load({{"model.json", text}}, facts);
  };
  EXPECT_EQ(load("logistic", "1", "1")->task(), Task::classify);
  EXPECT_THROW(load("logistic", "2", "1,2"), DataError);
  EXPECT_THROW(load("squared", "1", "1"), DataError);
  EXPECT_THROW(load("logistic", "1", "1,2"), DataError);
  EXPECT_THROW(load("logistic", "1", "1e999"), DataError);
  EXPECT_THROW(family.load({}, facts), DataError);
}

// By declared rows, columns and budget alone: no data is at hand.
TEST(LinearFamily, RegressionTakesHatsWhereRowsAreManyAndMomentsOfVeryManyPlainOnes) {
  const Family family = linear_family();
  const auto choice = [&](std::uint64_t rows, const Budget& budget, const std::string& more = "") {
    const Schema schema = Schema::from_toml(
        "relation = \"add_remove\"\nrows = " + std::to_string(rows) + "\n" + more +
        "[columns.\"x{1..8}\"]\ntype = \"numeric\"\nbounds = [0, 1]\n"
        "[columns.y]\ntype = \"numeric\"\nbounds = [0, 1]\nrole = \"target\"\n");
    const auto request = make_request(family, "linear", budget);
    const Facts facts = facts_for(family, schema, request);
    return plan_training(family, facts, request)->explain().method + " " +
           std::string(name(facts.encoder->schema().basis));
  };
  const Budget one = Budget::approximate(1, 1e-6);
  EXPECT_EQ(choice(50, one), "gradient linear");
  EXPECT_EQ(choice(150, one), "gradient linear");
  EXPECT_EQ(choice(300, one), "gradient hats");
  EXPECT_EQ(choice(300, Budget::approximate(0.1, 1e-6)), "gradient linear");
  EXPECT_EQ(choice(50000, Budget::pure(1)), "functional linear");
  EXPECT_EQ(choice(50000, one, "basis = \"linear\"\n"), "gradient linear");  // as declared
  EXPECT_EQ(choice(3'000'000, one, "basis = \"linear\"\n"), "sufficient_statistics linear");
  EXPECT_EQ(choice(3'000'000, one), "gradient hats");
}

}  // namespace sotto::linear_family_test
