#include "sotto/data/label_index.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace sotto {
namespace {

// Against a map, with labels of all lengths that differ in a byte or two, and NULs and bytes above
// 127 among them.
TEST(LabelIndex, FindsWhatAMapFinds) {
  std::mt19937_64 random(5);
  for (const std::size_t count : {0, 1, 2, 3, 7, 8, 100, 3000}) {
    std::vector<std::string> labels;
    std::map<std::string, std::uint32_t> expected;
    const auto text = [&] {
      std::string made(random() % 25, 'a');
      for (int change = 0; change < 3 && !made.empty(); ++change)
        made[random() % made.size()] = static_cast<char>(random() % 4 == 0 ? random() : 'b');
      return made;
    };
    for (std::uint32_t i = 0; i < count; ++i) {
      labels.push_back(text());
      expected.emplace(labels.back(), i);
    }
    const LabelIndex index(labels);
    std::size_t found = 0;
    for (int question = 0; question < 2000; ++question) {
      const std::string asked = count > 0 && random() % 2 ? labels[random() % count] : text();
      const auto it = expected.find(asked);
      const auto answer = index.find(asked);
      ASSERT_EQ(answer.has_value(), it != expected.end());
      EXPECT_EQ(answer.value_or(0), answer ? it->second : 0);
      found += answer.has_value();
    }
    EXPECT_GE(found, count > 0 ? 900 : 0);
  }
}

TEST(LabelIndex, HidesWhatItIsTold) {
  const LabelIndex index({"a", "?", "b"}, {"?", "c"});
  EXPECT_FALSE(index.find("?"));
  EXPECT_FALSE(index.find("c"));
  EXPECT_EQ(index.find("b"), 2);
}

TEST(LabelIndex, OfNothingFindsNothing) {
  EXPECT_FALSE(LabelIndex().find(""));
  EXPECT_FALSE(LabelIndex(std::vector<std::string>{}).find("a"));
  EXPECT_EQ(LabelIndex({"a", ""}).find({}), 1);
}

}  // namespace
}  // namespace sotto
