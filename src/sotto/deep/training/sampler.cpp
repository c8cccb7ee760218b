#include "sotto/deep/training/sampler.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numeric>

#include "sotto/core/error.hpp"
#include "sotto/deep/training/detail/step_stream.hpp"
#include "sotto/noise/poisson_sample.hpp"

namespace sotto::deep {
namespace {

constexpr std::array<std::string_view, 4> kSamplings = {"poisson", "without_replacement",
                                                        "with_replacement", "full_batch"};

std::vector<std::int64_t> all(std::uint64_t records) {
  std::vector<std::int64_t> indices(records);
  std::iota(indices.begin(), indices.end(), std::int64_t{0});
  return indices;
}

std::vector<std::int64_t> poisson(std::uint64_t records, double rate, StepStream& words) {
  std::vector<std::int64_t> indices;
  indices.reserve(static_cast<std::size_t>(1.2 * rate * static_cast<double>(records)) + 16);
  poisson_sample(
      records, rate, [&] { return words.next(); }, indices);
  return indices;
}

// The first places of a random permutation.
std::vector<std::int64_t> without_replacement(std::uint64_t records, std::uint64_t size,
                                              StepStream& words) {
  std::vector<std::int64_t> indices = all(records);
  for (std::uint64_t i = 0; i < size; ++i)
    std::swap(indices[i], indices[i + words.below(records - i)]);
  indices.resize(size);
  return indices;
}

}  // namespace

std::string_view name(Sampling sampling) { return kSamplings[static_cast<std::size_t>(sampling)]; }

Sampling parse_sampling(std::string_view text) {
  for (std::size_t i = 0; i < kSamplings.size(); ++i)
    if (kSamplings[i] == text) return static_cast<Sampling>(i);
  throw InvalidArgument(fmt::format("'{}' is not a way to sample batches", text),
                        "choose poisson, without_replacement, with_replacement or full_batch");
}

bool is_fixed(Sampling sampling) {
  return sampling == Sampling::without_replacement || sampling == Sampling::with_replacement;
}

BatchSampler::BatchSampler(Sampling sampling, std::uint64_t declared, double batch)
    : sampling_(sampling), declared_(declared), batch_(batch), rate_(1) {
  if (declared == 0)
    throw InvalidArgument("the declared number of records is 0; it must be at least 1");
  const auto n = static_cast<double>(declared);
  if (sampling == Sampling::full_batch) batch_ = n;
  if (!(batch_ > 0 && batch_ <= n))
    throw InvalidArgument(
        fmt::format("the expected batch size is {}; it must be above 0 and at most "
                    "the declared number of records, {}",
                    batch_, declared));
  if (is_fixed(sampling) && batch_ != std::floor(batch_))
    throw InvalidArgument(
        fmt::format("the batch size is {}; {} needs a whole number", batch_, name(sampling)));
  rate_ = batch_ / n;
  if (sampling == Sampling::poisson && rate_ == 1) sampling_ = Sampling::full_batch;
}

Event BatchSampler::sampled(Event event) const {
  switch (sampling_) {
    case Sampling::poisson: return poisson_sampled(std::move(event), rate_);
    case Sampling::without_replacement:
    case Sampling::with_replacement:
      return SampledEvent{.scheme = sampling_ == Sampling::with_replacement
                                        ? Scheme::with_replacement
                                        : Scheme::without_replacement,
                          .size = static_cast<std::uint64_t>(batch_),
                          .population = declared_,
                          .event = share(std::move(event))};
    case Sampling::full_batch: break;
  }
  return event;
}

std::vector<std::int64_t> BatchSampler::draw(std::uint64_t records, Rng& rng) const {
  if (sampling_ == Sampling::full_batch) return all(records);
  StepStream words(rng);
  if (sampling_ == Sampling::poisson) return poisson(records, rate_, words);
  if (records != declared_)
    throw DataError(fmt::format("{} records were declared, but there are {}", declared_, records),
                    "batches of fixed size need the exact public number of records");
  const auto size = static_cast<std::uint64_t>(batch_);
  if (sampling_ == Sampling::without_replacement) return without_replacement(records, size, words);
  std::vector<std::int64_t> indices(size);
  for (auto& index : indices) index = static_cast<std::int64_t>(words.below(records));
  return indices;
}

}  // namespace sotto::deep
