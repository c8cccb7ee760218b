#include "sotto/models/artifact.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFeatures =
    "relation = \"add_remove\"\nrows = 9\n[columns.x]\ntype = \"numeric\"\nbounds = [0, 1]\n";
constexpr const char* kYesNo = "[columns.y]\ntype = \"boolean\"\nrole = \"target\"\n";
constexpr const char* kNumber =
    "[columns.y]\ntype = \"numeric\"\nrole = \"target\"\nbounds = [0, 1]\n";
constexpr const char* kThree =
    "[columns.y]\ntype = \"categorical\"\nrole = \"target\"\nvalues = [\"a\", \"b\", \"c\"]\n";

Encoder encoder_for(const std::string& target) {
  return Encoder(Schema::from_toml("basis = \"linear\"\n" + std::string(kFeatures) + target));
}

LinearModel model_for(Loss loss, std::size_t outputs) {
  return {.loss = loss, .features = 1, .outputs = outputs, .weights = {}};
}

LinearModel filled(LinearModel model) {
  model.weights.assign(model.outputs * model.dimension(), 0.5);
  return model;
}

class ArtifactPlace : public testing::Test {
 protected:
  ArtifactPlace() {
    std::string name = (fs::temp_directory_path() / "sotto-artifact-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~ArtifactPlace() override { fs::remove_all(folder_); }
  // Whether what was certified can be read back.
  bool survives(const LinearModel& model, const Encoder& encoder) const {
    const std::string place = folder_ / "a";
    fs::remove_all(place);
    write_artifact(place, model, encoder, Certificate{});
    try {
      read_artifact(place);
      return true;
    } catch (const DataError&) {
      return false;
    }
  }
  fs::path folder_;
};

TEST_F(ArtifactPlace, ModelAndEncoderMustFitEachOther) {
  const LinearModel binary = filled(model_for(Loss::logistic, 1)),
                    three = filled(model_for(Loss::logistic, 3)),
                    number = filled(model_for(Loss::squared, 1));
  const Encoder yes_no = encoder_for(kYesNo), abc = encoder_for(kThree),
                real = encoder_for(kNumber);
  EXPECT_TRUE(survives(binary, yes_no));
  EXPECT_TRUE(survives(three, abc));
  EXPECT_TRUE(survives(number, real));
  EXPECT_FALSE(survives(three, yes_no));  // a class without a label: read beyond the labels before
  EXPECT_FALSE(survives(binary, abc));
  EXPECT_FALSE(survives(binary, real));
  EXPECT_FALSE(survives(number, yes_no));
  EXPECT_FALSE(survives(number, encoder_for("")));
  LinearModel wide = binary;
  wide.features = 2;
  EXPECT_FALSE(survives(filled(wide), yes_no));  // read beyond the record before
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

}  // namespace
}  // namespace sotto
