#include "sotto/core/spec.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"

namespace sotto::spec_test {
constexpr const char* kTemplate =
    R"({"schema":1,"relation":"replace_one","events":[{"repeat":{"count":10,"event":{"gaussian":{"noise_multiplier":"?"}}}}]})";

TEST(Spec, ReadsRelationAndEvents) {
  Spec spec = parse_spec(
      R"({"schema":1,"relation":"zero_out","events":[{"pure":{"epsilon":1}},{"zcdp":{"rho":0.5}}]})");
  EXPECT_EQ(spec.relation, Relation::zero_out);
  EXPECT_EQ(spec.events.size(), 2u);
  EXPECT_EQ(spec_from_json(to_json(spec)).events, spec.events);
}

TEST(Spec, RefusesBrokenDocuments) {
  for (const char* bad :
       {"", "{", "[]", R"({"events":[]})", R"({"schema":2,"events":[]})", R"({"schema":1})",
        R"({"schema":1,"relation":"x","events":[]})", R"({"schema":1,"events":[],"delta":1})",
        R"({"schema":1,"events":[1]})"}) {
    EXPECT_THROW(parse_spec(bad), DataError) << bad;
  }
}

TEST(SpecTemplate, FindsItsOneUnknownAndFillsIt) {
  SpecTemplate t = SpecTemplate::parse(kTemplate);
  EXPECT_EQ(t.unknown(), "noise_multiplier");
  EXPECT_FALSE(t.unknown_is_whole());
  EXPECT_EQ(t.where(), "/events/0/repeat/event/gaussian/noise_multiplier");
  EXPECT_EQ(t.with(2.5).events.front(), repeat(GaussianEvent::from_multiplier(2.5), 10));
  EXPECT_THROW(t.with(-1), DataError);
}

TEST(SpecTemplate, NeedsExactlyOneUnknown) {
  EXPECT_THROW(SpecTemplate::parse(R"({"schema":1,"events":[]})"), DataError);
  EXPECT_THROW(SpecTemplate::parse(
                   R"({"schema":1,"events":[{"pure":{"epsilon":"?"}},{"pure":{"epsilon":"?"}}]})"),
               DataError);
}

}  // namespace sotto::spec_test
