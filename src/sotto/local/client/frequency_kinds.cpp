#include "sotto/local/client/detail/kinds.hpp"
#include "sotto/local/client/direct.hpp"
#include "sotto/local/client/hadamard.hpp"
#include "sotto/local/client/histogram.hpp"
#include "sotto/local/client/local_hash.hpp"
#include "sotto/local/client/subset.hpp"
#include "sotto/local/client/unary.hpp"

namespace sotto::local::detail {
namespace {

constexpr const char* kFrequencies = "Frequencies of categories";

template <class T>
std::unique_ptr<Randomizer> of(T randomizer) {
  return std::make_unique<T>(std::move(randomizer));
}

ProtocolKind grr() {
  return {.name = "grr",
          .title = kFrequencies,
          .help = "randomized response over all categories: best for few of them",
          .make = [](const Declaration& d) { return of(DirectEncoding(d.epsilon, d.domain)); }};
}

ProtocolKind sue() {
  return {.name = "sue",
          .title = kFrequencies,
          .help = "symmetric unary encoding: one bit a category, both kinds flipped alike",
          .make = [](const Declaration& d) {
            return of(UnaryEncoding::symmetric(d.epsilon, d.domain));
          }};
}

ProtocolKind oue() {
  return {.name = "oue",
          .title = kFrequencies,
          .help = "optimised unary encoding: one bit a category, few false ones",
          .make = [](const Declaration& d) {
            return of(UnaryEncoding::optimised(d.epsilon, d.domain));
          }};
}

ProtocolKind the() {
  return {
      .name = "the",
      .title = kFrequencies,
      .help = "thresholded histogram encoding: one bit a category, from Laplace noise",
      .options = {{.name = "threshold",
                   .type = OptionType::number,
                   .value = "T",
                   .help = "a noised bit is 1 above this; without, the best one",
                   .range = Range::inside(0.5, 1)}},
      .settle = [](Declaration& d) { settle_parameter(d, "threshold", best_threshold(d.epsilon)); },
      .make =
          [](const Declaration& d) {
            return of(UnaryEncoding::thresholded(d.epsilon, d.domain, d.parameter("threshold")));
          }};
}

ProtocolKind she() {
  return {.name = "she",
          .title = kFrequencies,
          .help = "summation with histogram encoding: a noised number a category",
          .make = [](const Declaration& d) { return of(HistogramEncoding(d.epsilon, d.domain)); }};
}

ProtocolKind subset() {
  return {.name = "subset",
          .title = kFrequencies,
          .help = "subset selection: some categories, more often with the truth among them",
          .options = {{.name = "subset_size",
                       .type = OptionType::whole,
                       .value = "W",
                       .help = "categories in a report; without, the best number",
                       .range = Range::from(1)}},
          .settle =
              [](Declaration& d) {
                settle_parameter(d, "subset_size",
                                 static_cast<double>(best_subset_size(d.epsilon, d.domain)));
              },
          .make =
              [](const Declaration& d) {
                return of(SubsetSelection(d.epsilon, d.domain, d.whole("subset_size")));
              }};
}

Option buckets_option() {
  return {.name = "buckets",
          .type = OptionType::whole,
          .value = "G",
          .help = "cells that a value is hashed into; without, the best number",
          .range = Range::between(2, 65536)};
}

ProtocolKind blh() {
  return {.name = "blh",
          .title = kFrequencies,
          .help = "binary local hashing: one bit of a random hash",
          .make = [](const Declaration& d) { return of(LocalHash(d.epsilon, d.domain, 2, 0)); }};
}

void settle_buckets(Declaration& d) {
  settle_parameter(d, "buckets", static_cast<double>(best_bucket_count(d.epsilon)));
}

ProtocolKind olh() {
  return {.name = "olh",
          .title = kFrequencies,
          .help = "optimised local hashing: short reports for many categories",
          .options = {buckets_option()},
          .settle = settle_buckets,
          .make = [](const Declaration& d) {
            return of(LocalHash(d.epsilon, d.domain, d.whole("buckets"), 0));
          }};
}

ProtocolKind fast_olh() {
  return {.name = "fast_olh",
          .title = kFrequencies,
          .help = "optimised local hashing with few hash functions: quick to estimate",
          .options = {buckets_option(),
                      {.name = "seeds",
                       .type = OptionType::whole,
                       .value = "N",
                       .help = "hash functions to choose from",
                       .fallback = "1024",
                       .range = Range::between(2, 65536)}},
          .settle = settle_buckets,
          .make = [](const Declaration& d) {
            return of(LocalHash(d.epsilon, d.domain, d.whole("buckets"), d.whole("seeds")));
          }};
}

ProtocolKind hadamard() {
  return {
      .name = "hadamard",
      .title = kFrequencies,
      .help = "Hadamard response: a column number, quick to estimate",
      .options = {{.name = "blocks",
                   .type = OptionType::whole,
                   .value = "B",
                   .help = "a power of two; 1 is the form for high privacy; without, by epsilon",
                   .range = Range::between(1, 0x1p26)}},
      .settle =
          [](Declaration& d) {
            settle_parameter(d, "blocks",
                             static_cast<double>(best_block_count(d.epsilon, d.domain)));
          },
      .make =
          [](const Declaration& d) {
            return of(HadamardResponse(d.epsilon, d.domain, d.whole("blocks")));
          }};
}

}  // namespace

void add_frequency_kinds(std::vector<ProtocolKind>& kinds) {
  for (ProtocolKind kind :
       {grr(), sue(), oue(), the(), she(), blh(), olh(), fast_olh(), subset(), hadamard()})
    kinds.push_back(std::move(kind));
}

}  // namespace sotto::local::detail
