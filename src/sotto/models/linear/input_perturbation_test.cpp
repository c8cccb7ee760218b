#include "sotto/models/linear/detail/input_perturbation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "route_data_test.hpp"
#include "sotto/core/error.hpp"

namespace sotto::input_perturbation_test {

PublicFacts mixed_facts(LinearKind kind, std::size_t outputs) {
  return {.kind = kind,
          .rows = 500,
          .dimension = 6,
          .outputs = outputs,
          .norm_bound = 2,
          .columns = {{.first = 0},
                      {.first = 1, .width = 3, .low = 0},
                      {.first = 4, .low = 0, .boolean = true}}};
}

TEST(InputPerturbation, TheCentreOfACellFallsIntoThatCell) {
  for (const auto& [kind, outputs] :
       {std::pair{LinearKind::logistic, 1u}, {LinearKind::svm, 4u}, {LinearKind::linear, 1u}}) {
    const ProductGrid grid(mixed_facts(kind, outputs), 5);
    std::vector<float> x(5);
    float y = 0;
    for (std::uint64_t c = 0; c < static_cast<std::uint64_t>(grid.size()); ++c) {
      grid.centre(c, x, y);
      ExactRows rows(5, 2, 1);
      rows.add(x, y);
      EXPECT_EQ(grid.cell(rows, 0), c);
    }
  }
}

TEST(InputPerturbation, OneRecordIsOneCellAndTheNullRecordIsNone) {
  for (const LinearKind kind : {LinearKind::logistic, LinearKind::linear}) {
    const InputPerturbationPlan plan({}, test::facts_for(kind, 1, Relation::add_remove, 100),
                                     Budget::pure(1));
    for (const auto& r : test::hostile_records(kind, 1)) {
      const auto counts = plan.counts(test::rows_of({r}));
      const auto total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
      const bool finite = std::isfinite(r.x[0]) && std::isfinite(r.x[1]);
      EXPECT_EQ(total, finite ? 1u : 0u);
    }
  }
}

TEST(InputPerturbation, LearnsFromSyntheticRecords) {
  Rng rng = Rng::insecure_seed(2);
  for (const Budget& budget : {Budget::pure(1), Budget::zcdp(0.05)}) {
    const auto two = test::sample_records(6000, LinearKind::svm, 1);
    const InputPerturbationPlan svm(
        {}, test::facts_for(LinearKind::svm, 1, Relation::replace_one, 6000), budget);
    EXPECT_GT(test::accuracy(svm.run(test::rows_of(two), rng).value, two), 0.9);
    const auto line = test::sample_records(6000, LinearKind::linear, 1);
    const InputPerturbationPlan regression(
        {}, test::facts_for(LinearKind::linear, 1, Relation::add_remove, 6000), budget);
    EXPECT_GT(test::r_squared(regression.run(test::rows_of(line), rng).value, line), 0.7);
  }
}

TEST(InputPerturbation, RefusesTooManyCells) {
  PublicFacts facts = mixed_facts(LinearKind::logistic, 1);
  facts.columns.push_back({.first = 5, .width = 1 << 20, .low = 0});
  EXPECT_THROW(InputPerturbationPlan({}, facts, Budget::pure(1)), Unsupported);
  facts.columns.assign(200, {.first = 0});
  EXPECT_THROW(InputPerturbationPlan({}, facts, Budget::pure(1)), Unsupported);
}

}  // namespace sotto::input_perturbation_test
