#include "sotto/data/detail/record_numbers.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "sotto/data/detail/short_decimal.hpp"

namespace sotto::record_numbers_test {

std::string decimal(std::mt19937_64& random) {
  std::string text = random() % 2 ? "-" : "";
  const std::size_t digits = 1 + random() % (random() % 4 == 0 ? 15 : 8);
  const std::size_t point = random() % 3 == 0 ? digits + 1 : random() % (digits + 1);
  for (std::size_t i = 0; i < digits; ++i) {
    if (i == point) text += '.';
    text += static_cast<char>('0' + random() % 10);
  }
  return point == digits ? text + '.' : text;
}

// One character of a number is made into any.
void damage(std::string& text, std::mt19937_64& random) {
  const std::string_view letters = "..--+e ,\"\n\xb5/:\x7f\x80\xff";
  const std::size_t at = random() % (text.size() + 1);
  if (at == text.size() || random() % 8 == 0) {
    text.clear();
    if (random() % 2) text = random() % 2 ? "." : "-";
  } else {
    text[at] = letters[random() % letters.size()];
  }
}

// As short_decimal and the scale say, to the bit, for any number of columns in any order, and with
// anything behind a field.
TEST(RecordNumbers, AreShortDecimalsScaledOneByOne) {
  std::mt19937_64 random(7);
  int read = 0, refused = 0;
  for (int trial = 0; trial < 20'000; ++trial) {
    const std::size_t columns = 1 + random() % 9;
    std::vector<std::string> texts(columns);
    for (std::string& text : texts) text = decimal(random);
    if (trial % 3 == 0) damage(texts[random() % columns], random);
    std::string block;
    for (const std::string& text : texts) block += text + ',';
    for (std::size_t i = 0; i < CsvCursor::kPadding; ++i) block += static_cast<char>(random());
    std::vector<CsvField> fields;
    std::size_t at = 0;
    for (const std::string& text : texts) {
      fields.push_back({.raw = std::string_view(block).substr(at, text.size())});
      at += text.size() + 1;
    }
    std::vector<std::size_t> places;
    std::vector<detail::NumberScale> scales;
    for (std::size_t i = 0; i < columns; ++i) {
      places.push_back(columns - 1 - i);
      const double width = std::ldexp(1.0, static_cast<int>(random() % 30));
      scales.emplace_back(Bounds(-width / 3, width));
    }
    const bool unit = random() % 2;
    const detail::RecordNumbers numbers(places, scales, unit);
    std::vector<double> values(columns), plainly(columns);
    bool decimals = true;
    const bool done = numbers.read(fields, values);
    ASSERT_EQ(done, numbers.read_plainly(fields, plainly)) << block;
    for (std::size_t i = 0; i < columns; ++i) {
      const std::string_view raw = fields[places[i]].raw;
      double number = 0;
      decimals = decimals && detail::short_decimal(raw.data(), raw.size(), number);
      if (!decimals) break;
      const double symmetric = scales[i].product(number);
      const double expected = unit ? (symmetric + 1) / 2 : symmetric;
      if (!done) continue;
      ASSERT_EQ(std::bit_cast<std::uint64_t>(values[i]), std::bit_cast<std::uint64_t>(expected))
          << raw;
      ASSERT_EQ(std::bit_cast<std::uint64_t>(plainly[i]), std::bit_cast<std::uint64_t>(expected))
          << raw;
    }
    ASSERT_EQ(done, decimals) << block;
    ++(done ? read : refused);
  }
  EXPECT_GT(read, 10'000);
  EXPECT_GT(refused, 4'000);
}

}  // namespace sotto::record_numbers_test
