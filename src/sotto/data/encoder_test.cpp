#include "sotto/data/encoder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "sotto/core/error.hpp"

namespace sotto::encoder_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Schema schema_of(const std::string& columns, const std::string& top = "") {
  return Schema::from_toml("relation = \"add_remove\"\n" + top + columns);
}

constexpr const char* kMixed = R"(
[columns.age]
type = "numeric"
bounds = [20, 80]
missing = "midpoint"
[columns.color]
type = "categorical"
values = ["red", "green"]
[columns.member]
type = "boolean"
missing = "midpoint"
invalid = "missing"
[columns.score]
type = "numeric"
bounds = [-1e6, 1e-3]
missing = "midpoint"
invalid = "missing"
[columns.y]
type = "numeric"
role = "target"
bounds = [0, 10]
)";

std::vector<double> encoded(const Encoder& encoder, const std::vector<std::string_view>& cells) {
  std::vector<double> dense(encoder.dense_positions().size()), row(encoder.width());
  std::vector<std::uint32_t> hot(encoder.hot_columns());
  std::size_t column = 0;
  const double factor = encoder.encode(cells, dense, hot, column);
  encoder.expand(dense, hot, factor, row);
  return row;
}

TEST(Encoder, ScalesBoundsAndOneHotsCategories) {
  const Encoder encoder(schema_of(kMixed));
  EXPECT_THAT(encoder.feature_names(),
              ElementsAre("age", "color=red", "color=green", "color=other", "member", "score"));
  EXPECT_THAT(encoded(encoder, {"20", "green", "yes", "1e-3"}), ElementsAre(-1, 0, 1, 0, 1, 1));
  EXPECT_THAT(encoded(encoder, {"50", " red ", "FALSE", "1e300"}), ElementsAre(0, 1, 0, 0, 0, 1));
  EXPECT_THAT(encoded(encoder, {"", "blue", "", "text"})[0], 0);
  EXPECT_THAT(encoded(encoder, {"nan", "", "maybe", "-inf"}), ElementsAre(0, 0, 0, 1, 0.5, 0));
}

TEST(Encoder, ScalesToTheUnitIntervalWhenAsked) {
  const Encoder encoder(schema_of(kMixed, "scaling = \"unit\"\n"));
  EXPECT_EQ(encoded(encoder, {"20", "red", "0", "0"})[0], 0);
  EXPECT_EQ(encoded(encoder, {"80", "red", "0", "0"})[0], 1);
  EXPECT_EQ(encoded(encoder, {"", "red", "0", "0"})[0], 0.5);
  EXPECT_EQ(encoder.encode_target("0"), -1);  // targets are always symmetric
}

TEST(Encoder, HatsFollowTheirColumnAndItsOwnCoordinateStays) {
  const Encoder encoder(schema_of(kMixed, "basis = \"hats\"\n"));
  EXPECT_EQ(encoder.width(), 6 + 2 * HatBasis::kWidth);
  EXPECT_EQ(encoder.feature_names()[1], "age~20");
  EXPECT_EQ(encoder.feature_names()[HatBasis::kWidth], "log age~80");
  const auto row = encoded(encoder, {"20", "green", "yes", "1e-3"});
  EXPECT_EQ(row[0], -1);
  EXPECT_EQ(row[1], HatBasis::kHatHeight);
  EXPECT_EQ(row[1 + HatBasis::kHats], HatBasis::kHatHeight);
  EXPECT_EQ(row[1 + HatBasis::kWidth + 1], 1);  // color=green
  EXPECT_EQ(encoder.run(0).width, 1 + HatBasis::kWidth);
  EXPECT_EQ(encoder.run(1).first, 1 + HatBasis::kWidth);
  EXPECT_EQ(encoder.run(3).first + encoder.run(3).width, encoder.width());
}

TEST(Encoder, RowsWithHatsStayWithinTheNormBound) {
  std::mt19937_64 random(11);
  for (const char* norm : {"", "feature_norm = 1.25\n", "feature_norm = 1e-6\n"}) {
    for (const char* scaling : {"unit", "symmetric"}) {
      const Encoder encoder(schema_of(
          kMixed, std::string(norm) + "basis = \"hats\"\nscaling = \"" + scaling + "\"\n"));
      for (int i = 0; i < 500; ++i) {
        const std::string age = i % 3 ? std::to_string(random() % 100) : "80",
                          score = i % 5 ? "-" + std::to_string(random() % 2000000) : "1e300";
        long double square = 0;
        for (const double v : encoded(encoder, {age, "red", "1", score}))
          square += static_cast<long double>(v) * v;
        EXPECT_LE(std::sqrt(square), static_cast<long double>(encoder.norm_bound()));
      }
    }
  }
}

TEST(Encoder, AnEncoderLeftToItselfIsLinearAsBeforeTheBasisExisted) {
  const Encoder encoder(schema_of(kMixed));
  EXPECT_EQ(encoder.width(), 6u);
  EXPECT_FALSE(to_json(encoder)["schema"].contains("basis"));
  const Encoder hats(schema_of(kMixed, "basis = \"hats\"\n"));
  EXPECT_EQ(encoder_from_json(to_json(hats)).width(), hats.width());
  EXPECT_EQ(Schema::from_toml(hats.schema().to_toml()), hats.schema());
}

TEST(Encoder, TargetsAreScaledAndComeBack) {
  const Encoder encoder(schema_of(kMixed));
  EXPECT_FALSE(encoder.is_classification());
  EXPECT_EQ(encoder.encode_target("2.5"), -0.5);
  EXPECT_EQ(encoder.encode_target("1e30"), 1);
  EXPECT_EQ(encoder.target().unscaled(-0.5), 2.5);
  EXPECT_THROW(encoder.encode_target(""), CellRefused);
}

TEST(Encoder, ClassesAreIndexed) {
  const std::string columns =
      "[columns.x]\ntype = \"boolean\"\n[columns.y]\ntype = \"categorical\"\nrole = \"target\"\n"
      "values = [\"no\", \"yes\"]\n";
  const Encoder encoder(schema_of(columns));
  EXPECT_TRUE(encoder.is_classification());
  EXPECT_THAT(encoder.target().labels(), ElementsAre("no", "yes"));
  EXPECT_EQ(encoder.encode_target(" yes"), 1);
  EXPECT_THROW(encoder.encode_target("maybe"), CellRefused);
  const Encoder open(schema_of(columns + "missing = \"other\"\n"));
  EXPECT_THAT(open.target().labels(), ElementsAre("no", "yes", "other"));
  EXPECT_EQ(open.encode_target("maybe"), 2);
}

TEST(Encoder, ADeclaredOtherIsACategoryLikeAny) {
  const Encoder encoder(
      schema_of("[columns.x]\ntype = \"categorical\"\nvalues = [\"other\", \"a\"]\n"));
  EXPECT_THAT(encoder.feature_names(), ElementsAre("x=other", "x=a", "x=(other)"));
  EXPECT_THAT(encoded(encoder, {"other"}), ElementsAre(1, 0, 0));
}

TEST(Encoder, RefusesByPolicyAndNeverQuotesTheCell) {
  const Encoder encoder(schema_of(
      "[columns.a]\ntype = \"numeric\"\nbounds = [0, 1]\n[columns.b]\ntype = \"categorical\"\n"
      "values = [\"x\"]\nmissing = \"refuse\"\n[columns.c]\ntype = \"boolean\"\n"));
  const std::vector<std::vector<std::string_view>> bad = {
      {"secret", "x", "1"}, {"", "x", "1"},       {"nan", "x", "1"}, {"0", "secret", "1"},
      {"0", "", "1"},       {"0", "x", "secret"}, {"0", "x", ""}};
  const std::vector<std::size_t> culprits = {0, 0, 0, 1, 1, 2, 2};
  for (std::size_t i = 0; i < bad.size(); ++i) {
    std::vector<double> dense(2);
    std::vector<std::uint32_t> hot(1);
    std::size_t column = 99;
    try {
      encoder.encode(bad[i], dense, hot, column);
      FAIL() << i;
    } catch (const CellRefused& refused) {
      EXPECT_EQ(column, culprits[i]);
      EXPECT_EQ((refused.what + refused.hint).find("secret"), std::string::npos);
    }
  }
}

TEST(Encoder, RefusesWhatItCannotEncode) {
  EXPECT_THROW(Encoder(schema_of("scaling = \"unit\"\n[columns.x]\ntype = \"text\"\n"
                                 "role = \"feature\"\n")),
               Unsupported);
  EXPECT_THROW(Encoder(schema_of("[columns.x]\ntype = \"ignore\"\n")), DataError);
  const Encoder encoder(schema_of("[columns.x]\ntype = \"boolean\"\n"));
  EXPECT_FALSE(encoder.has_target());
  EXPECT_THROW(encoder.target(), DataError);
}

TEST(Encoder, AnyFiniteColumnCanDefineGroups) {
  const Encoder encoder(schema_of(kMixed));
  EXPECT_THAT(encoder.group("color").labels(), ElementsAre("red", "green", "other"));
  EXPECT_EQ(encoder.group("color").index("pink"), 2U);
  EXPECT_EQ(encoder.group("member").index("Yes"), 1U);
  EXPECT_THROW(encoder.group("member").index(""), CellRefused);
  EXPECT_THROW(encoder.group("age"), DataError);
  EXPECT_THROW(encoder.group("colour"), DataError);
}

long double norm_of(const std::vector<double>& row) {
  long double squares = 0;
  for (const double v : row) squares += static_cast<long double>(v) * v;
  return std::sqrt(squares);
}

TEST(Encoder, NormBoundHoldsForHostileCells) {
  std::mt19937_64 random(5);
  const std::vector<std::string> cells = {"",
                                          "nan",
                                          "-inf",
                                          "1e308",
                                          "-1e308",
                                          "5e-324",
                                          "1e999",
                                          "20",
                                          "80",
                                          "50.00000001",
                                          "red",
                                          "green",
                                          "x",
                                          "yes",
                                          "no",
                                          "-1e6",
                                          "0.001",
                                          std::string(300, '9'),
                                          std::string("a\0b", 3)};
  for (const std::string top :
       {"", "feature_norm = 1e-9\n", "feature_norm = 0.3333333333\n", "feature_norm = 1\n",
        "feature_norm = 1.7320508075688772\n", "feature_norm = 2\n", "feature_norm = 1e9\n"}) {
    std::string columns = kMixed;
    columns.insert(columns.find("missing"), "invalid = \"missing\"\n");
    const Encoder encoder(schema_of(columns, top));
    EXPECT_LE(encoder.norm_bound(), std::nextafter(2.0, 3.0));
    for (int trial = 0; trial < 20'000; ++trial) {
      std::vector<std::string_view> record;
      for (int i = 0; i < 4; ++i) record.emplace_back(cells[random() % cells.size()]);
      const std::vector<double> row = encoded(encoder, record);
      for (const double v : row) ASSERT_TRUE(std::isfinite(v));
      ASSERT_LE(norm_of(row), static_cast<long double>(encoder.norm_bound()));
      ASSERT_EQ(row, encoded(encoder, record));  // pure
    }
  }
}

TEST(Encoder, ClippedRowsReachTheBoundNearly) {
  const Encoder encoder(schema_of(kMixed, "feature_norm = 1\n"));
  EXPECT_EQ(encoder.norm_bound(), 1);
  EXPECT_NEAR(static_cast<double>(norm_of(encoded(encoder, {"20", "green", "yes", "1"}))), 1,
              1e-12);
}

TEST(Encoder, SurvivesJson) {
  const Encoder encoder(
      schema_of(kMixed, "feature_norm = 1.1\nscaling = \"unit\"\nmissing_values = [\"?\"]\n"));
  const Encoder back = encoder_from_json(nlohmann::ordered_json::parse(to_json(encoder).dump()));
  EXPECT_EQ(back.schema(), encoder.schema());
  EXPECT_EQ(back.feature_names(), encoder.feature_names());
  EXPECT_EQ(encoded(back, {"33.3", "?", "?", "-5"}), encoded(encoder, {"33.3", "?", "?", "-5"}));
  EXPECT_THROW(encoder_from_json(nlohmann::ordered_json::parse("{\"encoder\":2,\"schema\":{}}")),
               DataError);
  EXPECT_THROW(encoder_from_json(nlohmann::ordered_json::parse("[]")), DataError);
}

TEST(Encoder, TenThousandCategories) {
  std::string columns = "[columns.x]\ntype = \"categorical\"\nvalues = [";
  for (int i = 0; i < 10'000; ++i) columns += "\"c" + std::to_string(i) + "\",";
  const Encoder encoder(schema_of(columns + "]\n"));
  EXPECT_EQ(encoder.width(), 10'001U);
  EXPECT_EQ(encoded(encoder, {"c9999"})[9'999], 1);
  EXPECT_EQ(encoded(encoder, {"c10000"})[10'000], 1);
}

}  // namespace sotto::encoder_test
