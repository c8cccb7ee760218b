// BatchSampler: which records take part in a step. The sampler that runs is the one that the plan's
// event names.
//
// What       poisson: each record by its own coin of probability batch/n; without_replacement and
//            with_replacement: exactly `batch` of the n records; full_batch: all of them. n is the
//            declared, public number of records.
// Guarantee  The sample has exactly the law that SampledEvent states. Sampled indices are private
//            and never leave the trainer.
// Method     A step takes one key from the generator; the coin of record i is a function of key and
//            i. So how much of the generator is used does not depend on the data, and a record more
//            does not move the coins of the others.
// Numerics   Coins compare 64 random bits with ⌊rate·2⁶⁴⌋: the rate is exact for rates above 2⁻¹¹
//            and never exceeded.
//            Uniform indices by rejection, without bias.
// Reference  docs/events.md for what the schemes mean.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sotto/core/event.hpp"
#include "sotto/core/rng.hpp"

namespace sotto::deep {

enum class Sampling { poisson, without_replacement, with_replacement, full_batch };

std::string_view name(Sampling sampling);        // "poisson", …
bool is_fixed(Sampling sampling);                // batches of exactly so many records, drawn
Sampling parse_sampling(std::string_view text);  // throws InvalidArgument

class BatchSampler {
 public:
  // declared: the public number of records; batch: the expected number in a step. Throws
  // InvalidArgument.
  BatchSampler(Sampling sampling, std::uint64_t declared, double batch);

  Sampling sampling() const { return sampling_; }
  double expected_batch() const { return batch_; }
  double rate() const { return rate_; }

  // What runs on the sample, as an event.
  Event sampled(Event event) const;

  // The indices of one step's batch among the records that are there. Private.
  std::vector<std::int64_t> draw(std::uint64_t records, Rng& rng) const;

 private:
  Sampling sampling_;
  std::uint64_t declared_;
  double batch_, rate_;
};

}  // namespace sotto::deep
