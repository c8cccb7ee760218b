#include "sotto/core/json_text.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "sotto/core/certificate.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/spec.hpp"

namespace sotto::json_text_test {

using Json = nlohmann::ordered_json;

std::string nested(std::size_t depth, const std::string& open, const std::string& close) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text += open;
  text += "1";
  for (std::size_t i = 0; i < depth; ++i) text += close;
  return text;
}

std::string problem_of(const std::string& text) {
  try {
    parse_json(text, "the text");
  } catch (const DataError& e) {
    return e.what();
  }
  return "";
}

TEST(JsonText, ReadsWhatTheLibraryReads) {
  for (const char* text : {"null", "[]", "{}", "-1", "18446744073709551615", "1e-3", "\"\\u00e4\"",
                           R"([1,[true,{"b":[],"a":{"b":null}}],"x"])"}) {
    EXPECT_EQ(parse_json(text, "it"), Json::parse(text)) << text;
    EXPECT_EQ(parse_json(text, "it").dump(), Json::parse(text).dump()) << text;  // also the order
  }
}

TEST(JsonText, RefusesWhatIsNoJson) {
  EXPECT_EQ(problem_of("[1,"), "the text is not valid JSON (at byte 4)");
  for (const char* text : {"", "[1]x", "1e999", "NaN", "\"\xff\"", "{\"a\":1,}", "[1 2]", "\"\n\""})
    EXPECT_NE(problem_of(text), "") << text;
}

TEST(JsonText, RefusesDeepNestingBeforeItCanExhaustTheStack) {
  EXPECT_EQ(problem_of(nested(200, "[", "]")), "");
  EXPECT_EQ(problem_of(nested(201, "[", "]")), "the text is nested more than 200 deep");
  const std::string arrays = nested(3'000'000, "[", "]"), objects = nested(500'000, "{\"a\":", "}");
  for (const std::string& deep : {arrays, objects}) {
    EXPECT_EQ(problem_of(deep), "the text is nested more than 200 deep");
    EXPECT_THROW(parse_spec(deep), DataError);
    EXPECT_THROW(SpecTemplate::parse(deep), DataError);
    EXPECT_THROW(check_certificate_text(deep), VerificationFailed);
  }
}

TEST(JsonText, RefusesANameThatStandsTwice) {
  EXPECT_EQ(problem_of(R"({"a":1,"b":{"a":2}})"), "");
  EXPECT_EQ(problem_of(R"({"a":1,"b":2,"a":3})"), "the text holds a name twice in one object");
}

TEST(JsonText, ManyNamesTakeLinearTime) {
  std::string text = "{";
  for (int i = 0; i < 300'000; ++i) text += "\"n" + std::to_string(i) + "\":0,";
  text.back() = '}';
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(parse_json(text, "it").size(), 300'000U);
  // 4.5e10 comparisons of names would take minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(JsonText, RefusesTextBeyondTheLimit) {
  EXPECT_THROW(parse_json("[1,2,3]", "it", "", {.bytes = 6}), DataError);
  EXPECT_NO_THROW(parse_json("[1,2,3]", "it", "", {.bytes = 7}));
}

TEST(JsonText, NumbersFitTheirType) {
  EXPECT_EQ(json_count(Json(7), "it", 7), 7U);
  for (const Json& bad : {Json(8), Json(-1), Json(1.0), Json(1e300), Json("1"), Json()})
    EXPECT_THROW(json_count(bad, "it", 7), DataError) << bad;
  EXPECT_EQ(json_counts(Json::array({0, 7}), "it", 7), (std::vector<std::uint32_t>{0, 7}));
  for (const Json& bad : {Json(7), Json::array({8}), Json::array({1e300}), Json::array({"1"})})
    EXPECT_THROW(json_counts(bad, "it", 7), DataError) << bad;
  EXPECT_EQ(json_number(Json(-1), "it"), -1);
  EXPECT_THROW(json_number(Json("1"), "it"), DataError);
}

TEST(SpecTemplate, FindsTheUnknownUnderAnyName) {
  for (const char* name : {"a~b", "~", "a/b", "", "0"}) {
    const Json document = {{"schema", 1}, {"events", Json::array()}, {name, "?"}};
    const SpecTemplate spec = SpecTemplate::parse(document.dump());
    EXPECT_THROW(spec.with(1), DataError) << name;  // an unknown member, and no other exception
  }
  const SpecTemplate spec = SpecTemplate::parse(
      R"({"schema":1,"events":[{"gaussian_mixture":{"sigma":1,"sensitivities":[0,"?"],"probabilities":[0.5,0.5]}}]})");
  EXPECT_EQ(spec.unknown(), "sensitivities");
  EXPECT_EQ(spec.where(), "/events/0/gaussian_mixture/sensitivities/1");
}

}  // namespace sotto::json_text_test
