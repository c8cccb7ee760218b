#include "arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/data/nearest_name.hpp"

namespace sotto::cli {
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
    throw InvalidArgument(fmt::format("--{} is '{}'; it must be {}", option.name, text, allowed),
                          option.hint);
  };
  const std::string range = option.range.text().empty() ? "" : " " + option.range.text();
  if (option.type == Type::number) {
    const auto value = parse_number(text);
    if (!value || !option.range.holds(*value)) refuse("a number" + range);
  }
  if (option.type == Type::whole) {
    const auto value = parse_whole(text);
    if (!value || !option.range.holds(static_cast<double>(*value)))
      refuse("a whole number" + range);
  }
  if (option.type == Type::choice) {
    for (const std::string& choice : option.choices) {
      if (choice == text) return;
    }
    throw InvalidArgument(fmt::format("--{} is '{}'; it must be one of {}", option.name, text,
                                      fmt::join(option.choices, ", ")),
                          name_hint(text, option.choices, "choices"));
  }
  if (text.empty()) refuse("something");
}

}  // namespace

Arguments::Arguments(const Command& command, std::string title, RawOptions raw,
                     std::vector<std::string> positionals)
    : command_(&command),
      title_(std::move(title)),
      raw_(std::move(raw)),
      positionals_(std::move(positionals)) {
  const std::string help = fmt::format("see: {} --help", title_);
  for (const Option& option : command.options) {
    const auto it = raw_.find(option.name);
    if (it == raw_.end()) {
      if (!option.required) continue;
      throw InvalidArgument(fmt::format("{} needs --{} {}", title_, option.name, option.value),
                            help);
    }
    if (option.type == Type::flag) continue;
    if (it->second.size() != 1) {
      throw InvalidArgument(fmt::format("--{} is given {} times", option.name, it->second.size()),
                            "give it once");
    }
    check_value(option, it->second.front());
  }
  std::size_t next = 0;
  for (const Positional& positional : command.positionals) {
    if (next == positionals_.size()) {
      if (!positional.required) continue;
      throw InvalidArgument(fmt::format("{} needs {}", title_, positional.name), help);
    }
    const std::string& text = positionals_[next];
    if (!positional.choices.empty()) {
      bool known = false;
      for (const std::string& choice : positional.choices) known = known || choice == text;
      if (!known) {
        throw InvalidArgument(fmt::format("{} is '{}'; it must be one of {}", positional.name, text,
                                          fmt::join(positional.choices, ", ")),
                              name_hint(text, positional.choices, "choices"));
      }
    }
    next = positional.many ? positionals_.size() : next + 1;
  }
  if (next < positionals_.size()) {
    throw InvalidArgument(
        fmt::format("{} does not take the argument '{}'", title_, positionals_[next]), help);
  }
}

const Option& Arguments::declared(const std::string& name) const {
  const Option* option = find_option(*command_, name);
  if (option == nullptr) invariant_broken("option --" + name + " is not in the table");
  return *option;
}

std::optional<std::string> Arguments::maybe_text(const std::string& name) const {
  const Option& option = declared(name);
  if (const auto it = raw_.find(name); it != raw_.end() && !it->second.empty())
    return it->second.front();
  if (!option.fallback.empty()) return option.fallback;
  return std::nullopt;
}

std::string Arguments::text(const std::string& name) const {
  const auto text = maybe_text(name);
  if (!text) invariant_broken("option --" + name + " has neither value nor default");
  return *text;
}

double Arguments::number(const std::string& name) const { return parse_number(text(name)).value(); }

std::optional<double> Arguments::maybe_number(const std::string& name) const {
  const auto text = maybe_text(name);
  return text ? parse_number(*text) : std::nullopt;
}

std::uint64_t Arguments::whole(const std::string& name) const {
  return parse_whole(text(name)).value();
}

std::vector<std::string> Arguments::list(const std::string& name) const {
  return split(text(name));
}

}  // namespace sotto::cli
