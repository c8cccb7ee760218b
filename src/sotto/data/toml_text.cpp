#include "sotto/data/detail/toml_text.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cmath>

namespace sotto {

std::string toml_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      result += fmt::format("\\u{:04x}", byte);
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string toml_key(std::string_view name) {
  bool bare = !name.empty();
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    bare = bare && byte < 0x80 && (std::isalnum(byte) || c == '_' || c == '-');
  }
  return bare ? std::string(name) : toml_string(name);
}

std::string toml_list(const std::vector<std::string>& texts) {
  std::vector<std::string> items;
  for (const std::string& text : texts) items.push_back(toml_string(text));
  return fmt::format("[{}]", fmt::join(items, ", "));
}

std::string toml_number(double value) {
  constexpr double kExactWholes = 1e15;
  if (value == std::floor(value) && std::abs(value) < kExactWholes)
    return fmt::format("{:.0f}", value);
  return fmt::format("{}", value);
}

}  // namespace sotto
