#include "sotto/data/number.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <random>
#include <string>
#include <string_view>

#include "sotto/data/detail/short_decimal.hpp"

namespace sotto::number_test {

TEST(ParseNumber, AgreesWithFromCharsOnRandomDecimals) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 200'000; ++trial) {
    std::string text = random() % 2 ? "-" : "";
    for (std::uint64_t n = random() % 20; n > 0; --n)
      text += static_cast<char>('0' + random() % 10);
    if (random() % 2) text += ".";
    for (std::uint64_t n = random() % 20; n > 0; --n)
      text += static_cast<char>('0' + random() % 10);
    if (random() % 4 == 0) text += "e" + std::to_string(static_cast<int>(random() % 500) - 250);
    double expected = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), expected);
    const NumberCell cell = parse_number(text);
    if (error == std::errc() && end == text.data() + text.size()) {
      ASSERT_EQ(cell.kind, CellKind::number) << text;
      ASSERT_EQ(cell.value, expected) << text;
      ASSERT_EQ(std::signbit(cell.value), std::signbit(expected)) << text;
    } else {
      ASSERT_NE(cell.kind, CellKind::not_finite) << text;
    }
  }
}

// Characters of numbers and others, with anything behind them: a number where the general parser
// finds the same one, and every decimal of at most 15 digits is found.
TEST(ShortDecimal, IsWhatTheGeneralParserFinds) {
  std::mt19937_64 random(5);
  const std::string_view letters = "00112233445566778899..--+e ,\"\n\xb5/:";
  int found = 0;
  for (int trial = 0; trial < 200'000; ++trial) {
    std::string text;
    const std::size_t size = random() % 19, kinds = trial % 2 == 0 ? 22 : letters.size();
    for (std::size_t i = 0; i < size; ++i) text += letters[random() % kinds];
    if (trial % 3 == 0 && size > 0) text[0] = '-';
    std::string padded = text;
    for (std::size_t i = 0; i < detail::kShortDecimalBytes; ++i)
      padded += static_cast<char>(random());
    double value = 0, expected = 0;
    const bool is_short = detail::short_decimal(padded.data(), size, value);
    const auto [end, error] = std::from_chars(text.data(), text.data() + size, expected);
    const bool is_number = error == std::errc() && end == text.data() + size;
    const auto digits = std::count_if(text.begin(), text.end(), [](char c) { return c != '.'; }) -
                        (size > 0 && text[0] == '-');
    const bool plain = text.find('e') == std::string::npos && digits <= 15;
    ASSERT_EQ(is_short, is_number && plain) << text;
    if (!is_short) continue;
    ASSERT_EQ(value, expected) << text;
    ASSERT_EQ(std::signbit(value), std::signbit(expected)) << text;
    ++found;
  }
  EXPECT_GT(found, 20'000);
}

TEST(ParseNumber, TellsHugeFromTiny) {
  const std::string zeros(400, '0');
  EXPECT_EQ(parse_number("1" + zeros).kind, CellKind::not_finite);
  EXPECT_EQ(parse_number("0." + zeros + "1").kind, CellKind::number);
  EXPECT_EQ(parse_number("0." + zeros + "1").value, 0);
  EXPECT_EQ(parse_number("0." + zeros + "1e800").kind, CellKind::not_finite);
  EXPECT_EQ(parse_number("1" + zeros + "e-1000").value, 0);
  EXPECT_EQ(parse_number("1e99999999999999999999").kind, CellKind::not_finite);
  EXPECT_EQ(parse_number("-1e-99999999999999999999").kind, CellKind::number);
  EXPECT_EQ(parse_number("0e99999999999999999999").value, 0);
  EXPECT_EQ(parse_number("1.7976931348623157e308").kind, CellKind::number);
  EXPECT_EQ(parse_number("1.7976931348623159e308").kind, CellKind::not_finite);
  EXPECT_EQ(parse_number("5e-324").value, 5e-324);
}

TEST(ParseNumber, ClassifiesCells) {
  EXPECT_EQ(parse_number("").kind, CellKind::missing);
  EXPECT_EQ(parse_number(" \t").kind, CellKind::missing);
  for (const char* text :
       {"-", "+", ".", "+-1", "++1", "1e", "e1", "1_000", "½", "0x1p3", "nanx"}) {
    EXPECT_EQ(parse_number(text).kind, CellKind::text) << text;
  }
  for (const char* text : {"nan", "NAN", "inf", "+inf", "-infinity"}) {
    EXPECT_EQ(parse_number(text).kind, CellKind::not_finite) << text;
  }
}

TEST(Number, DecimalCommasChangePlacesWithPoints) {
  std::string scratch;
  EXPECT_EQ(with_point("1,5", scratch), "1.5");
  EXPECT_EQ(with_point(" -1.234,5e3 ", scratch), " -1,234.5e3 ");
  for (const char* same : {"n.a.", ".", ",", "", "12", "a,1", "inf"})
    EXPECT_EQ(with_point(same, scratch), same);
}

}  // namespace sotto::number_test
