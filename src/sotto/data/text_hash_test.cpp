#include "sotto/data/text_hash.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "sotto/data/encoder.hpp"

namespace sotto::text_hash_test {

std::vector<double> written(const TextHash& hash, std::string_view text) {
  std::vector<double> out(hash.buckets, 7.0);
  hash.write(text, out);
  return out;
}

long double square_of(const std::vector<double>& v) {
  long double square = 0;
  for (const double x : v) square += static_cast<long double>(x) * x;
  return square;
}

TEST(TextHash, HasNormOneAtMostForAnyBytes) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 3000; ++trial) {
    const TextHash hash{.buckets = 2 + random() % 300,
                        .words = 1 + random() % TextHash::kMostWords,
                        .characters = random() % (TextHash::kMostCharacters + 1)};
    std::string text(random() % 400, ' ');
    for (char& c : text)
      c = random() % 3 == 0 ? ' '
                            : static_cast<char>(trial % 2 == 0 ? random() : 'a' + random() % 4);
    const long double square = square_of(written(hash, text));
    EXPECT_LE(square, 1.0L);
    EXPECT_TRUE(square == 0 || square > 0.999999L);
  }
}

TEST(TextHash, SeesWordsWhateverStandsBetweenThem) {
  const TextHash hash;
  EXPECT_EQ(written(hash, "The pain, severe"), written(hash, "the PAIN...severe!"));
  EXPECT_NE(written(hash, "no pain"), written(hash, "severe pain"));
  EXPECT_EQ(written(hash, "a b"), written(hash, "b a"));
  const TextHash pairs{.words = 2};
  EXPECT_NE(written(pairs, "a b"), written(pairs, "b a"));
  EXPECT_EQ(written(hash, " ,;"), std::vector<double>(hash.buckets));
}

TEST(TextHash, RunsOfCharactersTellRelatedWords) {
  const TextHash hash{.buckets = 512, .words = 1, .characters = 3};
  const auto a = written(hash, "fracture"), b = written(hash, "fractured"),
             c = written(hash, "headache");
  const auto product = [](const auto& x, const auto& y) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
    return sum;
  };
  EXPECT_GT(product(a, b), 0.5);
  EXPECT_LT(product(a, c), 0.3);
}

TEST(TextColumn, CountsAsOneColumnOfTheNorm) {
  const Encoder e(Schema::from_toml(
      "relation = \"add_remove\"\n[columns.a]\ntype = \"numeric\"\nbounds = [0, 1]\n"
      "[columns.notes]\ntype = \"text\"\nrole = \"feature\"\nbuckets = 64\n"));
  EXPECT_EQ(e.width(), 65U);
  EXPECT_EQ(e.feature_names()[1], "notes~0");
  EXPECT_LT(e.norm_bound(), 1.4143);
  EXPECT_GE(e.norm_bound() * e.norm_bound(), 2.0);
}

}  // namespace sotto::text_hash_test
