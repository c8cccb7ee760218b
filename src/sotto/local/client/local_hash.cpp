#include "sotto/local/client/local_hash.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/noise/uniform.hpp"

namespace sotto::local {

std::uint64_t best_bucket_count(double epsilon) {
  return static_cast<std::uint64_t>(std::clamp(std::round(std::exp(epsilon)) + 1, 2.0, 65536.0));
}

LocalHash::LocalHash(double epsilon, std::uint64_t categories, std::uint64_t buckets,
                     std::uint64_t seeds)
    : categories_(categories),
      seeds_(seeds),
      seed_bytes_(seeds == 0 ? 8 : bytes_for(seeds)),
      response_(epsilon, buckets) {
  if (categories == 1) throw InvalidArgument("a protocol needs two categories or more");
}

std::uint64_t LocalHash::key(const Value& value) const {
  return categories_ == 0 ? key_of_word(word(value)) : category(value, categories_);
}

void LocalHash::answer_key(std::uint64_t key, Rng& rng, std::span<std::uint8_t> report) const {
  const std::uint64_t drawn = seeds_ == 0 ? rng.next_u64() : uniform_below(rng, seeds_);
  write_whole(report.first(seed_bytes_), drawn);
  write_whole(report.subspan(seed_bytes_), response_.draw(place(drawn, key), rng));
}

long double LocalHash::probability_of_key(std::uint64_t key, Bytes report) const {
  return response_.probability(std::uint64_t{place(seed(report), key)},
                               report.subspan(seed_bytes_));
}

void LocalHash::answer(const Value& value, Memory*, Rng& rng,
                       std::span<std::uint8_t> report) const {
  answer_key(key(value), rng, report);
}

long double LocalHash::probability(const Value& value, Bytes report) const {
  return probability_of_key(key(value), report);
}

}  // namespace sotto::local
