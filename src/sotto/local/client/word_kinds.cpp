#include <fmt/format.h>

#include "sotto/core/error.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/local/client/detail/kinds.hpp"
#include "sotto/local/client/puzzle.hpp"
#include "sotto/local/client/rappor.hpp"
#include "sotto/local/client/sketch.hpp"

namespace sotto::local::detail {
namespace {

constexpr const char* kWords = "Words";

Option whole(const char* name, const char* help, const char* fallback, double least, double most) {
  return {.name = name,
          .type = OptionType::whole,
          .value = "N",
          .help = help,
          .fallback = fallback,
          .range = Range::between(least, most)};
}

Option probability(const char* name, const char* help, const char* fallback) {
  return {.name = name,
          .type = OptionType::number,
          .value = "P",
          .help = help,
          .fallback = fallback,
          .range = Range::inside(0, 1)};
}

SketchShape shape(const Declaration& d) { return {d.whole("rows"), d.whole("width")}; }

ProtocolKind cms() {
  return {.name = "cms",
          .title = kWords,
          .help = "count-mean sketch: all cells of one row",
          .input = Input::word,
          .options = {whole("rows", "hash functions", "1024", 1, 0x1p20),
                      whole("width", "cells of a row", "256", 2, 0x1p16)},
          .make = [](const Declaration& d) -> std::unique_ptr<Randomizer> {
            return std::make_unique<CountSketch>(d.epsilon, shape(d));
          }};
}

ProtocolKind hcms() {
  return {.name = "hcms",
          .title = kWords,
          .help = "Hadamard count-mean sketch: one sign",
          .input = Input::word,
          .options = {whole("rows", "hash functions", "1024", 1, 0x1p20),
                      whole("width", "cells of a row, a power of two", "1024", 2, 0x1p20)},
          .make = [](const Declaration& d) -> std::unique_ptr<Randomizer> {
            return std::make_unique<HadamardSketch>(d.epsilon, shape(d));
          }};
}

ProtocolKind rappor() {
  return {
      .name = "rappor",
      .title = kWords,
      .help =
          "RAPPOR: a Bloom filter, noised for ever and again in each report; epsilon "
          "follows from f, p, q and hashes and may be left out",
      .input = Input::word,
      .one_time = false,
      .derives_epsilon = true,
      .options = {whole("bits", "of the Bloom filter (k)", "16", 2, 32),
                  whole("hashes", "bits that a word sets (h)", "2", 1, 16),
                  whole("cohorts", "groups with hash functions of their own (m)", "64", 1, 65536),
                  probability("f", "a bit is replaced by a coin for ever", "0.5"),
                  probability("p", "a permanent 0 is reported as 1", "0.5"),
                  probability("q", "a permanent 1 is reported as 1", "0.75")},
      .settle =
          [](Declaration& d) {
            if (d.epsilon == 0) d.epsilon = Rappor(rappor_parameters(d)).epsilon();
          },
      .make = [](const Declaration& d) -> std::unique_ptr<Randomizer> {
        auto made = std::make_unique<Rappor>(rappor_parameters(d));
        if (made->epsilon() > d.epsilon)
          throw InvalidArgument(
              fmt::format("a report with these parameters has epsilon {}, more than the {} "
                          "declared",
                          round_up(made->epsilon()), d.epsilon),
              "leave out `epsilon`, declare a larger one, or raise `f` or `p`");
        return made;
      }};
}

ProtocolKind sfp() {
  return {
      .name = "sfp",
      .title = kWords,
      .help = "sequence fragment puzzle: two sketched reports, for words that nobody has listed",
      .input = Input::word,
      .options = {whole("length", "bytes of a word that are looked at, even", "8", 2, 32),
                  whole("rows", "hash functions", "256", 1, 0x1p16),
                  whole("width", "cells of a row, a power of two", "1024", 2, 0x1p16)},
      .make = [](const Declaration& d) -> std::unique_ptr<Randomizer> {
        return std::make_unique<FragmentPuzzle>(d.epsilon, d.whole("length"), shape(d));
      }};
}

}  // namespace

void add_word_kinds(std::vector<ProtocolKind>& kinds) {
  for (ProtocolKind kind : {cms(), hcms(), sfp(), rappor()}) kinds.push_back(std::move(kind));
}

}  // namespace sotto::local::detail

namespace sotto::local {

RapporParameters rappor_parameters(const Declaration& d) {
  return {.bits = d.whole("bits"),
          .hashes = d.whole("hashes"),
          .cohorts = d.whole("cohorts"),
          .f = d.parameter("f"),
          .p = d.parameter("p"),
          .q = d.parameter("q")};
}

}  // namespace sotto::local
