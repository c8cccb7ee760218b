#include <algorithm>

#include "sotto/local/client/detail/kinds.hpp"
#include "sotto/local/client/leveled_hash.hpp"
#include "sotto/local/client/rounded_bit.hpp"

namespace sotto::local::detail {
namespace {

Option prefix_buckets_option() {
  return {.name = "buckets",
          .type = OptionType::whole,
          .value = "G",
          .help = "cells that a prefix is hashed into; without, the best number",
          .range = Range::between(2, 1024)};
}
Option seeds_option() {
  return {.name = "seeds",
          .type = OptionType::whole,
          .value = "N",
          .help = "hash functions to choose from",
          .fallback = "16384",
          .range = Range::between(2, 65536)};
}

void settle_prefix_buckets(Declaration& d) {
  settle_parameter(
      d, "buckets",
      static_cast<double>(std::min<std::uint64_t>(1024, best_bucket_count(d.epsilon))));
}

ProtocolKind range_tree() {
  return {.name = "range_tree",
          .title = "Ranges and frequent words",
          .help = "a node of the binary tree over all categories, for ranges of them",
          .one_time = true,
          .listed = false,
          .options = {prefix_buckets_option(), seeds_option()},
          .settle = settle_prefix_buckets,
          .make = [](const Declaration& d) -> std::unique_ptr<Randomizer> {
            return std::make_unique<LeveledHash>(d.epsilon, d.domain, tree_levels(d.domain),
                                                 d.whole("buckets"), d.whole("seeds"));
          }};
}

ProtocolKind prefix_tree() {
  return {.name = "prefix_tree",
          .title = "Ranges and frequent words",
          .help = "the first bytes of a word, for frequent words that nobody has listed",
          .input = Input::word,
          .options = {{.name = "length",
                       .type = OptionType::whole,
                       .value = "N",
                       .help = "bytes of a word that are looked at",
                       .fallback = "8",
                       .range = Range::between(1, 64)},
                      prefix_buckets_option(),
                      seeds_option()},
          .settle = settle_prefix_buckets,
          .make = [](const Declaration& d) -> std::unique_ptr<Randomizer> {
            return std::make_unique<LeveledHash>(d.epsilon, 0, d.whole("length"),
                                                 d.whole("buckets"), d.whole("seeds"));
          }};
}

ProtocolKind rounded_bit() {
  return {.name = "rounded_bit",
          .title = "Numbers",
          .help = "a permanent bit of the number rounded to a grid, for means again and again",
          .input = Input::number,
          .one_time = false,
          .options = {{.name = "lower",
                       .type = OptionType::number,
                       .value = "X",
                       .help = "no number is below; what is, is clamped",
                       .required = true},
                      {.name = "upper",
                       .type = OptionType::number,
                       .value = "X",
                       .help = "no number is above; what is, is clamped",
                       .required = true},
                      {.name = "grid",
                       .type = OptionType::whole,
                       .value = "N",
                       .help = "steps that the bounds are cut into",
                       .fallback = "4",
                       .range = Range::between(1, 4096)},
                      {.name = "gamma",
                       .type = OptionType::number,
                       .value = "P",
                       .help = "a bit is turned over in a report, so that a change is not seen",
                       .fallback = "0.1",
                       .range = {.lower = 0, .upper = 0.5, .open_upper = true}}},
          .make = [](const Declaration& d) -> std::unique_ptr<Randomizer> {
            return std::make_unique<RoundedBit>(d.epsilon,
                                                Bounds(d.parameter("lower"), d.parameter("upper")),
                                                d.whole("grid"), d.parameter("gamma"));
          }};
}

}  // namespace

void add_tree_kinds(std::vector<ProtocolKind>& kinds) {
  for (ProtocolKind kind : {range_tree(), prefix_tree(), rounded_bit()})
    kinds.push_back(std::move(kind));
}

}  // namespace sotto::local::detail
