#include "sotto/core/certificate.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"

namespace sotto::certificate_test {

Certificate example() {
  Certificate c;
  c.spec = Spec{Relation::replace_one, {GaussianEvent::from_multiplier(2), PureEvent{0.1}}};
  c.epsilon = 1.5;
  c.delta = 1e-6;
  c.accountant = "pld";
  c.epsilon_by = {{"pld", 1.5}, {"rdp", 1.7}};
  c.method = "gradient";
  c.assumptions = {"rows = 100"};
  c.generator = "aes256ctr";
  c.files = {{"model.json", sha256("x")}};
  return c;
}

TEST(Certificate, RoundTrips) {
  const auto json = to_json(example());
  EXPECT_EQ(to_json(certificate_from_json(json)), json);
  EXPECT_EQ(certificate_from_json(json).spec->events, example().spec->events);
}

TEST(Certificate, NamesTheFamilyOfAModelAndReadsOlderOnesThatDoNot) {
  Certificate c = example();
  EXPECT_FALSE(to_json(c).contains("family"));
  c.family = "linear";
  EXPECT_EQ(certificate_from_json(to_json(c)).family, "linear");
  auto older = to_json(c);
  older["schema"] = 2;
  EXPECT_EQ(certificate_from_json(older).family, "");
}

TEST(Certificate, SaysInCapitalsWhatIsNotPrivate) {
  Certificate none = example();
  none.spec.reset();
  EXPECT_NE(to_json(none)["warning"].get<std::string>().find("NOT PRIVATE"), std::string::npos);
  EXPECT_FALSE(certificate_from_json(to_json(none)).is_private());
  Certificate seeded = example();
  seeded.generator = "insecure_seed";
  EXPECT_NE(to_json(seeded)["warning"].get<std::string>().find("INSECURE"), std::string::npos);
  EXPECT_FALSE(to_json(example()).contains("warning"));
}

TEST(Certificate, RefusesWhatIsIncomplete) {
  for (const char* key : {"schema", "unit", "private", "relation", "events", "epsilon", "delta",
                          "files", "generator"}) {
    auto json = to_json(example());
    json.erase(key);
    EXPECT_THROW(certificate_from_json(json), DataError) << key;
  }
}

TEST(Sha256, MatchesTheStandard) {
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace sotto::certificate_test
