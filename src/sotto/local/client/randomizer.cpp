#include "sotto/local/client/randomizer.hpp"

#include <cmath>
#include <limits>

#include "sotto/core/error.hpp"

namespace sotto::local {

double Randomizer::epsilon_permanent() const { return std::numeric_limits<double>::infinity(); }

std::uint64_t category(const Value& value, std::uint64_t domain) {
  const auto* number = std::get_if<std::uint64_t>(&value);
  if (number == nullptr || *number >= domain)
    throw InvalidArgument("the value is not one of the declared categories");
  return *number;
}

std::string_view word(const Value& value) {
  const auto* text = std::get_if<std::string_view>(&value);
  if (text == nullptr) throw InvalidArgument("the protocol takes words");
  return *text;
}

double number(const Value& value) {
  const auto* real = std::get_if<double>(&value);
  if (real == nullptr || !std::isfinite(*real))
    throw InvalidArgument("the protocol takes finite numbers");
  return *real;
}

std::size_t bytes_for(std::uint64_t count) {
  std::size_t bytes = 1;
  for (std::uint64_t most = count - 1; most > 0xFF; most >>= 8) ++bytes;
  return bytes;
}

void write_whole(std::span<std::uint8_t> bytes, std::uint64_t value) {
  for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(value & 0xFF), value >>= 8;
}

std::uint64_t read_whole(Bytes bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

}  // namespace sotto::local
