#include "sotto/core/option.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/nearest_name.hpp"

namespace sotto {
namespace {

std::optional<double> parse_number(const std::string& text) {
  double value = 0;
  const char *first = text.data(), *last = first + text.size();
  if (first != last && *first == '+') ++first;
  auto [end, error] = std::from_chars(first, last, value);
  if (error != std::errc{} || end != last || !std::isfinite(value)) return std::nullopt;
  return value;
}

// Whole numbers also as 1e6; above 2^53 only in plain digits, where they are exact.
std::optional<std::uint64_t> parse_whole(const std::string& text) {
  std::uint64_t value = 0;
  const char* last = text.data() + text.size();
  auto [end, error] = std::from_chars(text.data(), last, value);
  if (error == std::errc{} && end == last) return value;
  const auto number = parse_number(text);
  if (!number || *number < 0 || *number != std::floor(*number) || *number > 0x1p53) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(*number);
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  while (true) {
    const std::size_t comma = text.find(',', start);
    parts.push_back(text.substr(start, comma - start));
    if (comma == std::string::npos) return parts;
    start = comma + 1;
  }
}

void check_value(const Option& option, const std::string& text) {
  const auto refuse = [&](const std::string& allowed) {
    throw InvalidArgument(fmt::format("`{}` is '{}'; it must be {}", option.name, text, allowed),
                          option.hint);
  };
  const std::string range = option.range.text().empty() ? "" : " " + option.range.text();
  if (option.type == OptionType::number) {
    const auto value = parse_number(text);
    if (!value || !option.range.holds(*value)) refuse("a number" + range);
  }
  if (option.type == OptionType::whole) {
    const auto value = parse_whole(text);
    if (!value || !option.range.holds(static_cast<double>(*value)))
      refuse("a whole number" + range);
  }
  if (option.type == OptionType::choice &&
      std::find(option.choices.begin(), option.choices.end(), text) == option.choices.end()) {
    throw InvalidArgument(fmt::format("`{}` is '{}'; it must be one of {}", option.name, text,
                                      fmt::join(option.choices, ", ")),
                          name_hint(text, option.choices, "choices"));
  }
  if (text.empty()) refuse("something");
}

// The text that a user would have typed. nullopt: a flag that is not set.
std::optional<std::string> typed(const Option& option, const nlohmann::ordered_json& value) {
  if (option.type == OptionType::flag && value.is_boolean())
    return value.get<bool>() ? std::optional<std::string>("") : std::nullopt;
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() && option.type != OptionType::flag) return value.dump();
  if (value.is_array() && option.type == OptionType::list) {
    std::string joined;
    for (const auto& item : value)
      joined +=
          (joined.empty() ? "" : ",") + (item.is_string() ? item.get<std::string>() : item.dump());
    return joined;
  }
  throw InvalidArgument(
      fmt::format("`{}` has a value of the wrong type, {}", option.name, value.type_name()));
}

OptionValues::Raw raw_of(const std::vector<Option>& declared, const nlohmann::ordered_json& json) {
  if (!json.is_object()) throw InvalidArgument("options are an object with one member for each");
  OptionValues::Raw raw;
  for (const auto& [name, value] : json.items()) {
    const Option* option = find_option(declared, name);
    if (option == nullptr) {
      raw[name];  // refused by name, with the nearest one as a hint
    } else if (auto text = typed(*option, value)) {
      raw[name] = {std::move(*text)};
    }
  }
  return raw;
}

}  // namespace

bool Range::holds(double value) const {
  return (open_lower ? value > lower : value >= lower) &&
         (open_upper ? value < upper : value <= upper);
}

std::string Range::text() const {
  std::string result;
  if (std::isfinite(lower)) {
    result = open_lower ? fmt::format("above {}", lower) : fmt::format("{} or more", lower);
  }
  if (std::isfinite(upper)) {
    if (!result.empty()) result += " and ";
    result += open_upper ? fmt::format("below {}", upper) : fmt::format("at most {}", upper);
  }
  return result;
}

const Option* find_option(const std::vector<Option>& options, std::string_view name) {
  for (const Option& option : options) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

OptionValues::OptionValues(std::vector<Option> declared, Raw given)
    : declared_(std::move(declared)), given_(std::move(given)) {
  check();
}

OptionValues OptionValues::from_json(std::vector<Option> declared,
                                     const nlohmann::ordered_json& given) {
  Raw raw = raw_of(declared, given);
  return OptionValues(std::move(declared), std::move(raw));
}

void OptionValues::check() const {
  for (const Option& option : declared_) {
    const auto it = given_.find(option.name);
    if (it == given_.end() || option.type == OptionType::flag) continue;
    if (it->second.size() != 1) {
      throw InvalidArgument(fmt::format("`{}` is given {} times", option.name, it->second.size()),
                            "give it once");
    }
    check_value(option, it->second.front());
  }
  for (const auto& [name, _] : given_) {
    if (find_option(declared_, name) != nullptr) continue;
    std::vector<std::string> known;
    for (const Option& option : declared_) known.push_back(option.name);
    throw InvalidArgument(fmt::format("there is no option '{}' here", name),
                          known.empty() ? "there are none" : name_hint(name, known, "options"));
  }
}

const Option& OptionValues::declaration(const std::string& name) const {
  const Option* option = find_option(declared_, name);
  if (option == nullptr) invariant_broken("the option '" + name + "' is not declared");
  return *option;
}

std::optional<std::string> OptionValues::maybe_text(const std::string& name) const {
  const Option& option = declaration(name);
  if (const auto it = given_.find(name); it != given_.end() && !it->second.empty())
    return it->second.front();
  if (!option.fallback.empty()) return option.fallback;
  return std::nullopt;
}

std::string OptionValues::text(const std::string& name) const {
  auto text = maybe_text(name);
  if (!text) invariant_broken("the option '" + name + "' has neither value nor default");
  return *std::move(text);
}

double OptionValues::number(const std::string& name) const {
  return parse_number(text(name)).value();
}

std::uint64_t OptionValues::whole(const std::string& name) const {
  return parse_whole(text(name)).value();
}

std::vector<std::string> OptionValues::list(const std::string& name) const {
  return split(text(name));
}

std::optional<double> OptionValues::maybe_number(const std::string& name) const {
  const auto text = maybe_text(name);
  return text ? parse_number(*text) : std::nullopt;
}

std::optional<std::uint64_t> OptionValues::maybe_whole(const std::string& name) const {
  const auto text = maybe_text(name);
  return text ? parse_whole(*text) : std::nullopt;
}

std::string for_command_line(std::string_view message) {
  const auto is_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  std::string text;
  std::size_t at = 0;
  while (at < message.size()) {
    std::size_t end = at + 1;
    while (message[at] == '`' && end < message.size() && is_name(message[end])) ++end;
    if (message[at] != '`' || end == at + 1 || end == message.size() || message[end] != '`') {
      text += message[at++];
      continue;
    }
    text += "--";
    for (const char c : message.substr(at + 1, end - at - 1)) text += c == '_' ? '-' : c;
    at = end + 1;
  }
  return text;
}

}  // namespace sotto
