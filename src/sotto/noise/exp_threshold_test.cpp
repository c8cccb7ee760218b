#include "sotto/noise/detail/exp_threshold.hpp"

#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_dec_float.hpp>

#include "sotto/noise/sampler_checks_test.hpp"

namespace sotto::detail::exp_threshold_test {

using Real = boost::multiprecision::number<boost::multiprecision::cpp_dec_float<200>>;

Real value(const ExpThreshold& t) {
  return exp(-Real(t.a[0]) * Real(t.a[1]) / (Real(t.b[0]) * Real(t.b[1]))) * Real(t.p) / Real(t.q) *
         pow(Real(2), t.s);
}

const std::vector<ExpThreshold> kCases = {
    {.p = 1, .q = 1, .s = 0, .a = {1, 1}, .b = {3, 1}},
    {.p = 2, .q = 5, .s = 0, .a = {1, 1}, .b = {10, 1}},
    {.p = 308, .q = 17, .s = 0, .a = {35, 35}, .b = {10, 20}},
    {.p = 200, .q = 1, .s = 3, .a = {84, 84}, .b = {10, 20}},
    {.p = 3,
     .q = 7,
     .s = 0,
     .a = {(1ull << 59) - 1, (1ull << 57) + 5},
     .b = {(1ull << 53) - 1, (1ull << 54) - 2}},
    {.p = 1, .q = 1, .s = 900, .a = {999, 1}, .b = {1, 1}},
};

// The first word below, at or above that of the threshold: certain, a coin of the threshold's
// remaining bits, certain.
TEST(ExpThreshold, ComparesWithTheExactValue) {
  for (const auto& t : kCases) {
    const Real scaled = value(t) * pow(Real(2), 64);
    const auto word = static_cast<std::uint64_t>(floor(scaled));
    const auto rest = static_cast<double>(scaled - floor(scaled));
    ASSERT_LT(value(t), 1);
    Rng rng = Rng::insecure_seed(1);
    if (word > 0) {
      EXPECT_TRUE(below_exp_threshold(rng, word - 1, t));
    }
    EXPECT_FALSE(below_exp_threshold(rng, word + 1, t));
    const auto at_the_word = [&](Rng& r) { return below_exp_threshold(r, word, t); };
    EXPECT_GT(test::frequency_p(at_the_word, rest, 2000, 2), test::kAlpha)
        << static_cast<double>(value(t));
  }
}

// Words that agree with the threshold for 128 bits: only the 129th and later bits can decide, and
// they do so rightly.
TEST(ExpThreshold, DrawsAsManyBitsAsItNeeds) {
  class Tape final : public RandomSource {
   public:
    explicit Tape(std::uint64_t second) : second_(second), rest_(insecure_seed_source(3)) {}
    void fill(std::span<std::byte> out) override {
      rest_->fill(out);
      std::memcpy(out.data(), &second_, sizeof second_);
    }
    std::unique_ptr<RandomSource> split() override { return nullptr; }
    std::string_view kind() const override { return "tape"; }

   private:
    std::uint64_t second_;
    std::unique_ptr<RandomSource> rest_;
  };
  for (const auto& t : kCases) {
    const Real first_bits = value(t) * pow(Real(2), 64),
               second_bits = (first_bits - floor(first_bits)) * pow(Real(2), 64);
    const auto first = static_cast<std::uint64_t>(floor(first_bits)),
               second = static_cast<std::uint64_t>(floor(second_bits));
    Rng at(std::make_unique<Tape>(second)), below(std::make_unique<Tape>(second - 1)),
        above(std::make_unique<Tape>(second + 1));
    below_exp_threshold(at, first, t);
    EXPECT_GE(at.words(), 2u);
    if (second > 0) {
      EXPECT_TRUE(below_exp_threshold(below, first, t));
    }
    EXPECT_FALSE(below_exp_threshold(above, first, t));
  }
}

TEST(ExpThreshold, IsARationalWhenTheExponentIsZero) {
  const ExpThreshold third{.p = 1, .q = 3};
  EXPECT_GT(test::frequency_p([&](Rng& r) { return below_exp_threshold(r, r.next_u64(), third); },
                              1.0 / 3, 100000, 4),
            test::kAlpha);
}

}  // namespace sotto::detail::exp_threshold_test
