#include "sotto/local/client/record.hpp"

#include <gtest/gtest.h>

#include "sotto/core/rng.hpp"

namespace sotto::local::record_test {

TEST(Record, ReadsBackWhatWasWritten) {
  const std::vector<std::uint8_t> report = {0, 255, 7};
  for (const std::string client : {"", "alice", "ü"}) {
    for (const std::optional<std::uint64_t> epoch :
         {std::optional<std::uint64_t>{}, std::optional<std::uint64_t>{0},
          std::optional<std::uint64_t>{1'000'000}}) {
      std::string bytes;
      append_record(bytes, {.tag = 0xDEADBEEF, .client = client, .epoch = epoch, .report = report});
      const std::string longer = bytes + "more";
      const ParsedRecord parsed = parse_record(longer);
      ASSERT_EQ(parsed.outcome, Parsed::whole);
      EXPECT_EQ(parsed.length, bytes.size());
      EXPECT_EQ(parsed.record.tag, 0xDEADBEEF);
      EXPECT_EQ(parsed.record.client, client);
      EXPECT_EQ(parsed.record.epoch, epoch);
      EXPECT_TRUE(std::equal(report.begin(), report.end(), parsed.record.report.begin(),
                             parsed.record.report.end()));
      for (std::size_t n = 0; n < bytes.size(); ++n)
        EXPECT_EQ(parse_record(std::string_view(bytes).substr(0, n)).outcome, Parsed::incomplete);

      std::string c, r;
      const auto line = record_line(parsed.record);
      const auto from_line = parse_record_line(line, c, r);
      ASSERT_TRUE(from_line);
      EXPECT_EQ(from_line->client, client);
      EXPECT_EQ(from_line->epoch, epoch);
      EXPECT_TRUE(std::equal(report.begin(), report.end(), from_line->report.begin(),
                             from_line->report.end()));
    }
  }
}

TEST(Record, RefusesLengthsOfGigabytesOtherVersionsAndSecondSpellings) {
  const auto broken = [](std::string bytes) {
    return parse_record(bytes + std::string(40, '\0')).outcome == Parsed::broken;
  };
  const std::string start("\x01tagg\x00", 6);
  EXPECT_TRUE(broken(start + "\xFF\xFF\xFF\xFF\x0F"));                      // 4 GB
  EXPECT_TRUE(broken(start + "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F"));  // beyond 64 bits
  EXPECT_TRUE(broken(start + std::string("\x81\x80\x00", 3)));              // 1 in three bytes
  EXPECT_TRUE(broken("\x02tagg"));                                          // version
  EXPECT_TRUE(broken("\x01tagg\x04"));                                      // flags
  EXPECT_TRUE(broken(std::string("\x01tagg\x01\x00", 7)));                  // an empty id
}

TEST(Record, LinesThatAreNoReportsAreNone) {
  std::string c, r;
  for (const char* line :
       {"", "x", "[]", "{}", R"({"tag":1})", R"({"report":"00"})", R"({"tag":-1,"report":"00"})",
        R"({"tag":1,"report":"0"})", R"({"tag":1,"report":"zz"})", R"({"tag":1,"report":1})",
        R"({"tag":1,"report":"00","epoch":-1})", R"({"tag":1,"report":"00","epoch":0.5})",
        R"({"tag":1,"report":"00","client":""})", R"({"tag":1,"report":"00","extra":1})",
        R"({"tag":NaN,"report":"00"})", R"({"tag":1,"report":"00","report":"01"})"})
    EXPECT_FALSE(parse_record_line(line, c, r)) << line;
}

}  // namespace sotto::local::record_test
