#include <algorithm>

#include "sotto/local/client/detail/kinds.hpp"
#include "sotto/local/client/longitudinal.hpp"

namespace sotto::local::detail {
namespace {

constexpr const char* kAgainAndAgain = "Categories, again and again";

Option permanent_option() {
  return {.name = "permanent_epsilon",
          .type = OptionType::number,
          .value = "E",
          .help = "privacy of all reports about one value, for ever",
          .range = Range::above(0),
          .required = true};
}

ProtocolKind l_sue() {
  return {.name = "l_sue",
          .title = kAgainAndAgain,
          .help = "symmetric unary encoding for ever, noised again in each report (basic RAPPOR)",
          .one_time = false,
          .options = {permanent_option()},
          .make = [](const Declaration& d) -> std::unique_ptr<Randomizer> {
            return std::make_unique<LongitudinalUnary>(
                UnaryEncoding::symmetric(d.parameter("permanent_epsilon"), d.domain), d.epsilon);
          }};
}

ProtocolKind l_osue() {
  return {.name = "l_osue",
          .title = kAgainAndAgain,
          .help = "optimised unary encoding for ever, noised again in each report",
          .one_time = false,
          .options = {permanent_option()},
          .make = [](const Declaration& d) -> std::unique_ptr<Randomizer> {
            return std::make_unique<LongitudinalUnary>(
                UnaryEncoding::optimised(d.parameter("permanent_epsilon"), d.domain), d.epsilon);
          }};
}

ProtocolKind loloha() {
  return {.name = "loloha",
          .title = kAgainAndAgain,
          .help = "one hash function for ever: at most as many permanent answers as buckets",
          .one_time = false,
          .options = {permanent_option(),
                      {.name = "buckets",
                       .type = OptionType::whole,
                       .value = "G",
                       .help = "cells that a value is hashed into",
                       .fallback = "2",
                       .range = Range::between(2, 65536)}},
          .make = [](const Declaration& d) -> std::unique_ptr<Randomizer> {
            return std::make_unique<LongitudinalHash>(d.epsilon, d.parameter("permanent_epsilon"),
                                                      d.domain, d.whole("buckets"));
          }};
}

ProtocolKind dbitflip() {
  return {.name = "dbitflip",
          .title = kAgainAndAgain,
          .help = "permanent noised bits of a few categories (dBitFlip)",
          .one_time = false,
          .options = {{.name = "bits",
                       .type = OptionType::whole,
                       .value = "D",
                       .help = "categories that a client speaks of; without, 4 or all",
                       .range = Range::between(1, 1024)}},
          .settle =
              [](Declaration& d) {
                settle_parameter(d, "bits", std::min(4.0, static_cast<double>(d.domain)));
              },
          .make = [](const Declaration& d) -> std::unique_ptr<Randomizer> {
            return std::make_unique<BucketBits>(d.epsilon, d.domain, d.whole("bits"));
          }};
}

}  // namespace

void add_longitudinal_kinds(std::vector<ProtocolKind>& kinds) {
  for (ProtocolKind kind : {l_sue(), l_osue(), loloha(), dbitflip()})
    kinds.push_back(std::move(kind));
}

}  // namespace sotto::local::detail
