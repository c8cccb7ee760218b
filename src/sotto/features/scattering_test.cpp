#include "sotto/features/scattering.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "sotto/core/error.hpp"

namespace sotto::features::scattering_test {

// A hand-written five, rows 5 to 24 of 28.
constexpr std::array<std::string_view, 20> kFive = {
    "000000000000000000000000031212127e88af1aa6fff77f00000000",
    "00000000000000001e245e9aaafdfdfdfdfde1acfdf2c34000000000",
    "0000000000000031eefdfdfdfdfdfdfdfdfb5d525238270000000000",
    "0000000000000012dbfdfdfdfdfdc6b6f7f100000000000000000000",
    "0000000000000000509c6bfdfdcd0b002b9a00000000000000000000",
    "0000000000000000000e019afd5a0000000000000000000000000000",
    "00000000000000000000008bfdbe0200000000000000000000000000",
    "00000000000000000000000bbefd4600000000000000000000000000",
    "00000000000000000000000023f1e1a06c0100000000000000000000",
    "0000000000000000000000000051f0fdfd7719000000000000000000",
    "00000000000000000000000000002dbafdfd961b0000000000000000",
    "000000000000000000000000000000105dfcfdbb0000000000000000",
    "0000000000000000000000000000000000f9fdf94000000000000000",
    "00000000000000000000000000002e82b7fdfdcf0200000000000000",
    "0000000000000000000000002794e5fdfdfdfab60000000000000000",
    "000000000000000000001872ddfdfdfdfdc94e000000000000000000",
    "00000000000000001742d5fdfdfdfdc6510200000000000000000000",
    "00000000000012abdbfdfdfdfdc35009000000000000000000000000",
    "0000000037ace2fdfdfdfdf4850b0000000000000000000000000000",
    "0000000088fdfdfdd487841000000000000000000000000000000000"};

std::vector<std::uint8_t> five() {
  std::vector<std::uint8_t> pixels(784, 0);
  for (std::size_t r = 0; r < kFive.size(); ++r)
    for (std::size_t c = 0; c < 28; ++c)
      pixels[(r + 5) * 28 + c] = static_cast<std::uint8_t>(
          std::stoul(std::string(kFive[r].substr(2 * c, 2)), nullptr, 16));
  return pixels;
}

// Values of Kymatio's numpy back end for this image, J = 2, L = 8, order 2.
TEST(Scattering, HasTheValuesOfKymatio) {
  const Points s = Scattering(28).apply(five());
  ASSERT_EQ(s.width, 3969U);
  ASSERT_EQ(s.rows(), 1U);
  const std::pair<std::size_t, double> known[] = {
      {24, 0.4085755},    {10, 0.1428657},     {73, 0.0394457},     {213, 0.08774723},
      {422, 0.002879921}, {465, 0.04010369},   {606, 0.1503091},    {815, 0.04257707},
      {857, 0.003761073}, {1241, 0.006259249}, {1985, 0.004806374}, {2728, 0.008954863},
      {3503, 0.0177715},  {3940, 0.004436753}, {3968, 0.001025662}};
  for (const auto& [at, value] : known) EXPECT_NEAR(s.values[at], value, 2e-6) << at;
}

TEST(Scattering, AnImageDoesNotDependOnItsCompany) {
  const std::vector<std::uint8_t> one = five();
  std::vector<std::uint8_t> many;
  for (int i = 0; i < 37; ++i) {
    std::vector<std::uint8_t> image = one;
    for (auto& p : image) p = static_cast<std::uint8_t>(i == 20 ? p : p * 7 + i);
    many.insert(many.end(), image.begin(), image.end());
  }
  const Scattering scattering(28);
  const Points alone = scattering.apply(one), among = scattering.apply(many, 2);
  for (std::size_t j = 0; j < alone.width; ++j) ASSERT_EQ(alone.row(0)[j], among.row(20)[j]);
}

TEST(Scattering, AConstantImageHasNoWaves) {
  const Points s = Scattering(8).apply(std::vector<std::uint8_t>(64, 255));
  ASSERT_EQ(s.width, 81U * 4);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(s.values[i], 1, 5e-5);
  for (std::size_t i = 4; i < s.width; ++i) EXPECT_NEAR(s.values[i], 0, 1e-5);
}

TEST(Scattering, RefusesOtherImages) {
  EXPECT_THROW(Scattering(30), InvalidArgument);
  EXPECT_THROW(Scattering(28).apply(std::vector<std::uint8_t>(700)), InvalidArgument);
}

}  // namespace sotto::features::scattering_test
