// Local hashing: the value is hashed into g buckets by a random public function, and the bucket is
// reported by randomized response (BLH, OLH, fast OLH).
//
// What       The report is (seed, bucket). Its size does not depend on the number of categories.
// Guarantee  That of randomized response over g buckets: the seed is drawn without a look at the
//            value, and given the seed only the bucket depends on it.
// Method     g = 2 (BLH), or round(e^ε) + 1 (OLH), which has the least variance. Seeds are 64-bit
//            numbers, or one of few (fast OLH): then the collector keeps a table of seeds × buckets
//            instead of looking at every category for every report [CMM21].
// Numerics   As direct.hpp and hash_family.hpp.
// Reference  [WBLJ17], [BS15], [CMM21].
#pragma once

#include "sotto/local/client/direct.hpp"
#include "sotto/local/client/hash_family.hpp"

namespace sotto::local {

std::uint64_t best_bucket_count(double epsilon);

class LocalHash final : public Randomizer {
 public:
  // seeds = 0: all 64-bit numbers. categories = 0: the values are words.
  LocalHash(double epsilon, std::uint64_t categories, std::uint64_t buckets, std::uint64_t seeds);

  double epsilon() const override { return response_.epsilon(); }
  std::size_t report_bytes() const override { return seed_bytes_ + response_.report_bytes(); }
  void answer(const Value& value, Memory* memory, Rng& rng,
              std::span<std::uint8_t> report) const override;
  long double probability(const Value& value, Bytes report) const override;

  // The same for a key, whatever it stands for.
  void answer_key(std::uint64_t key, Rng& rng, std::span<std::uint8_t> report) const;
  long double probability_of_key(std::uint64_t key, Bytes report) const;

  std::uint64_t buckets() const { return response_.categories(); }
  std::uint64_t seeds() const { return seeds_; }
  std::uint64_t seed(Bytes report) const { return read_whole(report.first(seed_bytes_)); }
  std::uint64_t reported(Bytes report) const { return read_whole(report.subspan(seed_bytes_)); }
  std::uint64_t key(const Value& value) const;
  // The bucket of a key under a seed.
  std::uint32_t place(std::uint64_t seed, std::uint64_t key) const {
    return bucket(hash_of_seed(seed)(key), static_cast<std::uint32_t>(buckets()));
  }
  double p() const { return response_.p(); }  // the reported bucket is that of the value
  double q() const { return 1 / static_cast<double>(buckets()); }  // of another value, by chance

 private:
  std::uint64_t categories_, seeds_;
  std::size_t seed_bytes_;
  DirectEncoding response_;
};

}  // namespace sotto::local
