#include "sotto/core/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace sotto::progress_test {

struct Screen {
  std::vector<std::string> lines;
  std::chrono::steady_clock::time_point now{};

  ProgressOptions options(bool terminal) {
    return {.label = "training",
            .total = 100,
            .terminal = terminal,
            .width = 80,
            .write = [this](const std::string& s) { lines.push_back(s); },
            .now = [this] { return now; }};
  }
};

TEST(Progress, DrawsAtMostTenTimesASecond) {
  Screen screen;
  Progress progress(screen.options(true));
  for (std::uint64_t i = 1; i <= 100; ++i) {
    screen.now += std::chrono::milliseconds(10);
    progress.advance(i);
  }
  EXPECT_LE(screen.lines.size(), 10u);
  EXPECT_GE(screen.lines.size(), 9u);
}

TEST(Progress, BarShowsPartTimeLeftAndNote) {
  Screen screen;
  Progress progress(screen.options(true));
  screen.now += std::chrono::seconds(10);
  progress.advance(25, "eps 0.42");
  ASSERT_EQ(screen.lines.size(), 1u);
  EXPECT_THAT(screen.lines[0],
              testing::AllOf(testing::HasSubstr("25% 25/100"), testing::HasSubstr("ETA 30s"),
                             testing::HasSubstr("eps 0.42"), testing::HasSubstr("[###"),
                             testing::StartsWith("\r")));
}

TEST(Progress, PlainLinesCarryNoControlCharacters) {
  Screen screen;
  Progress progress(screen.options(false));
  screen.now += std::chrono::seconds(6);
  progress.advance(50);
  progress.finish();
  ASSERT_EQ(screen.lines.size(), 2u);
  for (const std::string& line : screen.lines) {
    EXPECT_EQ(line.find('\r'), std::string::npos);
    EXPECT_EQ(line.find('\x1b'), std::string::npos);
    EXPECT_EQ(line.back(), '\n');
  }
}

TEST(Progress, ShortWorkAndQuietWorkSayNothing) {
  Screen screen;
  {
    Progress progress(screen.options(true));
    progress.advance(100);
    progress.finish();
  }
  ProgressOptions quiet = screen.options(true);
  quiet.enabled = false;
  Progress progress(quiet);
  screen.now += std::chrono::seconds(60);
  progress.advance(1);
  progress.finish();
  EXPECT_TRUE(screen.lines.empty());
}

TEST(FormatDuration, ReadsWell) {
  EXPECT_EQ(format_duration(3), "3s");
  EXPECT_EQ(format_duration(125), "2m 05s");
  EXPECT_EQ(format_duration(3720), "1h 02m");
}

}  // namespace sotto::progress_test
