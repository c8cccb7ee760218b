// What the tests of models that let records meet share.
#pragma once

#include <gtest/gtest.h>

#include "sotto/deep/rows/pass_test.hpp"

namespace sotto::deep::rows {

inline constexpr std::int64_t B = 6;

class DishonestModels : public testing::Test {
 protected:
  DishonestModels() {
    torch::manual_seed(1);
    model.register_module("layer", l);
    x = torch::randn({B, 6});
    y = torch::randint(0, 3, {B}, torch::kLong);
  }

  // The refusal says `why`.
  void refused(const char* why, const LossesOn& losses) { refused(why, model, x, y, losses); }
  static void refused(const char* why, const nn::Module& m, const Tensor& a, const Tensor& b,
                      const LossesOn& losses, std::int64_t axis = 0) {
    const std::string message = watched(m, a, b, losses, axis);
    EXPECT_NE(message, "") << "taken, but wanted: " << why;
    EXPECT_NE(message.find(why), std::string::npos) << "wanted: " << why << "\nsaid: " << message;
    EXPECT_EQ(message.find("ANOTHER ERROR"), std::string::npos) << message;
  }

  struct Holder : nn::Module {};
  Holder model;
  nn::Linear l{6, 3};
  Tensor x, y;
};

}  // namespace sotto::deep::rows
