// A made-up family from declaration to artifact and back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "majority_family_test.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/learning/artifact.hpp"
#include "sotto/learning/certify.hpp"

namespace sotto::shelf_test {

using testing::HasSubstr;

class Shelf : public testing::Test {
 protected:
  Shelf() {
    for (int i = 0; i < 50; ++i) {
      Table::Sink row = table_.add_row();
      row.dense[0] = 0.5;
      row.factor = 1;
      table_.add_target(i % 5 == 0 ? 0 : 1);
    }
  }
  ~Shelf() override { std::filesystem::remove_all(place_); }

  TrainingRequest request() const { return make_request(family_, "majority", Budget::pure(2)); }

  std::filesystem::path place_ =
      std::filesystem::temp_directory_path() / ("sotto_shelf_" + std::to_string(::getpid()));
  Family family_ = test::majority_family();
  Facts facts_ = table_facts(Schema::from_toml(
      "relation = \"add_remove\"\nrows = 50\n[columns.x]\ntype = \"numeric\"\nbounds = [0, 1]\n"
      "[columns.y]\ntype = \"categorical\"\nvalues = [\"no\", \"yes\"]\nrole = \"target\"\n"));
  Table table_{*facts_.encoder};
  Rng rng_ = Rng::insecure_seed(1);
};

TEST_F(Shelf, TrainsWritesReadsAndPredicts) {
  const auto plan = plan_training(family_, facts_, request());
  EXPECT_LE(guarantee(Spec{plan->relation(), {*plan->event()}}, 0).upper, 2 * (1 + 1e-12));
  const TrainedModel trained = plan->run(*table_in_memory(table_), rng_);
  EXPECT_EQ(trained.event(), plan->event());
  write_artifact(place_, trained, facts_,
                 certify_training(family_, facts_, *plan, trained, 0, rng_));

  EXPECT_EQ(family_of_artifact(place_), "majority");
  const Artifact artifact = read_artifact(place_, std::span(&family_, 1));
  EXPECT_EQ(artifact.certificate.family, "majority");
  EXPECT_FALSE(artifact.facts.rows);  // other data may have any number
  EXPECT_EQ(artifact.model->columns().front().labels, facts_.classes());
  EXPECT_EQ(artifact.model->apply(table_), trained.value()->apply(table_));
  const Evaluation e = evaluate(true, artifact.model->score(table_));
  EXPECT_DOUBLE_EQ(e.classification.accuracy, 0.8);
}

TEST_F(Shelf, AnArtifactNeedsTheCertificateOfItsOwnModel) {
  const auto plan = plan_training(family_, facts_, request());
  const TrainedModel trained = plan->run(*table_in_memory(table_), rng_);
  EXPECT_THROW(write_artifact(place_, trained, facts_, uncertified(rng_)), Error);
  EXPECT_THROW(
      write_artifact(place_, trained, facts_, certify(PureEvent{0.5}, plan->relation(), 0, rng_)),
      Error);
  EXPECT_FALSE(std::filesystem::exists(place_));
}

TEST_F(Shelf, AFamilyThatIsNotThereIsNamed) {
  const auto plan = plan_training(family_, facts_, request());
  const TrainedModel trained = plan->run(*table_in_memory(table_), rng_);
  write_artifact(place_, trained, facts_,
                 certify_training(family_, facts_, *plan, trained, 0, rng_));
  EXPECT_THROW(read_artifact(place_, {}), Unsupported);
  Family declared = family_;
  declared.load = nullptr;
  EXPECT_THROW(read_artifact(place_, std::span(&declared, 1)), NotBuilt);
}

TEST_F(Shelf, RequestsAreHeldToTheDeclaration) {
  const auto refusal = [&](const TrainingRequest& asked) -> std::string {
    try {
      plan_training(family_, facts_, asked);
    } catch (const InvalidArgument& e) {
      return std::string(e.what()) + " | " + e.hint();
    }
    return "accepted";
  };
  TrainingRequest asked = request();
  EXPECT_EQ(refusal(asked), "accepted");
  asked.method = "other";
  asked.options = OptionValues(family_.options, {{"weight", {"1"}}});
  EXPECT_EQ(refusal(asked),
            "`weight` means nothing to the method other | leave it out, or use `method` laplace");
  asked = request();
  asked.method = "laplac";
  EXPECT_THAT(refusal(asked), HasSubstr("unknown method 'laplac' | did you mean 'laplace'?"));
  asked = request();
  asked.kind = "minority";
  EXPECT_THAT(refusal(asked), HasSubstr("unknown model 'minority'"));
  asked = request();
  asked.budget.reset();
  EXPECT_THAT(refusal(asked), HasSubstr("training needs a budget"));
  EXPECT_THROW(make_request(family_, "majority", Budget::pure(1), {{"wait", {"1"}}}),
               InvalidArgument);
}

}  // namespace sotto::shelf_test
