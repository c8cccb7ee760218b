// The client's half of a local protocol: one value in, one report out, noised before it leaves.
//
// What       Randomizer::answer turns a value into a report of a fixed number of bytes.
// Guarantee  epsilon()-local differential privacy: for any two values and any report, the
//            probabilities differ by a factor of at most e^epsilon(). Nobody is trusted. epsilon()
//            is computed from the integers that the coins use, rounded up, and never above the ε
//            declared. A report's length and the use of randomness do not depend on the value.
// Method     One class a protocol; coins are exact (coin.hpp).
// Numerics   probability() is the law that a report is drawn from, in long double, for tests and
//            for whoever wants to check: it decides nothing.
// Reference  docs/math/local-privacy.md.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "sotto/core/rng.hpp"

namespace sotto::local {

class Memory;

// A category (its number), a word, a number, several numbers.
using Value = std::variant<std::uint64_t, std::string_view, double, std::span<const double>>;
using Bytes = std::span<const std::uint8_t>;

// Throws InvalidArgument when the value is of another kind, is out of range or not finite. The
// message does not say which value it was.
std::uint64_t category(const Value& value, std::uint64_t domain);
std::string_view word(const Value& value);
double number(const Value& value);

// Whole numbers in as few bytes as the largest needs, the lowest first.
std::size_t bytes_for(std::uint64_t count);  // for 0 … count − 1
void write_whole(std::span<std::uint8_t> bytes, std::uint64_t value);
std::uint64_t read_whole(Bytes bytes);

class Randomizer {
 public:
  virtual ~Randomizer() = default;

  virtual double epsilon() const = 0;  // of one report
  // Of any number of reports about one value that does not change; infinity without memoisation.
  virtual double epsilon_permanent() const;
  virtual std::size_t report_bytes() const = 0;

  // Fills all of `report`, which has report_bytes(). memory: where permanent answers are kept; a
  // protocol with any refuses to work without.
  virtual void answer(const Value& value, Memory* memory, Rng& rng,
                      std::span<std::uint8_t> report) const = 0;
  // What the report is drawn with, given what in it does not depend on the value (a seed).
  virtual long double probability(const Value& value, Bytes report) const = 0;
};

}  // namespace sotto::local
