#include "sotto/learning/class_measures.hpp"

#include <gtest/gtest.h>

namespace sotto::class_measures_test {

TEST(ClassMeasures, KnownAnswer) {
  // 90 of class 0, 10 of class 1; one class never occurs and one row is taken for it.
  const ClassMeasures m = class_measures({{80, 9, 1}, {4, 6, 0}, {0, 0, 0}});
  EXPECT_EQ(m.majority_class, 0U);
  EXPECT_DOUBLE_EQ(m.majority, 0.9);
  EXPECT_DOUBLE_EQ(m.balanced_accuracy, (80.0 / 90 + 6.0 / 10) / 2);
  EXPECT_DOUBLE_EQ(*m.classes[1].precision, 6.0 / 15);
  EXPECT_DOUBLE_EQ(*m.classes[1].recall, 0.6);
  EXPECT_DOUBLE_EQ(m.classes[1].f1, 2 * 0.4 * 0.6 / (0.4 + 0.6));
  EXPECT_DOUBLE_EQ(m.macro_f1, (m.classes[0].f1 + m.classes[1].f1) / 2);
  EXPECT_FALSE(m.classes[2].recall.has_value());
  EXPECT_DOUBLE_EQ(*m.classes[2].precision, 0);
}

TEST(ClassMeasures, NoRowsAndNoiseBelowZeroGiveFiniteFigures) {
  for (const Confusion& c : {Confusion{{0, 0}, {0, 0}}, Confusion{{-3, -1}, {-2, -5}}}) {
    const ClassMeasures m = class_measures(c);
    EXPECT_EQ(m.balanced_accuracy, 0);
    EXPECT_EQ(m.majority, 0);
  }
}

TEST(ClassMeasures, ConfusionLeavesOutNullRecordsAndOtherGroups) {
  std::vector<ScoredRow> rows = {{.target = 0, .prediction = 1, .group = 0},
                                 {.target = 1, .prediction = 1, .group = 1},
                                 {.target = 1, .prediction = 0, .group = 1, .null = true}};
  EXPECT_EQ(confusion_of(rows, 2), (Confusion{{0, 1}, {0, 1}}));
  EXPECT_EQ(confusion_of(rows, 2, 1), (Confusion{{0, 0}, {0, 1}}));
}

TEST(ClassMeasures, CalibrationErrorIsTheDistanceFromWhatHappens) {
  std::vector<ScoredRow> rows;
  for (int i = 0; i < 10; ++i)
    rows.push_back({.target = i < 8 ? 1.0 : 0.0, .probabilities = {0.2, 0.8}, .prediction = 1});
  EXPECT_NEAR(calibration_error(rows), 0, 1e-12);
  for (ScoredRow& row : rows) row.probabilities = {0.05, 0.95};
  EXPECT_NEAR(calibration_error(rows), 0.15, 1e-12);
}

}  // namespace sotto::class_measures_test
