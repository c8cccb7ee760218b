#include "sotto/models/linear/linear_model.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/models/linear/detail/fitted_model.hpp"

namespace sotto::linear_model_test {

constexpr const char* kFeatures =
    "relation = \"add_remove\"\nrows = 9\n[columns.x]\ntype = \"numeric\"\nbounds = [0, 1]\n";
constexpr const char* kYesNo = "[columns.y]\ntype = \"boolean\"\nrole = \"target\"\n";
constexpr const char* kNumber =
    "[columns.y]\ntype = \"numeric\"\nrole = \"target\"\nbounds = [0, 1]\n";
constexpr const char* kThree =
    "[columns.y]\ntype = \"categorical\"\nrole = \"target\"\nvalues = [\"a\", \"b\", \"c\"]\n";

LinearModel model_for(Loss loss, std::size_t outputs) {
  return {.loss = loss, .features = 1, .outputs = outputs, .weights = {}};
}

LinearModel filled(LinearModel model) {
  model.weights.assign(model.outputs * model.dimension(), 0.5);
  return model;
}

// Whether they can be read back together.
bool survives(const LinearModel& model, const std::string& target) {
  Facts facts =
      table_facts(Schema::from_toml("basis = \"linear\"\n" + std::string(kFeatures) + target));
  try {
    load_linear_model({{"model.json", to_json(model).dump()}}, facts);
    return true;
  } catch (const DataError&) {
    return false;
  }
}

TEST(LinearModelFiles, ModelAndEncoderMustFitEachOther) {
  const LinearModel binary = filled(model_for(Loss::logistic, 1)),
                    three = filled(model_for(Loss::logistic, 3)),
                    number = filled(model_for(Loss::squared, 1));
  EXPECT_TRUE(survives(binary, kYesNo));
  EXPECT_TRUE(survives(three, kThree));
  EXPECT_TRUE(survives(number, kNumber));
  EXPECT_FALSE(survives(three, kYesNo));  // a class without a label: read beyond the labels before
  EXPECT_FALSE(survives(binary, kThree));
  EXPECT_FALSE(survives(binary, kNumber));
  EXPECT_FALSE(survives(number, kYesNo));
  EXPECT_FALSE(survives(number, ""));
  LinearModel wide = binary;
  wide.features = 2;
  EXPECT_FALSE(survives(filled(wide), kYesNo));  // read beyond the record before
}

TEST(LinearModelJson, RefusesSizesThatOverflowAndNumbersOutOfRange) {
  const nlohmann::ordered_json good = to_json(filled(model_for(Loss::logistic, 1)));
  EXPECT_NO_THROW(linear_model_from_json(good));
  const auto changed = [&](const char* key, const nlohmann::ordered_json& value,
                           const nlohmann::ordered_json& weights) {
    nlohmann::ordered_json json = good;
    json[key] = value;
    json["weights"] = weights;
    return json;
  };
  const auto none = nlohmann::ordered_json::array();
  const nlohmann::ordered_json two = {0.5, 0.5};
  // features + 1 is 0, and 2^63 outputs of 2 weights are 0 weights, modulo 2^64.
  EXPECT_THROW(
      linear_model_from_json(changed("features", std::numeric_limits<std::uint64_t>::max(), none)),
      DataError);
  EXPECT_THROW(linear_model_from_json(changed("features", -1, none)), DataError);
  EXPECT_THROW(linear_model_from_json(changed("outputs", std::uint64_t{1} << 63, none)), DataError);
  for (const char* key : {"features", "outputs", "norm_bound", "scale", "intercept"}) {
    for (const nlohmann::ordered_json& bad :
         {nlohmann::ordered_json("1"), nlohmann::ordered_json(), nlohmann::ordered_json(true)})
      EXPECT_THROW(linear_model_from_json(changed(key, bad, two)), DataError) << key;
  }
  for (const char* key : {"norm_bound", "scale"}) {
    EXPECT_THROW(linear_model_from_json(changed(key, 0, two)), DataError) << key;
    EXPECT_THROW(linear_model_from_json(changed(key, -1, two)), DataError) << key;
  }
}

}  // namespace sotto::linear_model_test
