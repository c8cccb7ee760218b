#include "sotto/core/event_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"

namespace sotto::event_json_test {

using Json = nlohmann::ordered_json;

std::string refusal(const char* text) {
  try {
    event_from_json(Json::parse(text));
  } catch (const DataError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(EventJson, EveryKindOfTheVocabularyRoundTrips) {
  for (
      const char* text : {
          R"({"gaussian":{"noise_multiplier":1.1}})",
          R"({"gaussian":{"sigma":2.0,"sensitivity":1.0}})",
          R"({"laplace":{"noise_multiplier":2.0}})",
          R"({"laplace":{"scale":2.0,"sensitivity":1.0}})",
          R"({"discrete_gaussian":{"sigma":3.0,"sensitivity":1.0}})",
          R"({"discrete_gaussian":{"sigma":3.0,"sensitivity":1.0,"granularity":0.25,"dimension":7}})",
          R"({"discrete_laplace":{"scale":2.0,"sensitivity":1.0}})",
          R"({"gaussian_mixture":{"sigma":1.0,"sensitivities":[0.0,1.0],"probabilities":[0.5,0.5]}})",
          R"({"randomized_response":{"epsilon":1.0,"categories":2}})",
          R"({"exponential":{"epsilon":0.5}})",
          R"({"pure":{"epsilon":0.3}})",
          R"({"approximate":{"epsilon":0.3,"delta":1e-6}})",
          R"({"zcdp":{"rho":0.1}})",
          R"({"tcdp":{"rho":0.1,"omega":8.0}})",
          R"({"gdp":{"mu":1.0}})",
          R"({"gnmax":{"sigma":40.0}})",
          R"({"lnmax":{"scale":20.0}})",
          R"({"sampled":{"scheme":"poisson","rate":0.01,"event":{"gaussian":{"noise_multiplier":1.0}}}})",
          R"({"sampled":{"scheme":"without_replacement","size":256,"population":60000,"event":{"pure":{"epsilon":1.0}}}})",
          R"({"sampled":{"scheme":"with_replacement","size":256,"population":60000,"event":{"pure":{"epsilon":1.0}}}})",
          R"({"shuffled":{"population":1000,"event":{"pure":{"epsilon":1.0}}}})",
          R"({"repeat":{"count":10000,"event":{"zcdp":{"rho":0.1}}}})",
          R"({"compose":[{"pure":{"epsilon":1.0}},{"zcdp":{"rho":0.1}}]})",
          R"({"parallel":[{"pure":{"epsilon":1.0}},{"zcdp":{"rho":0.1}}]})",
          R"({"private_selection":{"distribution":"truncated_negative_binomial","shape":0.5,"mean":10.0,"event":{"zcdp":{"rho":0.1}}}})",
          R"({"private_selection":{"distribution":"poisson","mean":10.0,"event":{"zcdp":{"rho":0.1}}}})",
      }) {
    EXPECT_EQ(to_json(event_from_json(Json::parse(text))), Json::parse(text)) << text;
  }
}

TEST(EventJson, RefusalsNameThePlace) {
  EXPECT_THAT(refusal(R"({"gaussian":{"noise_multiplier":0}})"),
              testing::HasSubstr("gaussian.sigma is 0"));
  EXPECT_THAT(refusal(R"({"gaussian":{}})"), testing::HasSubstr("event.gaussian has no 'sigma'"));
  EXPECT_THAT(refusal(R"({"gaussian":{"noise_multiplier":1,"sigma":2}})"),
              testing::HasSubstr("unknown member 'sigma'"));
  EXPECT_THAT(refusal(R"({"pure":{"epsilon":1,"extra":2}})"),
              testing::HasSubstr("unknown member 'extra'"));
  EXPECT_THAT(refusal(R"({"gausian":{"noise_multiplier":1}})"),
              testing::HasSubstr("unknown kind 'gausian'"));
  EXPECT_THAT(refusal(R"({"pure":{"epsilon":1},"zcdp":{"rho":1}})"), testing::HasSubstr("one key"));
  EXPECT_THAT(refusal(R"({"pure":{"epsilon":"?"}})"), testing::HasSubstr("calibration"));
  EXPECT_THAT(refusal(R"({"repeat":{"count":1.5,"event":{"pure":{"epsilon":1}}}})"),
              testing::HasSubstr("whole number"));
  EXPECT_THAT(refusal(R"({"repeat":{"count":-1,"event":{"pure":{"epsilon":1}}}})"),
              testing::HasSubstr("whole number"));
  EXPECT_THAT(
      refusal(R"({"sampled":{"scheme":"poisson","rate":1.5,"event":{"pure":{"epsilon":1}}}})"),
      testing::HasSubstr("sampled.rate is 1.5"));
  EXPECT_THAT(
      refusal(R"({"sampled":{"scheme":"shuffle","rate":0.5,"event":{"pure":{"epsilon":1}}}})"),
      testing::HasSubstr("scheme is 'shuffle'"));
  EXPECT_THAT(refusal(R"({"compose":[{"pure":{"epsilon":1}},{"pure":{"epsilon":-1}}]})"),
              testing::HasSubstr("event.compose[1]"));
  EXPECT_THAT(refusal("[]"), testing::HasSubstr("one key"));
}

TEST(EventJson, DeepNestingIsRefusedNotACrash) {
  std::string text = R"({"pure":{"epsilon":1}})";
  for (int i = 0; i < 100; ++i) text = R"({"repeat":{"count":2,"event":)" + text + "}}";
  EXPECT_THAT(refusal(text.c_str()), testing::HasSubstr("nested"));
}

}  // namespace sotto::event_json_test
