#include "sotto/core/text.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace sotto::text_test {

TEST(Text, WhatIsNotUtf8IsSpelledByte) {
  EXPECT_EQ(as_utf8("Köln, 東京, 🙂\n"), "Köln, 東京, 🙂\n");
  EXPECT_EQ(as_utf8("caf\xe9"), "caf\\xe9");
  EXPECT_EQ(as_utf8("\xff\xfe\xc0\x80"), "\\xff\\xfe\\xc0\\x80");
  EXPECT_EQ(as_utf8("\xe2\x82"), "\\xe2\\x82");                      // cut off
  EXPECT_EQ(as_utf8("\xed\xa0\x80"), "\\xed\\xa0\\x80");             // half of a pair
  EXPECT_EQ(as_utf8("\xf4\x90\x80\x80z"), "\\xf4\\x90\\x80\\x80z");  // beyond the last one
  EXPECT_EQ(as_utf8("\xe2z\x82"), "\\xe2z\\x82");
}

TEST(Text, EveryPairOfBytesBecomesUtf8ThatStays) {
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const std::string text = {static_cast<char>(a), static_cast<char>(b), 'x'};
      const std::string valid = as_utf8(text);
      EXPECT_TRUE(is_utf8(valid));
      EXPECT_EQ(is_utf8(text), valid == text);
      EXPECT_EQ(as_utf8(valid), valid);
      EXPECT_NO_THROW(nlohmann::json(visible(text)).dump());
    }
  }
}

TEST(Text, WhatATerminalObeysIsSpelled) {
  EXPECT_EQ(visible("\x1b[2J\x1b]0;x\a\x7f"), "\\u001b[2J\\u001b]0;x\\u0007\\u007f");
  EXPECT_EQ(visible("\xc2\x9b"
                    "2J"),
            "\\u009b2J");  // the one-character form
  EXPECT_EQ(visible("a\xe2\x80\xae"
                    "b"),
            "a\\u202eb");  // right to left
  EXPECT_EQ(visible("a\nb\tc\r"), "a\\u000ab\\u0009c\\u000d");
  EXPECT_EQ(visible_lines("a\nb\tc\r"), "a\nb\tc\\u000d");
}

TEST(Text, JsonMeansTheSameAfterwards) {
  const nlohmann::json json = {{"a\xc2\x9b\x7f", "x\xe2\x80\xaey"}};
  const std::string text = visible_lines(json.dump());
  EXPECT_EQ(text.find('\x7f'), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(text), json);
}

}  // namespace sotto::text_test
