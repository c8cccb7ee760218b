#include <algorithm>
#include <cmath>

#include "sotto/local/client/detail/kinds.hpp"
#include "sotto/local/client/numbers.hpp"

namespace sotto::local::detail {
namespace {

constexpr const char* kNumbers = "Numbers";

Bounds bounds(const Declaration& d) { return {d.parameter("lower"), d.parameter("upper")}; }

std::vector<Option> options(const char* positions, const char* help) {
  std::vector<Option> result = {{.name = "lower",
                                 .type = OptionType::number,
                                 .value = "X",
                                 .help = "no number is below; what is, is clamped",
                                 .required = true},
                                {.name = "upper",
                                 .type = OptionType::number,
                                 .value = "X",
                                 .help = "no number is above; what is, is clamped",
                                 .required = true}};
  if (positions != nullptr)
    result.push_back({.name = "positions",
                      .type = OptionType::whole,
                      .value = "N",
                      .help = help,
                      .fallback = positions,
                      .range = Range::between(2, 8192)});
  return result;
}
constexpr const char* kGrid = "a number is rounded, at random, to one of so many";

ProtocolKind one_bit() {
  return {.name = "one_bit_mean",
          .title = kNumbers,
          .help = "one bit a number (Duchi's mechanism, 1BitMean), for the mean",
          .input = Input::number,
          .options = options(nullptr, nullptr),
          .make = [](const Declaration& d) -> std::unique_ptr<Randomizer> {
            return std::make_unique<OneBit>(d.epsilon, bounds(d));
          }};
}

ProtocolKind piecewise() {
  return {.name = "piecewise",
          .title = kNumbers,
          .help = "a place near the number or anywhere, for the mean",
          .input = Input::number,
          .options = options("4096", kGrid),
          .make = [](const Declaration& d) -> std::unique_ptr<Randomizer> {
            const std::uint64_t n = d.whole("positions");
            return std::make_unique<Window>(d.epsilon, bounds(d), n,
                                            piecewise_window(d.epsilon, n));
          }};
}

ProtocolKind hybrid() {
  return {.name = "hybrid",
          .title = kNumbers,
          .help = "piecewise or one bit by a coin: the least worst-case error for the mean",
          .input = Input::number,
          .options = options("4096", kGrid),
          .make = [](const Declaration& d) -> std::unique_ptr<Randomizer> {
            return std::make_unique<Hybrid>(d.epsilon, bounds(d), d.whole("positions"));
          }};
}

ProtocolKind laplace() {
  return {.name = "laplace",
          .title = kNumbers,
          .help = "Laplace noise, for the mean; a baseline",
          .input = Input::number,
          .options = options("1025", kGrid),
          .make = [](const Declaration& d) -> std::unique_ptr<Randomizer> {
            return std::make_unique<LaplaceNumber>(d.epsilon, bounds(d), d.whole("positions"));
          }};
}

ProtocolKind square_wave() {
  return {.name = "square_wave",
          .title = kNumbers,
          .help = "a place near the number or anywhere, for the whole distribution",
          .input = Input::number,
          .options = options("256", "cells of the distribution"),
          .make = [](const Declaration& d) -> std::unique_ptr<Randomizer> {
            const std::uint64_t n = d.whole("positions");
            return std::make_unique<Window>(d.epsilon, bounds(d), n,
                                            square_wave_window(d.epsilon, n));
          }};
}

ProtocolKind coordinates() {
  ProtocolKind kind{.name = "coordinates",
                    .title = kNumbers,
                    .help = "some coordinates of a vector, for the mean of each",
                    .input = Input::numbers,
                    .options = options("4096", kGrid)};
  kind.options.push_back({.name = "dimensions",
                          .type = OptionType::whole,
                          .value = "D",
                          .help = "of the vectors",
                          .range = Range::between(1, 1e6),
                          .required = true});
  kind.options.push_back({.name = "sampled",
                          .type = OptionType::whole,
                          .value = "N",
                          .help = "coordinates in a report; without, one for each 2.5 of epsilon",
                          .range = Range::between(1, 1e6)});
  kind.settle = [](Declaration& d) {
    const double by_epsilon = std::floor(d.epsilon / 2.5);
    settle_parameter(d, "sampled", std::max(1.0, std::min(d.parameter("dimensions"), by_epsilon)));
  };
  kind.make = [](const Declaration& d) -> std::unique_ptr<Randomizer> {
    return std::make_unique<Coordinates>(d.epsilon, bounds(d), d.whole("dimensions"),
                                         d.whole("sampled"), d.whole("positions"));
  };
  return kind;
}

}  // namespace

void add_number_kinds(std::vector<ProtocolKind>& kinds) {
  for (ProtocolKind kind :
       {one_bit(), piecewise(), hybrid(), laplace(), square_wave(), coordinates()})
    kinds.push_back(std::move(kind));
}

}  // namespace sotto::local::detail
