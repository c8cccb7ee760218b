#include "sotto/local/client/longitudinal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/local/client/coin.hpp"
#include "sotto/local/client/memory.hpp"
#include "sotto/noise/uniform.hpp"

namespace sotto::local {
namespace {

void check_order(double epsilon, double permanent) {
  if (!(epsilon < permanent))
    throw InvalidArgument(
        fmt::format("epsilon of a report is {}; it must be below that of the permanent answer, {}",
                    epsilon, permanent),
        "raise `permanent_epsilon`");
}

// The least noise x in [low, high] (least private first) whose ε is within the one asked for.
long double least_noise(long double low, long double high, double epsilon,
                        const std::function<double(long double)>& epsilon_of) {
  for (int i = 0; i < 80; ++i) {
    const long double middle = (low + high) / 2;
    (epsilon_of(middle) <= epsilon ? high : low) = middle;
  }
  return high;
}

}  // namespace

LongitudinalUnary::LongitudinalUnary(UnaryEncoding permanent, double epsilon)
    : permanent_(std::move(permanent)) {
  (void)inner_epsilon(epsilon);
  check_order(epsilon, permanent_.epsilon());
  const auto epsilon_of = [&](long double flipped) {
    flip_ = dyadic_above(flipped);
    const long double p = chain(permanent_.p()), q = chain(permanent_.q());
    // p and q of the permanent answer come as doubles: 2^-49 covers their rounding.
    return log_ratio_up(p * (1 - q), q * (1 - p) * (1 - 0x1p-49L));
  };
  epsilon_ = epsilon_of(least_noise(0, 0.5L, epsilon, epsilon_of));
}

long double LongitudinalUnary::chain(long double one) const {
  return one * dyadic_rest(flip_) + (1 - one) * dyadic(flip_);
}

void LongitudinalUnary::answer(const Value& value, Memory* memory, Rng& rng,
                               std::span<std::uint8_t> report) const {
  const std::uint64_t own = category(value, categories());
  Rng permanent = permanent_rng(needed(memory), fmt::format("value {}", own), rng);
  permanent_.answer(own, nullptr, permanent, report);
  for (std::uint64_t at = 0; at < categories(); at += 64) {
    const std::uint64_t turned = biased_word(rng, flip_);
    for (std::uint64_t i = at; i < std::min(at + 64, categories()); ++i)
      if ((turned >> (i - at) & 1) != 0) set_bit(report, i, !bit_of(report, i));
  }
}

long double LongitudinalUnary::probability(const Value& value, Bytes report) const {
  const std::uint64_t own = category(value, categories());
  long double result = 1;
  for (std::uint64_t i = 0; i < categories(); ++i) {
    const long double one = chain(i == own ? permanent_.p() : permanent_.q());
    result *= bit_of(report, i) ? one : 1 - one;
  }
  return result;
}

LongitudinalHash::LongitudinalHash(double epsilon, double permanent_epsilon,
                                   std::uint64_t categories, std::uint64_t buckets)
    : categories_(categories),
      permanent_(permanent_epsilon, buckets),
      again_(permanent_epsilon, buckets) {
  (void)inner_epsilon(epsilon);
  check_order(epsilon, permanent_.epsilon());
  const auto g = static_cast<long double>(buckets);
  // The second response, by its own ε: noise −ε grows from least to most private.
  const auto epsilon_of = [&](long double noise) {
    again_ = DirectEncoding(static_cast<double>(-noise), buckets);
    const long double own = static_cast<long double>(p());
    return log_ratio_up(own, (1 - own) / (g - 1) * (1 - 0x1p-50L));
  };
  epsilon_ = epsilon_of(least_noise(-30, -1e-4L, epsilon, epsilon_of));
  if (epsilon_ > epsilon) throw InvalidArgument("epsilon of a report is too small for LOLOHA");
}

double LongitudinalHash::p() const {
  const auto g = static_cast<double>(buckets());
  return permanent_.p() * again_.p() + (g - 1) * permanent_.q() * again_.q();
}

void LongitudinalHash::answer(const Value& value, Memory* memory, Rng& rng,
                              std::span<std::uint8_t> report) const {
  Memory& kept = needed(memory);
  const std::string drawn = kept.recall("#seed", 8, rng);
  std::memcpy(report.data(), drawn.data(), 8);
  const std::uint32_t own =
      bucket(hash_of_seed(read_whole(report.first(8)))(category(value, categories_)),
             static_cast<std::uint32_t>(buckets()));
  Rng permanent = permanent_rng(kept, fmt::format("bucket {}", own), rng);
  write_whole(report.subspan(8), again_.draw(permanent_.draw(own, permanent), rng));
}

long double LongitudinalHash::probability(const Value& value, Bytes report) const {
  const std::uint32_t own =
      bucket(hash_of_seed(read_whole(report.first(8)))(category(value, categories_)),
             static_cast<std::uint32_t>(buckets()));
  const long double mine = static_cast<long double>(p());
  return read_whole(report.subspan(8)) == own
             ? mine
             : (1 - mine) / static_cast<long double>(buckets() - 1);
}

BucketBits::BucketBits(double epsilon, std::uint64_t categories, std::uint64_t bits)
    : categories_(categories), bits_(bits) {
  if (bits < 1 || bits > categories || bits > 1024)
    throw InvalidArgument("`bits` is at least 1, at most 1024 and the number of categories");
  flip_ = dyadic_above(1 / (std::exp(inner_epsilon(epsilon) / 2) + 1));
  epsilon_ = log_ratio_up(dyadic_rest(flip_) * dyadic_rest(flip_), dyadic(flip_) * dyadic(flip_));
}

std::uint64_t BucketBits::category_at(Bytes report, std::uint64_t i) const {
  const std::size_t width = bytes_for(categories_);
  return read_whole(report.subspan(i * (width + 1), width));
}
std::uint8_t BucketBits::bit_at(Bytes report, std::uint64_t i) const {
  const std::size_t width = bytes_for(categories_);
  return report[i * (width + 1) + width];
}
double BucketBits::p() const { return static_cast<double>(dyadic_rest(flip_)); }

void BucketBits::answer(const Value& value, Memory* memory, Rng& rng,
                        std::span<std::uint8_t> report) const {
  Memory& kept = needed(memory);
  const std::uint64_t own = category(value, categories_);
  // Which categories: drawn once, without a look at the value.
  Rng choice = permanent_rng(kept, "#buckets", rng);
  std::vector<std::uint64_t> chosen;
  while (chosen.size() < bits_) {
    const std::uint64_t c = uniform_below(choice, categories_);
    if (std::find(chosen.begin(), chosen.end(), c) == chosen.end()) chosen.push_back(c);
  }
  std::sort(chosen.begin(), chosen.end());
  const bool among = std::find(chosen.begin(), chosen.end(), own) != chosen.end();
  Rng permanent = permanent_rng(kept, among ? fmt::format("bucket {}", own) : "none", rng);
  const std::size_t width = bytes_for(categories_);
  for (std::uint64_t i = 0; i < bits_; ++i) {
    const bool truth = chosen[i] == own, turned = flip(permanent, flip_);
    write_whole(report.subspan(i * (width + 1), width), chosen[i]);
    report[i * (width + 1) + width] = truth != turned ? 1 : 0;
  }
}

long double BucketBits::probability(const Value& value, Bytes report) const {
  const std::uint64_t own = category(value, categories_);
  long double result = 1;
  for (std::uint64_t i = 0; i < bits_; ++i)
    result *= (category_at(report, i) == own) == (bit_at(report, i) != 0) ? dyadic_rest(flip_)
                                                                          : dyadic(flip_);
  return result;
}

}  // namespace sotto::local
