#include "sotto/core/option.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"

namespace sotto::option_test {

std::vector<Option> declared() {
  return {{.name = "noise_multiplier", .type = OptionType::number, .range = Range::above(0)},
          {.name = "steps", .type = OptionType::whole, .fallback = "10", .range = Range::from(1)},
          {.name = "noise",
           .type = OptionType::choice,
           .fallback = "auto",
           .choices = {"auto", "exact"}},
          {.name = "hidden", .type = OptionType::list},
          {.name = "resume", .type = OptionType::flag}};
}

using Json = nlohmann::ordered_json;

std::string refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const InvalidArgument& e) {
    return e.what();
  }
  return "accepted";
}

TEST(OptionValues, ReadsTextAndJsonAlike) {
  const OptionValues typed(
      declared(),
      {{"noise_multiplier", {"1.5"}}, {"steps", {"1e3"}}, {"hidden", {"8,4"}}, {"resume", {}}});
  const OptionValues json = OptionValues::from_json(
      declared(),
      {{"noise_multiplier", 1.5}, {"steps", 1000}, {"hidden", {8, 4}}, {"resume", true}});
  for (const OptionValues* values : {&typed, &json}) {
    EXPECT_EQ(values->number("noise_multiplier"), 1.5);
    EXPECT_EQ(values->whole("steps"), 1000u);
    EXPECT_EQ(values->list("hidden"), (std::vector<std::string>{"8", "4"}));
    EXPECT_TRUE(values->flag("resume"));
    EXPECT_EQ(values->text("noise"), "auto");
    EXPECT_FALSE(values->given("noise"));
  }
  const OptionValues none = OptionValues::from_json(declared(), {{"resume", false}});
  EXPECT_FALSE(none.flag("resume"));
  EXPECT_FALSE(none.maybe_number("noise_multiplier"));
  EXPECT_EQ(none.maybe_whole("steps"), 10u);
}

TEST(OptionValues, RefusesByNameWhatIsNotAllowed) {
  const auto with = [](const char* name, std::vector<std::string> value) {
    return refusal([&] { OptionValues(declared(), {{name, std::move(value)}}); });
  };
  EXPECT_EQ(with("noise_multiplier", {"0"}),
            "`noise_multiplier` is '0'; it must be a number above 0");
  EXPECT_EQ(with("noise_multiplier", {"nan"}),
            "`noise_multiplier` is 'nan'; it must be a number above 0");
  EXPECT_EQ(with("steps", {"1.5"}), "`steps` is '1.5'; it must be a whole number 1 or more");
  EXPECT_EQ(with("noise", {"loud"}), "`noise` is 'loud'; it must be one of auto, exact");
  EXPECT_EQ(with("steps", {"1", "2"}), "`steps` is given 2 times");
  EXPECT_EQ(with("hidden", {""}), "`hidden` is ''; it must be something");
  EXPECT_EQ(with("stepz", {"1"}), "there is no option 'stepz' here");
  EXPECT_EQ(refusal([] {
              OptionValues::from_json(declared(), {{"stepz", 1}});
            }),
            "there is no option 'stepz' here");
  EXPECT_EQ(refusal([] {
              OptionValues::from_json(declared(), Json{{"steps", Json::array({1})}});
            }),
            "`steps` has a value of the wrong type, array");
}

TEST(OptionValues, SayThatThereAreNoneToChooseFrom) {
  try {
    OptionValues({}, {{"columns", {"age"}}});
    FAIL() << "an option that nobody declared was taken";
  } catch (const InvalidArgument& e) {
    EXPECT_EQ(e.hint(), "there are none");
  }
}

TEST(ForCommandLine, WritesNamesOfOptionsAsTheyAreTyped) {
  EXPECT_EQ(for_command_line("give `noise_multiplier` or `epsilon` E"),
            "give --noise-multiplier or --epsilon E");
  for (const char* other : {"", "`", "``", "`Column name`", "`open", "a ` b ` c"})
    EXPECT_EQ(for_command_line(other), other);
}

}  // namespace sotto::option_test
