#include "sotto/core/error.hpp"

#include <gtest/gtest.h>

namespace sotto::error_test {

TEST(ErrorCode, ExitCodesAreTheDocumentedOnes) {
  EXPECT_EQ(exit_code(ErrorCode::internal), 1);
  EXPECT_EQ(exit_code(ErrorCode::usage), 2);
  EXPECT_EQ(exit_code(ErrorCode::bad_input), 3);
  EXPECT_EQ(exit_code(ErrorCode::budget_refused), 4);
  EXPECT_EQ(exit_code(ErrorCode::verification_failed), 5);
  EXPECT_EQ(exit_code(ErrorCode::storage), 6);
  EXPECT_EQ(exit_code(ErrorCode::not_built), 69);
  EXPECT_EQ(exit_code(ErrorCode::interrupted), 130);
}

TEST(Error, CarriesMessageHintAndCode) {
  try {
    throw BudgetExceeded("0.2 of 1 is left, 0.3 was asked for", "ask for less");
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "0.2 of 1 is left, 0.3 was asked for");
    EXPECT_EQ(e.hint(), "ask for less");
    EXPECT_EQ(e.code(), ErrorCode::budget_refused);
  }
}

TEST(Error, BrokenInvariantIsInternal) {
  try {
    invariant_broken("x");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::internal);
  }
}

}  // namespace sotto::error_test
