#include "sotto/learning/search_space.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sotto/core/error.hpp"

namespace sotto::search_space_test {

using testing::HasSubstr;

Family family() {
  Family f;
  f.name = f.title = "f";
  f.kinds = {{"model", {Task::classify}, "a model"}};
  f.methods = {{"auto", "chosen"}, {"gradient", "noisy gradients"}, {"none", "NOT PRIVATE"}};
  f.options = {{.name = "step_size", .type = OptionType::number, .range = Range::above(0)},
               {.name = "steps", .type = OptionType::whole, .range = Range::between(1, 1000)},
               {.name = "iterate", .type = OptionType::choice, .choices = {"last", "average"}},
               {.name = "bias", .type = OptionType::flag},
               {.name = "show", .type = OptionType::flag, .one_run = true}};
  return f;
}

std::vector<Candidate> read(const std::string& toml, OptionValues::Raw given = {}) {
  return read_search_space(toml, "grid.toml", family(), "model",
                           OptionValues(family().options, std::move(given)));
}

std::string refusal(const std::string& toml, OptionValues::Raw given = {}) {
  try {
    const std::size_t found = read(toml, std::move(given)).size();
    return "accepted: " + std::to_string(found);
  } catch (const DataError& error) {
    return error.what();
  }
}

TEST(SearchSpace, IsAllCombinationsTheLastOptionFastest) {
  const auto all = read("steps = [10, 20]\niterate = [\"last\", \"average\"]\n");
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].words(), "iterate last, steps 10");
  EXPECT_EQ(all[1].words(), "iterate average, steps 10");
  EXPECT_EQ(all[3].words(), "iterate average, steps 20");
}

TEST(SearchSpace, HasRangesOnBothScales) {
  const auto log = read("step-size = { from = 0.01, to = 100, points = 5, scale = \"log\" }");
  ASSERT_EQ(log.size(), 5U);
  EXPECT_EQ(log[1].words(), "step_size 0.1");
  EXPECT_EQ(log[4].words(), "step_size 100");
  const auto linear = read("steps = { from = 10, to = 20, points = 3 }");
  ASSERT_EQ(linear.size(), 3U);
  EXPECT_EQ(linear[1].words(), "steps 15");
}

TEST(SearchSpace, MayBeSeveralAndOneOfThemTheDefaults) {
  const auto all = read(
      "[space.rule]\n[space.g]\nmethod = \"gradient\"\nsteps = [1, 2]\n"
      "[space.b]\nbias = [true, false]\n");
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all[0].words(), "defaults");
  EXPECT_EQ(all[1].words(), "method gradient, steps 1");
  EXPECT_EQ(all[3].words(), "bias true");
  EXPECT_EQ(all[4].words(), "defaults");
}

TEST(SearchSpace, RefusesHostileDocuments) {
  EXPECT_THAT(refusal(""), HasSubstr("nothing to choose from"));
  EXPECT_THAT(refusal("steps = []"), HasSubstr("'steps' lists no value"));
  EXPECT_THAT(refusal("stepz = [1]"), HasSubstr("'stepz' is no option of this model"));
  EXPECT_THAT(refusal("show = [true]"), HasSubstr("'show' is no option"));
  EXPECT_THAT(refusal("steps = [\"many\"]"), HasSubstr("steps"));
  EXPECT_THAT(refusal("steps = [0]"), HasSubstr("steps"));
  EXPECT_THAT(refusal("steps = [1.5]"), HasSubstr("steps"));
  EXPECT_THAT(refusal("step_size = [-1]"), HasSubstr("step_size"));
  EXPECT_THAT(refusal("step_size = [nan]"), HasSubstr("step_size"));
  EXPECT_THAT(refusal("iterate = [\"first\"]"), HasSubstr("iterate"));
  EXPECT_THAT(refusal("bias = [3]"), HasSubstr("true or false"));
  EXPECT_THAT(refusal("steps = [[1]]"), HasSubstr("must list numbers"));
  EXPECT_THAT(refusal("steps = [1, 1]"), HasSubstr("twice"));
  EXPECT_THAT(refusal("method = [\"none\"]"), HasSubstr("NOT PRIVATE"));
  EXPECT_THAT(refusal("method = [\"gradiend\"]"), HasSubstr("no method"));
  for (const char* fixed : {"relation", "epsilon", "rows", "delta", "unit", "model"})
    EXPECT_THAT(refusal(std::string(fixed) + " = [1]"), HasSubstr("the same for all candidates"));
  EXPECT_THAT(refusal("steps = [1]", {{"steps", {"5"}}}), HasSubstr("also set for all"));
  EXPECT_THAT(refusal("[space]\n"), HasSubstr("no space"));
  EXPECT_THAT(refusal("steps = [1]\n[space.a]\n"), HasSubstr("stand beside"));
  EXPECT_THAT(refusal("steps = [1"), HasSubstr("grid.toml"));
}

TEST(SearchSpace, RefusesHostileRanges) {
  EXPECT_THAT(refusal("steps = { from = 1 }"), HasSubstr("needs a number 'to'"));
  EXPECT_THAT(refusal("steps = { from = 9, to = 1 }"), HasSubstr("to a larger one"));
  EXPECT_THAT(refusal("steps = { from = 1, to = 9, points = 1 }"), HasSubstr("points"));
  EXPECT_THAT(refusal("steps = { from = 1, to = 9, points = 1e9 }"), HasSubstr("points"));
  EXPECT_THAT(refusal("steps = { from = 1, to = 9, step = 2 }"), HasSubstr("'step'"));
  EXPECT_THAT(refusal("step_size = { from = 0, to = 9, scale = \"log\" }"), HasSubstr("above 0"));
  EXPECT_THAT(refusal("step_size = { from = 1, to = 9, scale = \"cube\" }"), HasSubstr("scale"));
  EXPECT_THAT(refusal("step_size = { from = 1, to = inf }"), HasSubstr("needs a number 'to'"));
  EXPECT_THAT(refusal("iterate = { from = 1, to = 2 }"), HasSubstr("no number"));
  EXPECT_THAT(refusal("method = { from = 1, to = 2 }"), HasSubstr("no number"));
  EXPECT_THAT(refusal("steps = { from = 1, to = 2, points = 9 }"), HasSubstr("twice"));
}

TEST(SearchSpace, TriesUsualValuesWhereNobodySaysWhat) {
  Family f = family();
  f.options.push_back(
      {.name = "depth", .type = OptionType::whole, .fallback = "3", .range = Range::between(1, 5)});
  std::vector<std::string> words;
  for (const Candidate& c : usual_search_space(f, "model", OptionValues(f.options, {})))
    words.push_back(c.words());
  EXPECT_EQ(words, (std::vector<std::string>{"defaults", "depth 5"}));
  EXPECT_EQ(usual_search_space(f, "model", OptionValues(f.options, {{"depth", {"2"}}})).size(), 1U);
}

TEST(SearchSpace, HasALimitedSize) {
  EXPECT_THAT(refusal("steps = { from = 1, to = 1000, points = 100 }\n"
                      "step_size = { from = 1, to = 1000, points = 100 }\n"),
              HasSubstr("more than 1000 candidates"));
  std::string many;
  for (int i = 0; i < 12; ++i)
    many += "[space.s" + std::to_string(i) + "]\nsteps = { from = 1, to = 1000, points = 100 }\n";
  EXPECT_THAT(refusal(many), HasSubstr("more than 1000 candidates"));
}

}  // namespace sotto::search_space_test
